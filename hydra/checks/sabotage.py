"""The sabotage run: a check of tests that ends as on the base where all code of the base is broken
tests something else: an installed copy, the user's checkout, what was built before.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import trio
from msgspec.structs import replace

from hydra.analysis.tampering.named_data import is_document
from hydra.analysis.tampering.test_files import is_code, is_configuration, is_support, name_of
from hydra.checks.collected import collected
from hydra.checks.comparison import compare
from hydra.checks.context import CheckContext
from hydra.checks.project import read
from hydra.checks.record import UNSEEN, CheckResult
from hydra.checks.start import ask, in_place
from hydra.checks.suite import CheckSuite, NoGround
from hydra.config.check_specs import split_folders, typed, words_of
from hydra.errors import HydraError
from hydra.git.contents import files
from hydra.git.diff import TreeEntry, changes, tree_with, write_blob
from hydra.git.patches import commit_tree
from hydra.process.records import CannotStart
from hydra.records.request import Check
from hydra.text import join_names, shell_quoted
from hydra.workspace.private import LaneWorkspace

_SECONDS = 20.0
"""That the run has at least; else twice as long as on the base."""
_PROJECTS = ("pyproject.toml", "setup.py", "setup.cfg")
_BROKEN = b"<?php )(\n"
"""A syntax error in every language."""
_SCRIPTS = re.compile(
    r".*\.(?:sh|bash|bats|kts)|(?:setup|manage|noxfile|tasks)\.py|.*\.config\.\w+|build\.rs"
    r"|g(?:ulp|runt)file\.\w+|\..*"
)
"""What runs tests, or sets them up."""
_NAME = re.compile(r"""^\s*name\s*=\s*["']?([\w.-]+)""", re.MULTILINE)
"""Of a project, in any of its manifests."""
_FIND = """
import importlib.metadata, os, re, sys
for found in importlib.metadata.distributions():
    name = re.sub("[-_.]+", "-", found.metadata["Name"] or "").lower()
    place = os.path.abspath(found.locate_file(""))
    if name != re.sub("[-_.]+", "-", sys.argv[1]).lower() or place == os.getcwd():
        continue
    for file in found.files or ():
        module = re.fullmatch(r"(?!__editable__)(\\w+)(/__init__)?[.]py", str(file))
        if module:
            sys.exit(print(module[1], place, sep="\\n"))
"""
"""Prints a package of that project, and where it is installed."""


async def unseeing(
    context: CheckContext, commit: str, base: Sequence[CheckResult]
) -> dict[str, str]:
    """By check, why it says nothing of any patch; `UNSEEN` of one that names its tests, where that
    may be so for patches of code alone. `base` are the results on `commit`."""
    why = _why(context)
    tests = [result for result in base if _may_not_see(result, why, context)]
    broken = await trio.to_thread.run_sync(_sabotaged, context, commit, base) if tests else ""
    if not broken:
        return {}
    longest = max(_SECONDS, *(2 * result.seconds for result in tests))
    limits = replace(context.plan.limits, check=min(longest, context.plan.limits.check))
    checks = tuple(result.check for result in tests)
    context = replace(
        context, plan=replace(context.plan, limits=limits).with_checks(commands=checks)
    )
    suite = CheckSuite(context, "_sabotage", broken, "_sabotage", lambda _kind, _data: None)
    await suite.run()
    alike = [
        result.check for result in tests if _is_alike(result, suite.results[result.check.name])
    ]
    if why or not alike:
        return {check.name: why for check in alike}
    return await _elsewhere(context, commit, alike)


async def _elsewhere(context: CheckContext, commit: str, checks: Sequence[Check]) -> dict[str, str]:
    """By check, that it sees no code, and where the project is installed that it may test."""
    whys = {check.name: UNSEEN for check in checks}
    suite = CheckSuite(context, "_sabotage", commit, "_sabotage", lambda _kind, _data: None)
    with suppress(NoGround, CannotStart):
        async with suite.open_workspace("") as workspace:
            for check in checks:
                if where := await _where(context, workspace, check):
                    whys[check.name] = f"{UNSEEN} ({where})"
    return whys


async def _where(context: CheckContext, workspace: LaneWorkspace, check: Check) -> str:
    """Where the check's Python has the project of that folder, and what tests it in its place; ""
    where it has none."""
    folders, inner = split_folders(check.command)
    texts = (read(workspace.worktree.joinpath(*folders, name)) for name in _PROJECTS)
    if not (project := _NAME.search("\n".join(texts))):
        return ""
    program = next(iter(words_of(inner)), "")
    python = program if re.match(r"python|pypy", name_of(program)) else "python3"
    script = in_place(check, shlex.join([python, "-c", _FIND, project[1]]))
    ran = await ask(context, workspace, check, script, _SECONDS)
    place = re.fullmatch(r"(\w+)\n(/.{1,300})\n", ran.stdout.decode("utf-8", "replace"))
    if place is None:
        return ""
    setup = shell_quoted(typed(context.set_up_line, context.place))
    cures = context.set_up_line and "/" not in program  # one by its path stays what it is
    cure = f": a race with --setup {setup} tests it" if cures else ""
    return f"{place[1]} is imported from {place[2]}, not from here{cure}"


def touches_code(patches: Path, commit: str) -> bool:
    """Whether a patch changes what the sabotage run breaks, else tests and texts alone. Blocks."""
    try:
        touched = [change.path for change in changes(patches, f"{commit}^", commit)]
    except HydraError:
        return False
    names = [path.decode("utf-8", "surrogateescape") for path in touched]
    rest = [name for name in names if not (is_support(name) or is_document(name))]
    return bool(rest) and all(map(_is_broken, rest))


def _may_not_see(result: CheckResult, why: str, context: CheckContext) -> bool:
    """Of an exit code alone it counts where something is installed in the place of the code; and a
    set-up, which takes its time, installs what it finds."""
    if result.check.kind != "test":
        return False
    names_tests = result.tests is not None and result.tests.passed > 0
    return (result.passed or names_tests) if why else (names_tests and not context.plan.setup)


def _is_alike(result: CheckResult, now: CheckResult) -> bool:
    comparison = compare(result.tests, now.tests)
    if comparison is None:
        return result.passed and now.passed
    return comparison.breaks_nothing


def _sabotaged(context: CheckContext, commit: str, base: Sequence[CheckResult]) -> str:
    """The commit with its code broken; "" where it has none."""
    command = " ".join(result.check.command for result in base)
    try:
        listed = {
            path.decode("utf-8", "surrogateescape"): path for path in files(context.patches, commit)
        }
        spared = collected(base, listed.keys())
        names = [
            path
            for name, path in listed.items()
            if _is_broken(name) and name not in spared and name_of(name) not in command
        ]
        if not names:
            return ""
        entry = TreeEntry("100644", write_blob(context.patches, _BROKEN))
        with tempfile.TemporaryDirectory(prefix="tree-", dir=context.folder) as scratch:
            tree = tree_with(context.patches, commit, dict.fromkeys(names, entry), Path(scratch))
        return commit_tree(context.patches, tree=tree, base=commit, message="tried by Hydra\n")
    except (HydraError, OSError):
        return ""


def _is_broken(name: str) -> bool:
    """Whether a file is code, and neither a test nor what runs tests."""
    spared = is_support(name) or is_configuration(name) or _SCRIPTS.fullmatch(name_of(name))
    return is_code(name) and not spared


def _why(context: CheckContext) -> str:
    """What may be tested in the place of the code, with the cure; "" where nobody knows."""
    if context.copies_installed:
        modules = dict.fromkeys(name for copy in context.copies_installed for name in copy.modules)
        setup = shell_quoted(typed(_install(context), context.place))
        return (
            f"tests import the installed copy of {join_names([*modules], 3)}, not the patch: "
            f"--setup {setup} installs it anew"
        )
    if context.plan.python_path:
        return (
            "tests import your checkout's code, not the patch: install bubblewrap, or have a set-up"
            ' make an environment in each lane (--setup "python3 -m venv .venv && '
            '.venv/bin/pip install -e ." --check ".venv/bin/pytest")'
        )
    return ""


def _install(context: CheckContext) -> str:
    """The command, from the checkout's top, that installs the first copy again where it is."""
    copy, root = context.copies_installed[0], context.repository.root
    top = next((path for path in copy.record.parents if (path / "pyvenv.cfg").is_file()), None)
    inside = top is not None and top.is_relative_to(root)
    python = (top.relative_to(root) if inside else top) / "bin" / "python" if top else "python3"
    above = (Path(copy.folder), *Path(copy.folder).parents)
    own = (at for at in above if any((root / at / name).is_file() for name in _PROJECTS))
    project = next(own, Path())
    return shlex.join(
        (str(python), "-m", "pip", "install", f"./{project}" if project.parts else ".")
    )

"""A package that was installed from the checkout as a copy (`pip install .`) is what tests import,
not the patch: no path helps there, and what they come to says nothing.

Whether a check does so is tried on the base: it is run on a tree in which the package cannot be
imported, and where it does not mind, without the copy.
"""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import trio
from msgspec.structs import replace

from hydra.checks.comparison import compare
from hydra.checks.context import CheckContext
from hydra.checks.record import CheckResult, CheckStatus
from hydra.checks.suite import CheckSuite
from hydra.config.check_specs import typed
from hydra.git.contents import files
from hydra.git.diff import TreeEntry, tree_with, write_blob
from hydra.git.patches import commit_tree
from hydra.text import join_names, shell_quoted
from hydra.workspace.installs import EditableInstall

_PROJECTS = ("pyproject.toml", "setup.py", "setup.cfg")
_BROKEN = b'raise ImportError("this is the tree, and not an installed copy")\n'


async def stale_checks(
    context: CheckContext, commit: str, base: Sequence[CheckResult]
) -> dict[str, str]:
    """By check, the sentence that says so. `base` are the results on `commit`."""
    tests = [result for result in base if result.check.kind == "test" and _passes(result)]
    if not (tests and context.copies_installed):
        return {}
    broken = await trio.to_thread.run_sync(_without_package, context, commit)
    if broken == commit:
        return {}
    unmoved = [*_unmoved(tests, await _run(context, broken, "_stale", tests))]
    if not unmoved:
        return {}
    without = replace(context, setup=(*context.setup, _removal(context.copies_installed)))
    moved = await _run(without, commit, "_copy", unmoved)
    still = {result.check.name for result in _unmoved(unmoved, moved)}
    says = _sentence(context)
    return {result.check.name: says for result in unmoved if result.check.name not in still}


def _passes(result: CheckResult) -> bool:
    return result.passed or bool(result.tests and result.tests.passed)


async def _run(
    context: CheckContext, commit: str, name: str, tests: Iterable[CheckResult]
) -> dict[str, CheckResult]:
    checks = tuple(result.check for result in tests)
    suite = CheckSuite(
        replace(context, checks=checks), name, commit, name, lambda _kind, _data: None
    )
    await suite.run()
    return suite.results


def _unmoved(before: Iterable[CheckResult], after: dict[str, CheckResult]) -> Iterator[CheckResult]:
    """Those that end as they did."""
    for result in before:
        now = after[result.check.name]
        if now.status in (CheckStatus.PASSED, CheckStatus.FAILED) and _is_alike(result, now):
            yield result


def _is_alike(result: CheckResult, now: CheckResult) -> bool:
    comparison = compare(result.tests, now.tests)
    if comparison is None:
        return result.passed and now.passed
    return comparison.breaks_nothing


def _without_package(context: CheckContext, commit: str) -> str:
    """The commit with every module of those packages broken."""
    names = [
        path for path in files(context.patches, commit) if _is_of(path, context.copies_installed)
    ]
    if not names:
        return commit
    entry = TreeEntry("100644", write_blob(context.patches, _BROKEN))
    with tempfile.TemporaryDirectory(prefix="tree-", dir=context.folder) as scratch:
        tree = tree_with(context.patches, commit, dict.fromkeys(names, entry), Path(scratch))
    return commit_tree(context.patches, tree=tree, base=commit, message="tried by Hydra\n")


def _is_of(path: bytes, copies: Iterable[EditableInstall]) -> bool:
    name = Path(path.decode("utf-8", "surrogateescape"))
    return name.suffix == ".py" and any(
        name.is_relative_to(Path(copy.folder, module)) or name == Path(copy.folder, f"{module}.py")
        for copy in copies
        for module in copy.modules
    )


def _removal(copies: Iterable[EditableInstall]) -> str:
    """A command that takes the copies away; in a check's own layer over the user's."""
    places = (copy.record.with_name(name) for copy in copies for name in copy.modules)
    names = [str(path) for place in places for path in (place, place.with_suffix(".py"))]
    return shlex.join(("rm", "-rf", "--", *names))


def _sentence(context: CheckContext) -> str:
    modules = dict.fromkeys(name for copy in context.copies_installed for name in copy.modules)
    return (
        f"tests import the installed copy of {join_names([*modules], 3)}, not the patch: "
        f"--setup {shell_quoted(typed(_install(context), context.place))} installs it anew"
    )


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

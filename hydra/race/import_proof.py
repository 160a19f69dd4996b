"""Where nothing mounts a lane at the checkout's path: what is installed from the checkout, which
PYTHONPATH then takes from the lane; and, before any agent starts, the proof that it does.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import trio
from msgspec.structs import replace

from hydra import executables
from hydra.adapters.environment import SHARED, matches
from hydra.checks.context import CheckContext
from hydra.checks.suite import CheckSuite, NoGround
from hydra.config.check_specs import split_folder, words_of
from hydra.errors import Refused
from hydra.process.records import CannotStart, Wrap, plain
from hydra.process.run import run
from hydra.process.sandbox.confine import confine
from hydra.records.plan import RacePlan
from hydra.workspace.installs import EditableInstall, installs, link_into
from hydra.workspace.interpreters import Interpreter, interpreters, on_path
from hydra.workspace.private import LaneWorkspace

_ORIGINS = """
import sys
if sys.path and not sys.path[0]:
    del sys.path[0]  # a program's script has its own folder there, and not this one
import json
from importlib.util import find_spec
def places(name):
    try:
        spec = find_spec(name)
    except Exception:
        return []
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return folders or ([spec.origin] if spec and spec.origin else [])
names = [name for name in sys.argv[1:] if name not in sys.stdlib_module_names]
print(json.dumps({name: places(name) for name in names}))
"""

_INSTALL = {
    "poetry": "poetry install",
    "pipenv": "pipenv install --dev",
    "hatch": "hatch env create",
}
"""What makes an environment where one stands."""

_NO_MODULES = frozenset(("setup", "conftest", "noxfile", "tasks"))


class UnprovenImport(NamedTuple):
    """A module that `interpreter` would take from `place` and not from the lane."""

    module: str
    interpreter: str
    place: str


async def prove(context: CheckContext, commit: str) -> None:
    """Raises `Refused` unless the Pythons of its checks take each module from a lane's own tree;
    where they do not by PYTHONPATH, once the set-up has run there."""
    if context.confinement.holds and not context.unrestricted:
        return
    if context.checks and (link := await trio.to_thread.run_sync(_linked_copy, context)):
        raise Refused(
            f"the tests would not run on a patch here: {link}, copied into each lane, leads to "
            "your checkout",
            hint='install bubblewrap; or make it anew in each lane (--setup "npm ci") in place of '
            "--copy",
        )
    if tool := _of_another_path(context):
        raise Refused(
            f"the tests would not run on a patch here: {tool} has an environment for your "
            "checkout's path, and none for a lane's",
            hint="install bubblewrap; or activate that environment and name its program "
            '(--check "pytest -q"); or have a set-up install it in each lane (--setup '
            f'"{_INSTALL[tool]}")',
        )
    if not (context.python_path and context.checks):
        return
    problem = await _look(replace(context, setup=()), commit)
    if problem and context.setup:
        problem = await _look(context, commit)
    if problem:
        raise Refused(
            f"the tests would not run on a patch here: {problem}",
            hint="install bubblewrap; or have a set-up make an environment in each lane "
            '(--setup "python3 -m venv .venv && .venv/bin/pip install -e ." '
            '--check ".venv/bin/pytest")',
        )


def _of_another_path(context: CheckContext) -> str:
    """A check's tool that looks for its environment by the path of the project, where no set-up
    makes one for a lane's; poetry and pipenv take an active one instead."""
    if context.setup:
        return ""
    first = (words_of(split_folder(check.command)[1])[:1] for check in context.checks)
    tools = (term for terms in first for term in terms if term in _INSTALL)
    active = "VIRTUAL_ENV" in context.environment
    return next((tool for tool in tools if tool == "hatch" or not active), "")


def _linked_copy(context: CheckContext) -> str:
    root = context.repository.root
    links = (link_into(root / name, root) for name in context.copies)
    return next((str(link.relative_to(root)) for link in links if link is not None), "")


async def _look(context: CheckContext, commit: str) -> str:
    """What is wrong, in a clause; "" where all is proved."""
    suite = CheckSuite(context, "_installs", commit, "_installs", lambda _kind, _data: None)
    try:
        async with suite.open_workspace("") as workspace:
            if program := _only_in_checkout(context, workspace):
                return f"{program} is in your checkout alone"
            unproved = await _unproved(context, workspace)
    except NoGround as problem:
        return problem.reason
    if unproved is None:
        return ""
    return f"{unproved.interpreter} takes {unproved.module} from {unproved.place}"


def _only_in_checkout(context: CheckContext, workspace: LaneWorkspace) -> str:
    """A check's first word that a lane has not, as what is ignored is not in it."""
    programs = (check.command.split()[0] for check in context.checks if check.command.split())
    relative = (name for name in programs if "/" in name and not name.startswith("/"))
    names = (name for name in relative if (context.repository.root / name).exists())
    return next((name for name in names if not (workspace.worktree / name).exists()), "")


async def _unproved(context: CheckContext, workspace: LaneWorkspace) -> UnprovenImport | None:
    folders = [workspace.worktree / name for name in context.python_path]
    modules = sorted({name for folder in folders for name in _modules(folder)})
    for python in _pythons(context, workspace):
        places = await _places(context, workspace, python, modules)
        for module, origins in places.items():
            outside = [place for place in origins if not _is_in(place, workspace.worktree)]
            if outside or not origins:
                return UnprovenImport(module, python[0], outside[0] if outside else "nowhere")
    return None


def _is_in(place: str, tree: Path) -> bool:
    return Path(os.path.realpath(place)).is_relative_to(os.path.realpath(tree))


def _pythons(context: CheckContext, workspace: LaneWorkspace) -> tuple[Interpreter, ...]:
    search = executables.absolute_path(context.variables(workspace).get("PATH"))
    each = (interpreters(check.command, workspace.worktree, search) for check in context.checks)
    return tuple(dict.fromkeys(python for pythons in each for python in pythons))


def _modules(folder: Path) -> Iterator[str]:
    """The names that an import would take from it."""
    for path in folder.iterdir() if folder.is_dir() else ():
        package = path.is_dir() and (path / "__init__.py").is_file()
        name = path.stem if path.suffix == ".py" or package else ""
        if name.isidentifier() and name not in _NO_MODULES:
            yield name


async def _places(
    context: CheckContext, workspace: LaneWorkspace, python: Interpreter, modules: Sequence[str]
) -> Mapping[str, Sequence[str]]:
    """By name, where each is; all of them nowhere for a Python that does not say."""
    policy = context.policy(workspace)
    answer = await answer_of(
        python,
        _ORIGINS,
        modules,
        workspace.worktree,
        context.variables(workspace),
        wrap=lambda argv: confine(context.confinement, policy, argv),
    )
    return answer if isinstance(answer, dict) else dict.fromkeys(modules, ())


# ---- What is installed from the checkout.

LIMIT = 20.0
"""Seconds that a Python has to say where it finds modules."""

_PACKAGES = """
import json, site, sys
users = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
print(json.dumps([*site.getsitepackages(), *users]))
"""


async def find_installs(
    plan: RacePlan, root: Path, environ: Mapping[str, str]
) -> tuple[EditableInstall, ...]:
    """What the Pythons of its checks, and of PATH, take from the checkout at `root`; nothing where
    its lanes are mounted there."""
    if plan.confined:
        return ()
    search = executables.absolute_path(environ.get("PATH"))
    commands = [check.command for check in plan.checks]
    named = (python for line in commands for python in interpreters(line, root, search))
    passed = {name: value for name, value in environ.items() if matches(name, SHARED)}
    packages: list[Path] = []
    for program in dict.fromkeys(terms[0] for terms in (*named, *on_path(search))):
        if _is_in(program, root):  # which is not run for a look
            packages += Path(program).parent.parent.glob("lib/python*/site-packages")
            continue
        # Not in the checkout, whose own json.py it would import.
        folders = await answer_of((program,), _PACKAGES, (), Path("/"), passed)
        packages += map(Path, folders if isinstance(folders, list) else ())
    return await trio.to_thread.run_sync(installs, packages, root)


def python_path(editable_installs: Iterable[EditableInstall]) -> tuple[str, ...]:
    """The folders that PYTHONPATH has to name for them."""
    return tuple(dict.fromkeys(install.folder for install in editable_installs))


async def answer_of(
    python: Interpreter,
    script: str,
    names: Sequence[str],
    folder: Path,
    environ: Mapping[str, str],
    wrap: Wrap = plain,
) -> object:
    """What the script prints, as JSON; None where it does not come to that."""
    argv = (*python, "-c", script, *names)
    try:
        ran = await run(argv, env=environ, cwd=folder, timeout=LIMIT, wrap=wrap)
        return json.loads(ran.stdout) if ran.exit_code == 0 else None
    except (CannotStart, ValueError):
        return None

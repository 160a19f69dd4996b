"""Proves, before any agent starts, that checks import the modules of a lane's tree and not those of
the checkout, where nothing mounts the one in the other's place.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import trio

from hydra import executables
from hydra.app.installs import answer_of
from hydra.checks.kit import Kit
from hydra.checks.suite import NoGround, Suite
from hydra.config.check_names import split_folder, words_of
from hydra.errors import Refused
from hydra.sandbox import confine
from hydra.workspace import PrivateGround
from hydra.workspace.installs import link_into
from hydra.workspace.interpreters import Interpreter, interpreters

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


class Unproved(NamedTuple):
    """A module that `interpreter` would take from `place` and not from the lane."""

    module: str
    interpreter: str
    place: str


async def prove(kit: Kit, commit: str) -> None:
    """Raises `Refused` unless the Pythons of its checks take each module from a lane's own tree;
    where they do not by PYTHONPATH, once the set-up has run there."""
    if kit.confinement.holds and not kit.unrestricted:
        return
    if kit.checks and (link := await trio.to_thread.run_sync(_linked_copy, kit)):
        raise Refused(
            f"the tests would not run on a patch here: {link}, copied into each lane, leads to "
            "your checkout",
            hint='install bubblewrap; or make it anew in each lane (--setup "npm ci") in place of '
            "--copy; or race without checks: --no-check",
        )
    if tool := _of_another_path(kit):
        raise Refused(
            f"the tests would not run on a patch here: {tool} has an environment for your "
            "checkout's path, and none for a lane's",
            hint="install bubblewrap; or activate that environment and name its program "
            '(--check "pytest -q"); or have a set-up install it in each lane (--setup '
            f'"{_INSTALL[tool]}"); or race without checks: --no-check',
        )
    if not (kit.python_path and kit.checks):
        return
    problem = await _look(replace(kit, setup=()), commit)
    if problem and kit.setup:
        problem = await _look(kit, commit)
    if problem:
        raise Refused(
            f"the tests would not run on a patch here: {problem}",
            hint="install bubblewrap; or have a set-up make an environment in each lane "
            '(--setup "python3 -m venv .venv && .venv/bin/pip install -e ." '
            '--check ".venv/bin/pytest"); or race without checks: --no-check',
        )


def _of_another_path(kit: Kit) -> str:
    """A check's tool that looks for its environment by the path of the project, where no set-up
    makes one for a lane's; poetry and pipenv take an active one instead."""
    if kit.setup:
        return ""
    first = (words_of(split_folder(check.command)[1])[:1] for check in kit.checks)
    tools = (word for words in first for word in words if word in _INSTALL)
    active = "VIRTUAL_ENV" in kit.environment
    return next((tool for tool in tools if tool == "hatch" or not active), "")


def _linked_copy(kit: Kit) -> str:
    root = kit.repository.root
    links = (link_into(root / name, root) for name in kit.copies)
    return next((str(link.relative_to(root)) for link in links if link is not None), "")


async def _look(kit: Kit, commit: str) -> str:
    """What is wrong, in a clause; "" where all is proved."""
    suite = Suite(kit, "_installs", commit, "_installs", lambda _kind, _data: None)
    try:
        async with suite.ground("") as ground:
            if program := _only_in_checkout(kit, ground):
                return f"{program} is in your checkout alone"
            unproved = await _unproved(kit, ground)
    except NoGround as problem:
        return problem.reason
    if unproved is None:
        return ""
    return f"{unproved.interpreter} takes {unproved.module} from {unproved.place}"


def _only_in_checkout(kit: Kit, ground: PrivateGround) -> str:
    """A check's first word that a lane has not, as what is ignored is not in it."""
    programs = (check.command.split()[0] for check in kit.checks if check.command.split())
    relative = (name for name in programs if "/" in name and not name.startswith("/"))
    there = (name for name in relative if (kit.repository.root / name).exists())
    return next((name for name in there if not (ground.worktree / name).exists()), "")


async def _unproved(kit: Kit, ground: PrivateGround) -> Unproved | None:
    folders = [ground.worktree / name for name in kit.python_path]
    modules = sorted({name for folder in folders for name in _modules(folder)})
    for python in _pythons(kit, ground):
        places = await _places(kit, ground, python, modules)
        for module, origins in places.items():
            outside = [place for place in origins if not _is_in(place, ground.worktree)]
            if outside or not origins:
                return Unproved(module, python[0], outside[0] if outside else "nowhere")
    return None


def _is_in(place: str, tree: Path) -> bool:
    return Path(os.path.realpath(place)).is_relative_to(os.path.realpath(tree))


def _pythons(kit: Kit, ground: PrivateGround) -> tuple[Interpreter, ...]:
    search = executables.absolute_path(kit.variables(ground).get("PATH"))
    each = (interpreters(check.command, ground.worktree, search) for check in kit.checks)
    return tuple(dict.fromkeys(python for pythons in each for python in pythons))


def _modules(folder: Path) -> Iterator[str]:
    """The names that an import would take from it."""
    for path in folder.iterdir() if folder.is_dir() else ():
        package = path.is_dir() and (path / "__init__.py").is_file()
        name = path.stem if path.suffix == ".py" or package else ""
        if name.isidentifier() and name not in _NO_MODULES:
            yield name


async def _places(
    kit: Kit, ground: PrivateGround, python: Interpreter, modules: Sequence[str]
) -> Mapping[str, Sequence[str]]:
    """By name, where each is; all of them nowhere for a Python that does not say."""
    policy = kit.policy(ground)
    answer = await answer_of(
        python,
        _ORIGINS,
        modules,
        ground.worktree,
        kit.variables(ground),
        wrap=lambda argv: confine(kit.confinement, policy, argv),
    )
    return answer if isinstance(answer, dict) else dict.fromkeys(modules, ())

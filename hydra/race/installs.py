"""Where nothing mounts a lane at the checkout's path: what is installed from the checkout, which
PYTHONPATH then takes from the lane. The sabotage run (`checks/sabotage.py`) proves that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import trio

from hydra import executables
from hydra.adapters.environment import SHARED, matches
from hydra.process.records import CannotStart
from hydra.process.run import run
from hydra.records.plan import RacePlan
from hydra.workspace.installs import EditableInstall, installs
from hydra.workspace.interpreters import interpreters, on_path

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
        if _is_of_checkout(program, root):  # which is not run for a look
            packages += Path(program).parent.parent.glob("lib/python*/site-packages")
            continue
        # Not in the checkout, whose own json.py it would import.
        packages += map(Path, await _folders_of(program, passed))
    return await trio.to_thread.run_sync(installs, packages, root)


def _is_of_checkout(program: str, root: Path) -> bool:
    return Path(os.path.realpath(program)).is_relative_to(os.path.realpath(root))


def python_path(editable_installs: Iterable[EditableInstall]) -> tuple[str, ...]:
    """The folders that PYTHONPATH has to name for them."""
    return tuple(dict.fromkeys(install.folder for install in editable_installs))


async def _folders_of(python: str, environ: Mapping[str, str]) -> list[str]:
    """Where a Python has its packages; [] where it does not say."""
    try:
        ran = await run((python, "-B", "-c", _PACKAGES), env=environ, cwd=Path("/"), timeout=LIMIT)
        folders = json.loads(ran.stdout) if ran.exit_code == 0 else None
    except (CannotStart, ValueError):
        return []
    return folders if isinstance(folders, list) else []

"""Taking a run away for good, so that a removal that broke off is ended by the next command."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from hydra import paths
from hydra.errors import HydraError
from hydra.git import repository
from hydra.git.runner import is_unanswered
from hydra.recover.consults import POINTER, sweep_consult
from hydra.sandbox.layers import TRIAL_FOLDER
from hydra.store import GONE, LOCK, UNBORN, RunRecord, alone, read_object
from hydra.workspace import tree
from hydra.workspace.dependencies import FROZEN, LINKS, LOOK

STRAY_AFTER = 24 * 3600.0
"""Seconds that a ground without a run must have lain untouched. No live race has one: its run's
folder is there first. It is for a record that was carried away by hand, and may come back."""

UNBORN_AFTER = 60.0
"""Seconds for a folder in which no lane can be: that of a trial, which takes ten at most, and one
whose Hydra was killed before its lock was there."""


def remove_run(state: Path, folder: Path) -> None:
    """Removes a run: its worktrees, its ref in the repository, its record. Raises `OSError`,
    `Refused` where git could not be asked.

    The folder first gets a hidden name, and goes last: until then it says what is to be removed.
    """
    unborn = folder.name.endswith(UNBORN)
    if not (unborn or folder.name.endswith(GONE)):
        hidden = folder.with_name(f".{folder.name}{GONE}")
        folder = folder.rename(hidden)
    run = folder.name.removeprefix(".").removesuffix(UNBORN).removesuffix(GONE)
    grounds = paths.ground_dir(state, run, "x").parent
    if grounds.is_dir():
        tree.remove(grounds)
    if not unborn:  # before it has its name, only links are made outside of it
        _unpin(folder, run)
    tree.remove(folder)


def remove_rounds(found: RunRecord, grounds: Path) -> None:
    """Removes from the grounds of a run that has ended those of a `hydra check`, or of a landing's
    checks, that was killed."""
    for ground in grounds.glob("_*"):
        number = ground.name[1:].partition("-")[0]
        round = number if number.isdecimal() else "1"
        with suppress(OSError), alone(found.folder / "checks" / round) as mine:
            if mine:
                tree.remove(ground)


def remove_strays(state: Path, runs: set[str]) -> int:
    """Removes grounds that belong to no run any more, and what was left of a question to an agent;
    how many. `runs` are all that there are."""
    known = {paths.ground_dir(state, run, "x").parent.name for run in runs}
    removed = 0
    with suppress(OSError):
        for grounds in (state / "g").iterdir():
            if grounds.name in known:
                continue
            if sweep_consult(grounds):
                removed += 1
            elif _remove_links(grounds) or _is_unborn(grounds) or _is_stray(grounds):
                tree.remove(grounds)
                removed += 1
    return removed


def _remove_links(grounds: Path) -> bool:
    """Removes what a Hydra that was killed before its race had a record has linked; whether there
    was nothing else but what `hydra init` looks in. A lane's work waits beside it for a record that
    was carried away."""
    frozen = grounds / FROZEN
    if not (frozen / LOCK).exists():
        return False
    with alone(frozen) as mine:
        if mine:
            tree.remove(frozen / LINKS)  # before the lock, by which the next sweep finds the rest
            tree.remove(frozen)
    return mine and all(entry.name == LOOK for entry in grounds.iterdir())


def _is_unborn(grounds: Path) -> bool:
    """Of a Hydra that was killed so early that it held nothing but empty folders, a lock that bears
    no name yet, or a trial's."""
    files = (path for path in grounds.glob("*/*") if path.parent.name != FROZEN + UNBORN)
    empty = grounds.name.startswith(TRIAL_FOLDER) or not any(files)
    return empty and not (grounds / POINTER).exists() and _age(grounds) > UNBORN_AFTER


def _is_stray(grounds: Path) -> bool:
    return not (grounds / POINTER).exists() and _age(grounds) > STRAY_AFTER


def _age(grounds: Path) -> float:
    """Seconds since something was put into it, or taken out."""
    return time.time() - grounds.stat().st_mtime


def _unpin(folder: Path, run: str) -> None:
    # The repository may be gone, or no longer one: then there is nothing to take back. Either of
    # two documents may be damaged; with uncommitted changes taken along, only one has the pin.
    for name, key in (("manifest.json", "head"), ("plan.json", "base")):
        try:
            told = read_object(folder / name)
            repository.unpin(repository.read(Path(told["repository"])), run, told[key])
        except (OSError, ValueError, KeyError, TypeError, HydraError) as problem:
            if is_unanswered(problem):
                raise  # what it is pinned by goes with the folder: the next command goes on
        else:
            return

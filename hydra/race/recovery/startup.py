"""Before a command: runs that an earlier Hydra was killed in are brought to their end."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from hydra import paths
from hydra.errors import HydraError
from hydra.log import get_logger
from hydra.records.store.files import DRAFT, GONE, UNBORN, alone

_log = get_logger(__name__)

Say = Callable[[str], None]
"""Takes one line for a person."""

_OPEN = "journal.json"
"""Of a landing that was broken off; of files that it displaced and a program may write into."""

UNBORN_AFTER = 60.0
"""Seconds after which a run that never got its name is taken to have no maker any more."""


def recover(environ: Mapping[str, str] = os.environ, say: Say | None = None) -> None:
    """Recovers every run under the state folder that is broken off; costs nothing where none is.

    Whatever goes wrong is said in one line and stops nobody: the command goes on. Only Ctrl-C
    gets out, and the next command then goes on where it was.
    """
    try:
        state = paths.state_dir(environ)
    except HydraError:
        return  # the command itself will say so
    files, names = unfinished(state)
    for folder in files:
        _recover(folder, state, say or _to_stderr)
    if names is not None and _strays(state, names):
        _remove_strays(state, names)
    for path in _landings(state):
        _end_landing(path, say or _to_stderr)


def _landings(state: Path) -> list[Path]:
    """Where a landing has something to be looked at: one look a repository."""
    folders = (f"{state}/{name}/landing" for name in _names(state) or ())
    return [
        Path(folder)
        for folder in folders
        if any(name == _OPEN or name.startswith(DRAFT) for name in _names(folder) or ())
    ]


def unfinished(state: Path) -> tuple[list[Path], set[str] | None]:
    """Run folders under `state` that have not ended, of every repository, and every run's id.

    Live ones are among them, and hidden ones that were being made or removed. The ids are None
    where a repository's runs cannot be listed now (a disk that is not mounted), so that there may
    be more. It must cost next to nothing where all have ended: one listing a repository and one
    look a run.
    """
    folders: list[Path] = []
    texts: set[str] = set()
    whole = True
    for repository in _names(state) or ():
        names = _names(f"{state}/{repository}/runs")
        if names is None:
            whole = whole and not paths.is_repository_key(repository)
            continue
        for name in names:
            texts.add(name.removeprefix(".").removesuffix(UNBORN).removesuffix(GONE))
            # access() and not Path.exists(): fifty of these are in every command's way.
            if name[0] == "." or not os.access(
                f"{state}/{repository}/runs/{name}/result.json", os.F_OK
            ):
                folders.append(state / repository / "runs" / name)
    return folders, texts if whole else None


def _names(folder: Path | str) -> list[str] | None:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208  in every command's way
    except OSError:  # not there, a file, or closed to us: no runs of ours
        return None


def _end_landing(folder: Path, say: Say) -> None:
    from hydra.landing.completion import recover_landing
    from hydra.landing.journal import LandingStore
    from hydra.race.recovery.processes import end_left

    store = LandingStore(folder)
    try:
        ended = recover_landing(store, partial(end_left, lanes=()))
    except Exception as problem:
        _log.warning("a landing is not recovered", folder=folder, exc_info=True)
        message = problem.message if isinstance(problem, HydraError) else str(problem)
        hint = f"; {problem.hint}" if isinstance(problem, HydraError) and problem.hint else ""
        say(f"{message or type(problem).__name__}{hint}")
    else:
        if ended:
            say(ended.sentence)


def _recover(folder: Path, state: Path, say: Say) -> None:
    # Loaded only now: nearly always there is nothing to recover.
    from hydra.git.runner import require_git
    from hydra.race.recovery.retention import remove_run
    from hydra.race.recovery.run import recover_run

    try:
        require_git()  # without it nothing would be taken, and what stands called lost
        if folder.name.endswith((GONE, UNBORN)):
            _take_away(folder, state, remove_run)
            return
        done = recover_run(folder, state)
    except Exception as problem:
        # Not even a fault of Hydra's own may keep a person from their command.
        _log.warning("a run is not recovered", run=folder.name, exc_info=True)
        what = problem.message if isinstance(problem, HydraError) else str(problem)
        say(f"run {folder.name} is not recovered: {what or type(problem).__name__}")
    else:
        if done is not None:
            say(done.sentence)


def _take_away(folder: Path, state: Path, remove_run: Callable[[Path, Path], None]) -> None:
    # Its maker or its remover may be at work. The maker has no lock for an instant.
    if folder.name.endswith(UNBORN) and time.time() - folder.stat().st_mtime < UNBORN_AFTER:
        return
    with alone(folder) as mine:
        if mine:
            _log.info("what is left of a run is removed", run=folder.name)
            remove_run(state, folder)


def _strays(state: Path, names: set[str]) -> set[str]:
    texts = set(_names(state / "g") or ())
    return texts and texts - {paths.ground_dir(state, run, "x").parent.name for run in names}


def _remove_strays(state: Path, names: set[str]) -> None:
    from hydra.race.recovery.retention import remove_strays

    _log.info("grounds of no run are removed")
    with suppress(OSError):
        remove_strays(state, names)


def _to_stderr(line: str) -> None:
    from hydra.report.text import clean

    with suppress(OSError, ValueError):  # closed, or full: nobody reads it
        sys.stderr.write(f"hydra: {clean(line)}\n")
        sys.stderr.flush()

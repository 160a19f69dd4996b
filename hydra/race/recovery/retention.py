"""What would be lost with a run, what it takes on the disk, and how it goes: by a person's word, or
by itself once it is old and nothing would be lost with it."""

from __future__ import annotations

import time
from calendar import timegm
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from hydra import paths
from hydra.config.values import format_duration
from hydra.disk import disk_usage
from hydra.errors import Exhausted, HydraError
from hydra.git import base_commit, patches
from hydra.git.runner import run as git
from hydra.landing.record import LandingRecord, landings
from hydra.paths import ground_dir
from hydra.process.sandbox.layers import TRIAL_FOLDER
from hydra.race.recovery.reviews import POINTER, sweep_consult
from hydra.records.codec import shaped
from hydra.records.outcome import Outcome, Status
from hydra.records.request import Limits
from hydra.records.store.files import GONE, LOCK, UNBORN, alone, read_object
from hydra.records.store.reader import RunRecord, runs
from hydra.report import text
from hydra.text import plural
from hydra.workspace import tree
from hydra.workspace.dependencies import FROZEN, LINKS, LOOK


def started(run: RunRecord) -> float:
    """When it began, in seconds since 1970: as it was recorded, else as its id says."""
    with suppress(HydraError):
        if (value := run.manifest.started) is not None:
            return value
    try:
        return timegm(time.strptime(run.id[:15], "%Y%m%dt%H%M%S"))
    except ValueError:  # a folder that somebody has named
        return time.time()


def grounds(run: RunRecord, state: Path) -> tuple[Path, ...]:
    """The grounds of its lanes that still stand."""
    try:
        return tuple(sorted(ground_dir(state, run.id, "x").parent.iterdir()))
    except OSError:
        return ()


def size(run: RunRecord, state: Path) -> int:
    """Bytes that its record and its grounds take: a walk over all of it."""
    return disk_usage(run.folder) + sum(map(disk_usage, grounds(run, state)))


def holds_work(run: RunRecord, state: Path) -> bool:
    """Whether something may be lost with it, as its result tells: cheap, and rather yes than no."""
    try:
        outcomes = run.outcomes
    except HydraError:
        return True
    if outcomes is not None and not grounds(run, state) and all(map(_is_empty, outcomes)):
        return False
    return not is_landed(run, state)


def is_empty(run: RunRecord, state: Path) -> bool:
    """Whether nothing at all would be lost: no patch, no stash, and no worktree stands.

    False where anything of it cannot be read.
    """
    try:
        outcomes, manifest = run.outcomes, run.manifest
        if outcomes is None or not manifest.head or manifest.is_uncommitted:
            return False  # not ended; or it holds changes that the user had not committed
        if not all(map(_is_empty, outcomes)) or patches.with_work(run.patches, manifest.head):
            return False
        return not grounds(run, state)
    except (HydraError, OSError):
        return False


def is_landed(run: RunRecord, state: Path) -> bool:
    """Whether a patch of it stands on one of the user's branches, and no worktree is kept.

    Who lands one lane has decided against the others. A landing without a commit, one that was
    taken back, one whose branch no longer holds it, and one that took less than the whole of each
    of its lanes do not count; nor does any of a run that holds changes which the user had not
    committed.
    """
    if grounds(run, state):
        return False
    with suppress(HydraError, OSError, ValueError, KeyError, TypeError):
        manifest = run.manifest
        if manifest.is_uncommitted:
            return False
        root = Path(manifest.repository)
        return any(
            {*landing.whole} == {*landing.lanes}
            and landing.undone is None
            and landing.commit
            and _holds(root, landing)
            for landing in landings(run.folder)
        )
    return False


def _holds(root: Path, landing: LandingRecord) -> bool:
    terms = ("merge-base", "--is-ancestor", landing.commit, landing.ref)
    return git(*terms, cwd=root, check=False).code == 0


def _is_empty(outcome: Outcome) -> bool:
    patch, failure = outcome.patch, outcome.failure
    if patch is not None:
        return not (patch.files or patch.incomplete or patch.left_behind or patch.stranded)
    # A fault of Hydra's own is told in the same words, and an agent may have worked before it.
    ours = failure is not None and failure.reason in ("hydra_bug", "record", "exhausted")
    return outcome.status is Status.NOT_STARTED and outcome.exit is None and not ours


# ---- Taking a run away for good, so that a removal that broke off is ended by the next command.

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
    path = paths.ground_dir(state, run, "x").parent
    if path.is_dir():
        tree.remove(path)
    if not unborn:  # before it has its name, only links are made outside of it
        _unpin(folder, run)
    tree.remove(folder)


_PATIENCE = (0.02, 0.08, 0.2)
"""Seconds between tries where the lock is held, as it was seen to be just after a kill."""


def remove_rounds(record: RunRecord, path: Path) -> None:
    """Removes from the grounds of a run that has ended those of a `hydra check`, or of a landing's
    checks, that was killed."""
    live: set[str] = set()
    for file in path.glob("_*"):
        number = file.name[1:].partition("-")[0]
        round = number if number.isdecimal() else "1"
        for wait in (*_PATIENCE, None):
            with suppress(OSError), alone(record.folder / "checks" / round) as mine:
                if mine:
                    tree.remove(file)
                    break
            if wait is None or round in live:
                live.add(round)
                break
            time.sleep(wait)


def remove_strays(state: Path, ids: set[str]) -> int:
    """Removes grounds that belong to no run any more, and what was left of a question to an agent;
    how many. `ids` are all the runs that there are."""
    names = {paths.ground_dir(state, run, "x").parent.name for run in ids}
    removed = 0
    with suppress(OSError):
        for path in (state / "g").iterdir():
            if path.name in names:
                continue
            if sweep_consult(path):
                removed += 1
            elif _remove_links(path) or _is_unborn(path) or _is_stray(path):
                tree.remove(path)
                removed += 1
    return removed


def _remove_links(path: Path) -> bool:
    """Removes what a Hydra that was killed before its race had a record has linked; whether there
    was nothing else but what `hydra init` looks in. A lane's work waits beside it for a record that
    was carried away."""
    frozen = path / FROZEN
    if not (frozen / LOCK).exists():
        return False
    with alone(frozen) as mine:
        if mine:
            tree.remove(frozen / LINKS)  # before the lock, by which the next sweep finds the rest
            tree.remove(frozen)
    return mine and all(entry.name == LOOK for entry in path.iterdir())


def _is_unborn(file: Path) -> bool:
    """Of a Hydra that was killed so early that it held nothing but empty folders, a lock that bears
    no name yet, or a trial's."""
    files = (path for path in file.glob("*/*") if path.parent.name != FROZEN + UNBORN)
    empty = file.name.startswith(TRIAL_FOLDER) or not any(files)
    return empty and not (file / POINTER).exists() and _age(file) > UNBORN_AFTER


def _is_stray(path: Path) -> bool:
    return not (path / POINTER).exists() and _age(path) > STRAY_AFTER


def _age(path: Path) -> float:
    """Seconds since something was put into it, or taken out."""
    return time.time() - path.stat().st_mtime


def _unpin(folder: Path, run: str) -> None:
    # The repository may be gone, or no longer one: then there is nothing to take back. Either of
    # two documents may be damaged; with uncommitted changes taken along, only one has the pin.
    for name, key in (("manifest.json", "head"), ("plan.json", "base")):
        try:
            document = read_object(folder / name)  # also a newer Hydra's
            root, commit = (shaped(document.get(part), str) for part in ("repository", key))
            base_commit.unpin(base_commit.read(Path(root)), run, commit)
        except Exhausted:
            raise  # what it is pinned by goes with the folder: the next command goes on
        except (OSError, ValueError, HydraError):
            pass
        else:
            return


# ---- Runs go by themselves once they are old, and nothing would be lost with them.
#
# Every repository of the state folder is held to the limits by itself. Its latest run stays, and so
# does one that is running, was broken off, or cannot be read.


def sweep(state: Path, limits: Limits, stopped: Callable[[], bool] = lambda: False) -> int:
    """Removes what may go by itself, and what killed checks have left in the runs that stay; how
    many runs. Ends soon once `stopped`."""
    folders = sorted(path for path in state.glob("*/runs") if path.is_dir())
    return sum(_sweep_one(folder, state, limits, stopped) for folder in folders)


def over_limits(
    folder: Path, state: Path, limits: Limits, known_sizes: Mapping[str, int] | None = None
) -> str:
    """What one repository's `runs/` still has over the limits, for a person to remove: one line, or
    "". `known_sizes` are those, by run, that need not be measured again."""
    records, measured = runs(folder), known_sizes or {}
    sizes = {run.id: measured.get(run.id) or size(run, state) for run in records}
    now = time.time()
    old = [
        run.id
        for run in records[:-1]
        if now - started(run) >= limits.retention and not run.live and holds_work(run, state)
    ]
    if old:
        age = format_duration(limits.retention)
        return (
            f"{plural(old, 'race')} here over {age} old, with work that may not be landed "
            f"({text.size(sum(map(sizes.__getitem__, old)))}): hydra runs rm --older-than {age}"
        )
    if (total := sum(sizes.values())) > limits.retention_bytes:
        return (
            f"the races here take {text.size(total)}, over the {text.size(limits.retention_bytes)} "
            "that are kept: hydra runs rm RUN (`hydra runs` shows what each takes)"
        )
    return ""


def _sweep_one(folder: Path, state: Path, limits: Limits, stopped: Callable[[], bool]) -> int:
    records = runs(folder)
    for run in records:
        if stopped():
            return 0
        if (run.folder / "result.json").exists():
            remove_rounds(run, ground_dir(state, run.id, "x").parent)
    removed, now = 0, time.time()
    for run in records[:-1]:
        if stopped():
            break
        due = now - started(run) >= limits.retention
        removed += due and _may_go(run, state) and _take(run, state)
    return removed


def _may_go(run: RunRecord, state: Path) -> bool:
    return is_empty(run, state) or is_landed(run, state)


def _take(run: RunRecord, state: Path) -> bool:
    with suppress(OSError), alone(run.folder) as mine:
        # Since it was looked at, somebody may have checked or landed it.
        if mine and _may_go(run, state):
            remove_run(state, run.folder)
            return True
    return False

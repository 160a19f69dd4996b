"""`hydra runs rm`: which runs, what would be lost with them, and then their end."""

from __future__ import annotations

import time
from collections.abc import Sequence

from hydra.errors import Exhausted, HydraError, Refused, UsageError
from hydra.git import patches
from hydra.race.command_context import CommandContext
from hydra.race.recovery.retention import grounds, is_empty, remove_run, size, started
from hydra.race.recovery.runs import find, list_runs, read
from hydra.records.store.files import alone
from hydra.records.store.reader import RunRecord
from hydra.report.removal import Loss


def select(
    place: CommandContext,
    names: Sequence[str] = (),
    *,
    older_than: float | None = None,
    empty: bool = False,
    everything: bool = False,
) -> list[RunRecord]:
    """The runs that are meant, newest first: named ones, or those that fit every condition.

    A run that is still running is none of the latter. Raises `UsageError` where nothing or too
    much was said, or where a name fits no run.
    """
    conditions = older_than is not None or empty
    if everything and conditions:
        raise UsageError("--all leaves nothing to choose", hint="leave out --older-than or --empty")
    if names and (everything or conditions):
        raise UsageError(
            "runs were named, and chosen by a condition too", hint="do one after the other"
        )
    if not all(names):
        # Elsewhere it means the latest; here it is a variable that was never set.
        raise UsageError("a run's name is empty", hint="`hydra runs` lists them; @-0 is the latest")
    if names:
        records = {run.id: run for run in (find(place, name) for name in names)}
        return list(records.values())
    if not (everything or conditions):
        raise UsageError(
            "which races?",
            hint="name them as `hydra runs` lists them, or say --older-than 30d, --empty or --all",
        )
    now = time.time()
    return [
        run
        for run in list_runs(place)
        if not run.live
        and (older_than is None or now - started(run) >= older_than)
        and (not empty or is_empty(run, place.state))
    ]


def plan_removal(place: CommandContext, run: RunRecord) -> Loss:
    """What goes for good with a run: of its lanes those that changed something (where that is not
    known, those that may have), and those whose worktree stands. Raises `Refused` while it is
    running, or where git could not be asked."""
    if run.live:
        raise Refused(f"run {run.id} is still running", hint="end it first (Ctrl-C there)")
    reading = read(run)
    changed = {lane.lane for lane in reading.race.lanes if lane.patch and lane.patch.files}
    try:
        changed |= patches.with_work(run.patches, reading.manifest.base)
    except Exhausted:
        raise
    except HydraError:
        pass  # the result alone tells
    return Loss(
        run=run.id,
        patches=tuple(sorted(changed)),
        worktrees=tuple(path.name for path in grounds(run, place.state)),
        uncommitted=reading.manifest.is_uncommitted,
        age=time.time() - started(run),
        size=size(run, place.state),
    )


def remove(place: CommandContext, run: RunRecord) -> None:
    """Removes a run: its worktrees, its ref in the repository, and its record.

    A removal that breaks off is ended by the next command. Raises `Refused` where somebody reads
    or writes the run, or where its files cannot be removed.
    """
    try:
        with alone(run.folder) as mine:
            if not mine:
                raise Refused(f"run {run.id} is in use", hint="wait for the other hydra")
            remove_run(place.state, run.folder)
    except OSError as error:
        raise Refused(
            f"run {run.id} could not be removed: {error}",
            hint="see who may write there; what has begun to go is gone on with by every command",
        ) from error

"""A lane whose agent never came to run, or to its end: its outcome, and why."""

from __future__ import annotations

from hydra.errors import Failure
from hydra.model import LanePlan, Outcome, Status
from hydra.outcome import EARLY, MORE_ROOM
from hydra.shortage import shortage


def not_started(
    lane: LanePlan,
    failure: Failure,
    *,
    attempt: int = 1,
    seconds: float = 0.0,
    warnings: tuple[str, ...] = (),
) -> Outcome:
    """The outcome of an attempt that ended so; `warnings` are those beside the lane's own."""
    early = failure.kind == "Interrupted"
    return Outcome(
        lane=lane.lane.id,
        attempt=attempt,
        status=Status.INTERRUPTED if early else Status.NOT_STARTED,
        failure=failure,
        seconds=seconds,
        warnings=(*lane.warnings, *warnings),
    )


def interrupted(lane: LanePlan, reason: str) -> Failure:
    """The race was ended first: `interrupt`, or `disk_floor`."""
    full = reason == "disk_floor"
    early = "the race was interrupted before this lane could end in order"
    return Failure(
        kind="Interrupted",
        reason=reason,
        message=EARLY[reason] if full else early,
        adapter=lane.lane.adapter,
        command=lane.command.argv if lane.command else (),
        hint=MORE_ROOM if full else "its worktree is kept; race again to start over",
    )


def broken(lane: LanePlan, bug: Exception) -> Failure:
    """Hydra itself failed on it, or could not keep its record."""
    if short := shortage(bug):
        return Failure(
            kind="SpawnFailed",
            reason="exhausted",
            message=short.message,
            adapter=lane.lane.adapter,
            command=lane.command.argv if lane.command else (),
            hint=short.hint,
        )
    if isinstance(bug, OSError):
        return Failure(
            kind="SpawnFailed",
            reason="record",
            message=f"its record could not be kept: {bug}",
            adapter=lane.lane.adapter,
            command=lane.command.argv if lane.command else (),
            hint="see that the disk of the state folder has room (`hydra doctor` names it)",
        )
    return Failure(
        kind="SpawnFailed",
        reason="hydra_bug",
        message=f"Hydra itself failed on this lane: {type(bug).__name__}: {bug}",
        adapter=lane.lane.adapter,
        command=lane.command.argv if lane.command else (),
        hint="please report this with the run's folder; the other lanes are not affected",
    )

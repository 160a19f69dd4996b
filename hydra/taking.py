"""The end of an attempt's agent: its work is taken as a commit, whatever has happened."""

from __future__ import annotations

from typing import NamedTuple

import trio

from hydra.bench import Bench, Emit, Handle
from hydra.errors import HydraError
from hydra.model import Patch
from hydra.shortage import WAITS, is_passing, shortage
from hydra.workspace import WorktreeLost


class Taken(NamedTuple):
    """The patch; or None, and why there is none: as a word, and as a sentence."""

    patch: Patch | None
    reason: str = ""
    error: str = ""


async def take_patch(bench: Bench, handle: Handle, emit: Emit) -> Taken:
    """The attempt's work as a commit, on every outcome, even while the race is being ended."""
    handle.patch_grace = bench.limits.grace_patch
    handle.hurry()
    with handle.taking_patch:
        try:
            patch = await _snapshot(bench)
        except WorktreeLost as lost:
            return Taken(None, lost.reason, str(lost))
        except Exception as error:
            # Whatever it is, a fault of Hydra's own too: the rest of the outcome still stands.
            cause = shortage(error) or error
            reason = str(cause) if isinstance(cause, HydraError | OSError) else repr(cause)
            return _lost(f"{reason} (the worktree is kept: {bench.ground.worktree})")
        emit("patch_taken", data=patch.as_event())
        return Taken(patch)
    if trio.current_time() < handle.taking_patch.deadline:
        why = "the race was ended at once"
    else:
        why = f"taking it took over {bench.limits.grace_patch:g} s"
    return _lost(f"{why} (the worktree is kept: {bench.ground.worktree})")


async def _snapshot(bench: Bench) -> Patch:
    for wait in WAITS:
        try:
            return await _try_snapshot(bench)
        except Exception as error:
            if not is_passing(error):
                raise
        await trio.sleep(wait)  # a neighbour's agent has taken all processes, say
    return await _try_snapshot(bench)


async def _try_snapshot(bench: Bench) -> Patch:
    return await trio.to_thread.run_sync(
        lambda: bench.ground.snapshot(
            attempt=bench.attempt, message=bench.message, secrets_in=bench.redactor.count
        ),
        abandon_on_cancel=True,
    )


def _lost(why: str) -> Taken:
    return Taken(None, "patch_lost", why)

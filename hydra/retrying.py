"""Whether a lane is tried once more after a failure, and after how long. Pure.

A try costs money, so none is made unless it was asked for; and none after an agent has changed
something, for then there is work to look at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hydra.model import RETRY_REASONS, Outcome, Retry, Status

_CRASHES = ("exit_code", "killed", "no_terminal_event", "keeper_lost", "stdout_closed")
_LINES = ("unreachable", "line_lost")
"""Of an agent that runs elsewhere (hydra/remote)."""


def reason_of(outcome: Outcome) -> str:
    """Which of `RETRY_REASONS` it failed for, "" for none."""
    failure = outcome.failure
    if outcome.status is not Status.FAILED or failure is None:
        return ""
    if failure.reason in _CRASHES:
        return "crash"
    if failure.reason in _LINES:
        return "network"
    return failure.reason if failure.reason in RETRY_REASONS else ""


def wait_before(policy: Retry, outcome: Outcome, roll: float) -> float | None:
    """Seconds until the next try of this lane, None where there is none.

    `roll` is from 0 to 1, for the jitter: lanes of one service are not to come back together. What
    the service said of when to come back is the least.
    """
    if outcome.attempt > policy.times or reason_of(outcome) not in policy.on:
        return None
    patch = outcome.patch
    if patch is None or patch.incomplete or patch.left_behind:
        return None  # work may stand in its ground alone: that is not written over
    if not patch.empty and not policy.with_patch:
        return None
    backoff = min(policy.wait * 2.0 ** (outcome.attempt - 1), policy.longest)
    told = outcome.failure.numbers.get("retry_after", 0.0) if outcome.failure else 0.0
    return min(max(backoff * (0.5 + roll / 2), told), max(policy.longest, policy.wait))


def chosen(attempts: Sequence[Outcome]) -> Outcome:
    """A lane's result: its last attempt with a patch, else its last; the others beside it."""
    worked = [one for one in attempts if one.patch is not None and not one.patch.empty]
    result = (worked or attempts)[-1]
    return replace(result, others=tuple(one for one in attempts if one is not result))

"""Pure decisions over the whole race: an event goes in, actions come out; budgets, and retries.

No I/O, no clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from hydra.records.events import Event
from hydra.records.outcome import Outcome, Status
from hydra.records.plan import RacePlan
from hydra.records.request import RETRY_REASONS, Budget, Retry


class StopAll(Struct, frozen=True):
    """End every lane by the ladder; graces in seconds (INT, TERM), None for the race's own."""

    reason: str
    graces: tuple[float, float] | None = None


class KillAll(Struct, frozen=True):
    """End every lane at once and take no patches: recovery does that later."""

    reason: str


class StopLane(Struct, frozen=True):
    """End one lane by the ladder: its agent said something that makes waiting useless."""

    lane: str
    reason: str


Action = StopAll | KillAll | StopLane

HURRIED = (2.0, 2.0)
"""Graces when the system itself ends Hydra (SIGTERM, SIGHUP): 5 s in all, with a margin. Also
when a disk is at its floor: until they end, the agents go on filling it."""


class PolicyState(Struct, frozen=True):
    """What decisions rest on: how often the race was interrupted, what lanes have used up."""

    interrupts: int = 0
    budgets: Mapping[str, Budget] = field(default_factory=dict)
    """Of the lanes that have one."""
    spent: Mapping[str, BudgetUsage] = field(default_factory=dict)


def decide(state: PolicyState, event: Event) -> tuple[PolicyState, tuple[Action, ...]]:
    """What `event` means for the race."""
    if event.kind == "run_interrupted":
        interrupts = state.interrupts + 1
        state = replace(state, interrupts=interrupts)
        if interrupts > 1:
            return state, (KillAll("interrupt"),)
        graces = None if event.data.get("signal") == "SIGINT" else HURRIED
        return state, (StopAll("interrupt", graces),)
    if event.kind == "run_warning" and event.sub == "disk_floor":
        return state, (StopAll("disk_floor", HURRIED),)
    if _refused_sign_in(event):
        return state, (StopLane(event.lane, "sign_in"),)
    return _spending(state, event) if event.lane in state.budgets else (state, ())


def _spending(state: PolicyState, event: Event) -> tuple[PolicyState, tuple[Action, ...]]:
    """A lane with a budget: each try has the whole of it."""
    if event.kind == "lane_opening":
        return replace(state, spent={**state.spent, event.lane: BudgetUsage()}), ()
    if event.source != "agent":
        return state, ()
    usage = add_usage(state.spent.get(event.lane, BudgetUsage()), event)
    state = replace(state, spent={**state.spent, event.lane: usage})
    why = exceeded(usage, state.budgets[event.lane])
    return state, ((StopLane(event.lane, why),) if why else ())


def _refused_sign_in(event: Event) -> bool:
    # The CLI itself would try ten more times (claude 2.1.330: 187 s) before it gives up.
    is_agent_failure = event.kind == "failed" and event.source == "agent"
    return (
        is_agent_failure
        and bool(event.data.get("terminal"))
        and event.data.get("error") == "AuthMissing"
    )


# ---- What a lane has used up of its budget, counted from what its agent tells. Pure.
#
# Many CLIs keep no such limit, some keep some: Hydra counts for all. What an agent tells nothing of
# is unknown and never counted; the clock's part of a budget is the lane's total limit.

TURNS, COST, TOOL_CALLS = "budget_turns", "budget_cost", "budget_tool_calls"
"""Why a lane was ended."""

_SPOKEN = ("message", "tool_call")


class BudgetUsage(Struct, frozen=True):
    """One attempt's. A turn lasts from the model's first word until a tool has answered."""

    turns: int = 0
    tool_calls: int = 0
    cost_usd: float | None = None
    answering: bool = False


def is_limited(budget: Budget) -> bool:
    """Whether there is anything in it that Hydra counts."""
    return (budget.turns, budget.tool_calls, budget.cost_usd) != (None, None, None)


def add_usage(spent: BudgetUsage, event: Event) -> BudgetUsage:
    """With one event of the agent's more."""
    if event.kind in _SPOKEN:
        return replace(
            spent,
            turns=spent.turns + (not spent.answering),
            tool_calls=spent.tool_calls + (event.kind == "tool_call"),
            answering=True,
        )
    if event.kind == "tool_result":
        return replace(spent, answering=False)
    cost = event.data.get("cost_usd") if event.kind == "usage" else None
    if isinstance(cost, int | float) and not isinstance(cost, bool):
        return replace(spent, cost_usd=max(float(cost), spent.cost_usd or 0.0))
    return spent


def exceeded(spent: BudgetUsage, budget: Budget) -> str:
    """Why the lane has to end now, "" for not."""
    if budget.turns is not None and spent.turns > budget.turns:
        return TURNS
    if budget.tool_calls is not None and spent.tool_calls > budget.tool_calls:
        return TOOL_CALLS
    if budget.cost_usd is not None and spent.cost_usd is not None:
        return COST if spent.cost_usd >= budget.cost_usd else ""
    return ""


# ---- Whether a lane is tried once more after a failure, and after how long. Pure.
#
# A try costs money, so none is made unless it was asked for; and none after an agent has changed
# something, for then there is work to look at.

_CRASHES = ("exit_code", "killed", "no_terminal_event", "keeper_lost", "stdout_closed")
_LINES = ("unreachable", "line_lost")
"""Of an agent that runs elsewhere (hydra/adapters/remote)."""


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


def retry_delay(retry: Retry, outcome: Outcome, roll: float) -> float | None:
    """Seconds until the next try of this lane, None where there is none.

    `roll` is from 0 to 1, for the jitter: lanes of one service are not to come back together. What
    the service said of when to come back is the least, and where that is later than the longest
    wait there is no try: it would be in vain.
    """
    if outcome.attempt > retry.times or reason_of(outcome) not in retry.on:
        return None
    patch = outcome.patch
    if patch is None or patch.incomplete or patch.left_behind:
        return None  # work may stand in its ground alone: that is not written over
    if not patch.empty and not retry.with_patch:
        return None
    backoff = min(retry.wait * 2.0 ** (outcome.attempt - 1), retry.longest)
    retry_after = (outcome.failure.numbers.get("retry_after") if outcome.failure else None) or 0.0
    longest = max(retry.longest, retry.wait)
    if retry_after > longest:
        return None
    return min(max(backoff * (0.5 + roll / 2), retry_after), longest)


def select_attempt(attempts: Sequence[Outcome]) -> Outcome:
    """A lane's result: its last attempt with a patch, else its last; the others beside it."""
    worked = [
        attempt for attempt in attempts if attempt.patch is not None and not attempt.patch.empty
    ]
    result = (worked or attempts)[-1]
    return replace(result, others=tuple(attempt for attempt in attempts if attempt is not result))


def keeps_ground(plan: RacePlan, outcome: Outcome) -> bool:
    """Whether a lane's ground stays after this outcome: always while its patch is not whole."""
    patch = outcome.patch
    if outcome.status is Status.NOT_STARTED:
        return plan.keep != "none"  # no agent has stood in it
    if plan.keep == "all" or patch is None or patch.incomplete or patch.left_behind:
        return True
    in_order = outcome.status in (Status.COMPLETED, Status.NO_CHANGES)
    return plan.keep == "failed" and not in_order

"""A lane's budget, counted from events; and whether a failure is tried again."""

from __future__ import annotations

import pytest

from hydra.adapters import event_builders
from hydra.errors import Failure
from hydra.race import policy as referee
from hydra.race.policy import COST, TOOL_CALLS, TURNS, retry_delay
from hydra.records.events import AgentEvent, Event
from hydra.records.outcome import Outcome, Patch, Status
from hydra.records.request import Budget, Retry

SPEAKS = event_builders.message("a")[0]
CALLS = event_builders.tool_call("1", "Edit", "Edit a")
ANSWERS = event_builders.tool_result("1", True, "done")
COSTS = event_builders.usage(cost_usd=0.5)[0]
AGAIN = AgentEvent("lane_opening")


def told(event: AgentEvent) -> Event:
    source = "hydra" if event is AGAIN else "agent"
    kind, sub, data = event
    return Event(
        seq=1, wall=0, mono=0, run="r", kind=kind, sub=sub, source=source, lane="a", data=data
    )


@pytest.mark.parametrize(
    ("budget", "events", "why"),
    [
        (Budget(turns=1), [SPEAKS, CALLS, CALLS, ANSWERS, ANSWERS], ""),
        (Budget(turns=1), [SPEAKS, CALLS, ANSWERS, SPEAKS], TURNS),
        (Budget(turns=2), [SPEAKS, CALLS, ANSWERS, CALLS, CALLS], ""),
        (Budget(turns=1), [SPEAKS, CALLS, ANSWERS, AGAIN, SPEAKS], ""),
        (Budget(tool_calls=1), [CALLS, ANSWERS], ""),
        (Budget(tool_calls=1), [CALLS, ANSWERS, CALLS], TOOL_CALLS),
        (Budget(cost_usd=0.5), [COSTS], COST),
        (Budget(cost_usd=0.6), [COSTS, event_builders.usage(input_tokens=10.0)[0]], ""),
        (Budget(cost_usd=1), [AgentEvent("usage", "", {"cost_usd": True})], ""),
    ],
)
def test_a_lane_ends_when_its_budget_is_used_up(
    budget: Budget, events: list[AgentEvent], why: str
) -> None:
    state, actions = referee.PolicyState(budgets={"a": budget}), ()
    for event in events:
        state, actions = referee.decide(state, told(event))  # type: ignore[assignment]
    assert actions == ((referee.StopLane("a", why),) if why else ())


EMPTY = Patch(commit="b", base="b")


def failed(
    reason: str,
    *,
    patch: Patch | None = EMPTY,
    attempt: int = 1,
    status: Status = Status.FAILED,
    **numbers: float,
) -> Outcome:
    failure = Failure(kind="AgentFailed", reason=reason, message="m", adapter="a", numbers=numbers)
    return Outcome(lane="a", attempt=attempt, status=status, failure=failure, patch=patch)


ON = Retry(times=2)


@pytest.mark.parametrize(
    ("policy", "outcome", "wait"),
    [
        (Retry(), failed("rate_limit"), None),
        (ON, failed("rate_limit"), 10.0),
        (ON, failed("overloaded", attempt=2), 20.0),
        (ON, failed("overloaded", attempt=3), None),
        (ON, failed("exit_code"), 10.0),
        (ON, failed("no_terminal_event"), 10.0),
        (ON, failed("network"), None),
        (Retry(times=1, on=("network",)), failed("network"), 10.0),
        (ON, failed("max_turns"), None),
        (ON, failed("rate_limit", status=Status.TIMED_OUT), None),
        (ON, failed("rate_limit", retry_after=42), 42.0),
        (ON, failed("rate_limit", retry_after=9999), None),  # in vain
        (Retry(times=9, longest=15), failed("rate_limit", attempt=5), 15.0),
        (ON, failed("rate_limit", patch=Patch(commit="c", base="b", files=1)), None),
        (
            Retry(times=1, with_patch=True),
            failed("rate_limit", patch=Patch(commit="c", base="b", files=1)),
            10.0,
        ),
        (Retry(times=1, with_patch=True), failed("rate_limit", patch=None), None),
        (
            Retry(times=1, with_patch=True),
            failed("rate_limit", patch=Patch(commit="c", base="b", files=1, left_behind=1)),
            None,
        ),
        (ON, Outcome(lane="a", attempt=1, status=Status.NO_CHANGES, patch=EMPTY), None),
    ],
)
def test_what_is_tried_again_and_when(policy: Retry, outcome: Outcome, wait: float | None) -> None:
    assert retry_delay(policy, outcome, 1.0) == wait
    if wait is not None and not (outcome.failure and outcome.failure.numbers):
        assert retry_delay(policy, outcome, 0.0) == wait / 2

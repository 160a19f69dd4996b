"""A lane's budget, counted from events."""

from __future__ import annotations

import pytest

from hydra.adapters import said
from hydra.events import AgentEvent
from hydra.model import Budget
from hydra.spending import COST, TOOL_CALLS, TURNS, Spending

SPEAKS = said.message("a")[0]
CALLS = said.tool_call("1", "Edit", "Edit a")
ANSWERS = said.tool_result("1", True, "done")
COSTS = said.usage(cost_usd=0.5)[0]


@pytest.mark.parametrize(
    ("budget", "events", "why"),
    [
        (Budget(turns=1), [SPEAKS, CALLS, CALLS, ANSWERS, ANSWERS], ""),
        (Budget(turns=1), [SPEAKS, CALLS, ANSWERS, SPEAKS], TURNS),
        (Budget(turns=2), [SPEAKS, CALLS, ANSWERS, CALLS, CALLS], ""),
        (Budget(tool_calls=1), [CALLS, ANSWERS], ""),
        (Budget(tool_calls=1), [CALLS, ANSWERS, CALLS], TOOL_CALLS),
        (Budget(cost_usd=0.5), [COSTS], COST),
        (Budget(cost_usd=0.6), [COSTS, said.usage(input_tokens=10.0)[0]], ""),
        (Budget(), [SPEAKS, CALLS, ANSWERS, COSTS] * 50, ""),
        (Budget(cost_usd=1), [AgentEvent("usage", "", {"cost_usd": True})], ""),
    ],
)
def test_a_budget_is_over_when_it_is_used_up(
    budget: Budget, events: list[AgentEvent], why: str
) -> None:
    spending = Spending(budget)
    assert [spending.add(event) for event in events][-1] == why

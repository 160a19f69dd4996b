"""What a lane has used up of its budget, counted from what its agent tells. Pure.

Many CLIs keep no such limit, some keep some: Hydra counts for all. What an agent tells nothing of
is unknown and never counted; the clock's part of a budget is the lane's total limit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hydra.events import Event
from hydra.model import Budget

TURNS, COST, TOOL_CALLS = "budget_turns", "budget_cost", "budget_tool_calls"
"""Why a lane was ended, as the referee says it."""

_SPOKEN = ("message", "tool_call")


@dataclass(frozen=True, slots=True)
class Spent:
    """One attempt's. A turn lasts from the model's first word until a tool has answered."""

    turns: int = 0
    tool_calls: int = 0
    cost_usd: float | None = None
    answering: bool = False


def counted(budget: Budget) -> bool:
    """Whether there is anything in it that Hydra counts."""
    return (budget.turns, budget.tool_calls, budget.cost_usd) != (None, None, None)


def spend(spent: Spent, event: Event) -> Spent:
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
        return replace(spent, cost_usd=float(cost))
    return spent


def over(spent: Spent, budget: Budget) -> str:
    """Why the lane has to end now, "" for not."""
    if budget.turns is not None and spent.turns > budget.turns:
        return TURNS
    if budget.tool_calls is not None and spent.tool_calls > budget.tool_calls:
        return TOOL_CALLS
    if budget.cost_usd is not None and spent.cost_usd is not None:
        return COST if spent.cost_usd >= budget.cost_usd else ""
    return ""

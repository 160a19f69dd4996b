"""What a lane has used up of its budget, counted from what its agent tells. Pure.

Many CLIs keep no such limit, some keep some: Hydra counts for all. What an agent tells nothing of
is unknown and never counted; the clock's part of a budget is the lane's total limit.
"""

from __future__ import annotations

from hydra.events import AgentEvent
from hydra.model import Budget

TURNS, COST, TOOL_CALLS = "budget_turns", "budget_cost", "budget_tool_calls"
"""Why a lane was ended, as `Handle.stop` takes it."""

_SPOKEN = ("message", "tool_call")


class Spending:
    """One attempt's."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.turns = 0
        self.tool_calls = 0
        self.cost_usd: float | None = None
        self._answering = False
        """Whether the model speaks: a turn lasts until a tool has answered."""

    def add(self, event: AgentEvent) -> str:
        """Takes one event in; why the lane has to end now, "" for not."""
        if event.kind in _SPOKEN:
            self.turns += not self._answering
            self._answering = True
            self.tool_calls += event.kind == "tool_call"
        elif event.kind == "tool_result":
            self._answering = False
        elif event.kind == "usage":
            cost = event.data.get("cost_usd")
            if isinstance(cost, int | float) and not isinstance(cost, bool):
                self.cost_usd = float(cost)
        return self._over()

    def _over(self) -> str:
        held = self._budget
        if held.turns is not None and self.turns > held.turns:
            return TURNS
        if held.tool_calls is not None and self.tool_calls > held.tool_calls:
            return TOOL_CALLS
        if held.cost_usd is not None and self.cost_usd is not None:
            return COST if self.cost_usd >= held.cost_usd else ""
        return ""

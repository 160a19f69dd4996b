"""What a race does with one lane: its attempts, then its checks, then its ground is tidied up."""

from __future__ import annotations

from dataclasses import replace

import trio

from hydra.app.bench import Shop
from hydra.app.checks import Checks
from hydra.attempt import attempt
from hydra.bench import Bench, Emit, Handle
from hydra.model import LanePlan, Outcome, Permission


class Lanes:
    """The lanes of one race, as it runs them: the benches that their attempts work at."""

    def __init__(self, shop: Shop, checks: Checks) -> None:
        self._shop = shop
        self._checks = checks
        self._benches: dict[str, Bench] = {}

    async def attempt(self, lane: LanePlan, handle: Handle, emit: Emit, number: int) -> Outcome:
        """One attempt, by its number, to its outcome."""
        if number > 1:
            # What the attempt before has left is in its patch; the next one begins from the base.
            await trio.to_thread.run_sync(self._benches[lane.lane.id].ground.remove)
        bench = self._benches[lane.lane.id] = self._shop.bench(lane, number)
        return await attempt(bench, handle, emit)

    async def finish(self, lane: LanePlan, handle: Handle, emit: Emit, outcome: Outcome) -> Outcome:
        """The lane's outcome with what came of its checks, and its ground gone where `keep` says
        so."""
        bench = self._benches[lane.lane.id]
        outcome = await self._checks.lane(bench, outcome, handle, emit)
        if lane.permission is Permission.PLAN:
            from hydra.app.plans import with_plan  # not before: few races ask for plans

            outcome = await trio.to_thread.run_sync(with_plan, self._shop.store, bench, outcome)
        # Whatever comes now, the outcome stands.
        with trio.CancelScope(shield=True):
            left = await trio.to_thread.run_sync(self._shop.tidy, bench, outcome)
        return replace(outcome, warnings=(*outcome.warnings, left)) if left else outcome

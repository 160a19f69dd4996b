"""The checks of one race. Where it has none, nothing of them is even loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import trio
from msgspec.structs import replace

from hydra.log import get_logger
from hydra.race.command_context import RunContext
from hydra.race.context import AttemptControl, Emit
from hydra.records.outcome import Outcome
from hydra.records.plan import RacePlan

if TYPE_CHECKING:
    from hydra.checks.context import Tell
    from hydra.checks.record import CheckResult
    from hydra.checks.round import CheckRun

_log = get_logger(__name__)


class CheckPhase:
    """Made at the first need, which is once its agents run."""

    def __init__(self, plan: RacePlan, around: RunContext, agents_ended: trio.Event) -> None:
        self._plan = plan
        self._around = around
        self._agents_ended = agents_ended
        self._making = trio.Lock()
        self._round: CheckRun | None = None
        self._results: dict[str, tuple[CheckResult, ...]] = {}

    async def baseline(self, emit: Emit) -> None:
        """Runs them on the base. Raises nothing of its own: lanes are then not compared."""
        try:
            round = await self._get()
        except OSError as error:
            emit("run_warning", data={"text": f"the checks cannot be run: {error}"})
            return
        try:
            await round.baseline(self._plan.base, _teller(emit))
        except Exception as bug:
            round.set_baseline({})
            _log.warning("the baseline failed by Hydra's own fault", exc_info=True)
            text = f"Hydra itself failed on the baseline: {type(bug).__name__}: {bug}"
            emit("run_warning", data={"text": text})

    async def lane(self, outcome: Outcome, control: AttemptControl, emit: Emit) -> Outcome:
        """`outcome` with its checks. Only where the patch holds something is there one to check."""
        if not self._plan.checks:
            return outcome
        if outcome.patch is None or outcome.patch.empty:
            _log.info("nothing to check: there is no patch")
            return outcome
        try:
            round = await self._get()
        except OSError as error:
            return replace(outcome, held_back=(f"its checks cannot be run: {error}",))
        from hydra.checks.record import document
        from hydra.checks.round import held_back

        commit, tell = outcome.patch.commit, _teller(emit)
        results = await round.lane(outcome.lane, commit, tell, stop=control.checking)
        self._results[outcome.lane] = results
        _log.info("checked", held_back=held_back(results))
        checks = tuple(map(document, results))
        return replace(outcome, checks=checks, held_back=held_back(results))

    async def trials(self, outcomes: Sequence[Outcome], emit: Emit, stop: trio.CancelScope) -> None:
        """Tries what the lanes left by the base's tests and by each other's. It changes nothing of
        their outcomes."""
        if self._round is None or not self._results:
            return
        from hydra.race.cross_test_phase import CrossTestInputs, run_cross_tests

        tried = CrossTestInputs(
            context=self._round.context,
            base=self._plan.base,
            on_base=self._round.base,
            commits={end.lane: end.patch.commit for end in outcomes if end.patch is not None},
            results={
                end.lane: self._results[end.lane] for end in outcomes if end.lane in self._results
            },
            parallel=self._plan.checking.parallel,
        )
        await run_cross_tests(tried, self._plan.checking.trials, _teller(emit), stop)

    @property
    def base_documents(self) -> tuple[Mapping[str, object], ...]:
        """What came of each on the base."""
        if self._round is None:
            return ()
        from hydra.checks.record import document

        return tuple(map(document, self._round.base.values()))

    async def _get(self) -> CheckRun:
        async with self._making:
            if self._round is None:
                from hydra.checks.round import CheckRun
                from hydra.race.check_kit import kit_of

                context = await trio.to_thread.run_sync(kit_of, self._plan, self._around)
                self._round = CheckRun(context, self._plan.checking.parallel, self._agents_ended)
            return self._round


def _teller(emit: Emit) -> Tell:
    return lambda kind, data: emit(kind, data=data)

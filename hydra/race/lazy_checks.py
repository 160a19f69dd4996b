"""A race's way to its checks: where it has none, nothing of them is loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import trio

    from hydra.git.background import Later
    from hydra.process.sandbox.view import View
    from hydra.race.checks_phase import CheckEnvironment, CheckPhase
    from hydra.race.context import AttemptControl, Emit
    from hydra.race.preflight import RaceInputs
    from hydra.records.outcome import Outcome
    from hydra.records.plan import RacePlan
    from hydra.records.store.writer import RunStore
    from hydra.workspace.dependencies import DependencySource
    from hydra.workspace.surplus import Surplus


class Checks:
    """The race's checks; where it has none, nothing of them is even loaded."""

    def __init__(
        self,
        inputs: RaceInputs,
        planned: RacePlan,
        store: RunStore,
        view: Callable[[], View],
        dependencies: DependencySource | None,
        surplus: Later[Surplus],
        agents_ended: trio.Event,
    ) -> None:
        self._plan = planned
        self._agents_ended = agents_ended
        self._around = partial(surroundings, inputs, store, view, dependencies, surplus)
        self._phase: CheckPhase | None = None

    async def baseline(self, emit: Emit) -> None:
        """Once the first agents run."""
        await self._load().baseline(emit)

    async def lane(self, outcome: Outcome, control: AttemptControl, emit: Emit) -> Outcome:
        """Once the lane's patch is taken."""
        if not self._plan.checks:
            return outcome
        return await self._load().lane(outcome, control, emit)

    async def trials(self, outcomes: Sequence[Outcome], emit: Emit, stop: trio.CancelScope) -> None:
        """Once every lane has ended."""
        if self._phase is not None:
            await self._phase.trials(outcomes, emit, stop)

    @property
    def base_documents(self) -> tuple[Mapping[str, object], ...]:
        """What came of each on the base."""
        return self._phase.base_documents if self._phase else ()

    def _load(self) -> CheckPhase:
        if self._phase is None:
            from hydra.race.checks_phase import CheckPhase

            self._phase = CheckPhase(self._plan, self._around(), self._agents_ended)
        return self._phase


def surroundings(
    inputs: RaceInputs,
    store: RunStore,
    view: Callable[[], View],
    dependencies: DependencySource | None,
    surplus: Later[Surplus],
) -> CheckEnvironment:
    """What the checks of a race are put together from."""
    from hydra.race.checks_phase import CheckEnvironment

    return CheckEnvironment(
        repository=inputs.repository,
        run_folder=store.folder,
        state=inputs.state,
        home=inputs.home,
        environ=inputs.request.environ,
        extra=inputs.config.checks.environment,
        view=view,
        dependencies=dependencies,
        surplus=surplus,
        adapters=tuple(inputs.adapters.values()),
    )

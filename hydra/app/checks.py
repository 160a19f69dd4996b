"""A race's way to its checks: nothing of them is loaded before its agents run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from hydra.app.checking import Checking, Surroundings
    from hydra.app.scene import Scene
    from hydra.bench import Bench, Emit, Handle
    from hydra.model import Outcome, RacePlan
    from hydra.sandbox import View
    from hydra.store import RunStore
    from hydra.workspace.dependencies import DependencySource


class Checks:
    """The race's checks; where it has none, nothing of them is even loaded."""

    def __init__(
        self,
        scene: Scene,
        planned: RacePlan,
        store: RunStore,
        view: Callable[[], View],
        dependencies: DependencySource | None,
    ) -> None:
        self._plan = planned
        self._around = partial(surroundings, scene, store, view, dependencies)
        self._loading = trio.Lock()
        self._made: Checking | None = None

    async def baseline(self, emit: Emit) -> None:
        """Once the first agents run."""
        await (await self._load()).baseline(emit)

    async def lane(self, bench: Bench, outcome: Outcome, handle: Handle, emit: Emit) -> Outcome:
        """Once the lane's patch is taken."""
        if not self._plan.checks:
            return outcome
        return await (await self._load()).lane(bench, outcome, handle, emit)

    async def trials(self, outcomes: Sequence[Outcome], emit: Emit, stop: trio.CancelScope) -> None:
        """Once every lane has ended."""
        if self._made is not None:
            await self._made.trials(outcomes, emit, stop)

    @property
    def base_documents(self) -> tuple[Mapping[str, object], ...]:
        """What came of each on the base."""
        return self._made.base_documents if self._made else ()

    async def _load(self) -> Checking:
        async with self._loading:
            if self._made is None:
                # In a thread: the agents' output is not to wait for it.
                await trio.to_thread.run_sync(import_module, "hydra.app.checking")
                from hydra.app.checking import Checking

                self._made = Checking(self._plan, self._around())
            return self._made


def surroundings(
    scene: Scene,
    store: RunStore,
    view: Callable[[], View],
    dependencies: DependencySource | None,
) -> Surroundings:
    """What the checks of a race are put together from."""
    from hydra.app.checking import Surroundings

    return Surroundings(
        repository=scene.repository,
        run_folder=store.folder,
        state=scene.state,
        home=scene.home,
        environ=scene.request.environ,
        extra=scene.config.checks.environment,
        view=view,
        dependencies=dependencies,
        adapters=tuple(scene.adapters.values()),
    )

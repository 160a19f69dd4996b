"""How a race starts: what waits for processes goes on while Python loads what comes after.

A start is half imports and half git, bubblewrap and an interpreter, a few ms each. So git reads
the repository while trio is loaded, and the confinement is tried while the race itself is.
"""

from __future__ import annotations

import time
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from hydra.errors import HydraError
from hydra.git.background import Later
from hydra.git.runner import kill_all
from hydra.race.preflight import RaceInputs, RaceRequest, gather_inputs
from hydra.race.recovery.startup import recover

if TYPE_CHECKING:
    from hydra.race.follower import RaceWatcher
    from hydra.race.run import RaceReport
    from hydra.records.plan import Confinement


GIT_SHUTDOWN_TIMEOUT = 1.0
"""Seconds in which a look that was broken off must have ended; a git on a dead disk never does."""


def start(request: RaceRequest, watcher: RaceWatcher | None = None) -> RaceReport:
    """Runs one race to its end. Raises `HydraError` where it cannot begin."""
    recover(request.environ)
    looking = Later(partial(gather_inputs, request))
    try:
        import trio

        return trio.run(_begin, request, looking, watcher)
    finally:
        # Ctrl-C may have left it at work: each git that is killed may have another after it.
        deadline = time.monotonic() + GIT_SHUTDOWN_TIMEOUT
        while not looking.wait(0.01) and time.monotonic() < deadline:
            kill_all()


async def _begin(
    request: RaceRequest, looking: Later[RaceInputs], watcher: RaceWatcher | None
) -> RaceReport:
    import trio

    from hydra.adapters.probe.sandbox import try_confinement

    looked: RaceInputs | HydraError | None = None
    confinement: Confinement | None = None

    async def look() -> None:
        nonlocal looked
        try:
            # A git that hangs holds no Ctrl-C up.
            looked = await trio.to_thread.run_sync(looking.result, abandon_on_cancel=True)
        except HydraError as refused:  # a nursery would wrap it into an exception group
            looked = refused
            nursery.cancel_scope.cancel()

    async def load() -> None:
        await trio.to_thread.run_sync(import_module, "hydra.race.run")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(look)
        nursery.start_soon(load)
        try:
            confinement = await try_confinement(request.environ)
        except HydraError as refused:
            looked = refused
            nursery.cancel_scope.cancel()
    if isinstance(looked, HydraError):
        raise looked
    assert looked is not None
    assert confinement is not None
    from hydra.race.run import run_race

    return await run_race(looked, confinement, watcher)

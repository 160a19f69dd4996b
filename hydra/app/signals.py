"""What a signal means where no race hears it: before it has begun, and once it has ended."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Callable

import trio

from hydra.race import signals


async def cancelled_by_signal(
    scope: trio.CancelScope, tell: Callable[[int], object] = lambda number: None
) -> None:
    """Cancels `scope` at each signal, and tells its number. Until cancelled."""
    with signals() as received:
        async for number in received:
            tell(number)
            scope.cancel()


def end_by(number: int) -> None:
    """Ends Hydra as signal `number` does where nobody hears it.

    Also where it was ignored when Hydra began: to raise it alone would end nothing then, and what
    was to come next would come.
    """
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


async def pending(received: AsyncIterator[int]) -> int:
    """The first signal that has come already; 0 for none. It takes what came, so that nothing
    comes of it any more."""
    first = 0
    with trio.move_on_after(_LOOK):
        async for number in received:
            first = first or number
    return first


_LOOK = 0.01
"""Seconds in which a signal that has come is taken."""


async def heard(
    asked: trio.Event, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Sets `asked` at the first signal. Until cancelled."""
    with signals() as received:
        task_status.started()
        async for _ in received:
            asked.set()


async def cancelled_once(asked: trio.Event, scope: trio.CancelScope) -> None:
    """Cancels `scope` once it was asked for."""
    await asked.wait()
    scope.cancel()

"""The signals that end a race, and what they mean before it has begun or once it has ended."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager
from typing import NoReturn, TypeVar

import trio

from hydra.errors import Refused

T = TypeVar("T")


def ending_signals() -> AbstractContextManager[AsyncIterator[int]]:
    """Receives what ends a race in order: SIGINT, SIGTERM, SIGHUP.

    Not a SIGHUP that is ignored already: who says `nohup hydra race` wants it to outlive the
    terminal. An ignored SIGINT is heard, for a shell ignores it for whatever a script puts in the
    background, and asks nobody.
    """
    signal_numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal_numbers.append(signal.SIGHUP)
    return trio.open_signal_receiver(*signal_numbers)


async def cancelled_by_signal(
    scope: trio.CancelScope, tell: Callable[[int], object] = lambda number: None
) -> None:
    """Cancels `scope` at each signal, and tells its number. Until cancelled."""
    with ending_signals() as received:
        async for number in received:
            tell(number)
            scope.cancel()


class NeverBegun(Exception):
    """The race ends before any agent: by a signal, or as `refused` says."""

    def __init__(self, number: int = 0, refused: Refused | None = None) -> None:
        super().__init__(number, refused)
        self.number = number
        self.refused = refused

    def carry_out(self) -> NoReturn:
        """Ends Hydra by it."""
        if self.refused is not None:
            raise self.refused from None
        _end_by(self.number)
        raise self


async def before_a_race(work: Callable[[], Awaitable[T]]) -> T:
    """What `work` gives. A signal ends it, with all it has started. Raises `NeverBegun`: what is
    `Refused` in there, too."""
    numbers: list[int] = []
    ended: NeverBegun | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(cancelled_by_signal, nursery.cancel_scope, numbers.append)
        try:
            value = await work()
        except Refused as error:  # a nursery would wrap it
            ended = NeverBegun(refused=error)
        nursery.cancel_scope.cancel()
    if numbers:
        raise NeverBegun(numbers[0])
    if ended is not None:
        raise ended
    return value


def _end_by(number: int) -> None:
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


async def wait_for_signal(
    event: trio.Event, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Sets `event` at the first signal. Until cancelled."""
    with ending_signals() as received:
        task_status.started()
        async for _ in received:
            event.set()


async def cancelled_once(event: trio.Event, scope: trio.CancelScope) -> None:
    """Cancels `scope` once it was asked for."""
    await event.wait()
    scope.cancel()

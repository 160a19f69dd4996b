"""What Hydra says to a running agent by its stdin: a queue that never makes the caller wait."""

from __future__ import annotations

import contextlib
from collections import deque

import trio

CAPACITY = 16 * 1024**2
"""Bytes that may wait for an agent that does not read, and one write more: a prompt of any size
gets through."""

_PIECE = 65536


class StdinQueue:
    """Handed to `supervise`, kept by its caller. `write` and `close` are quick and may be called
    at any time, before the start and after the end too, from Trio's own thread."""

    def __init__(self) -> None:
        self._queue: deque[memoryview] = deque()
        self._changed = trio.Event()
        self._closed = False
        self.unsent = 0
        """Bytes that were written here and have not come into the pipe."""
        self.full = False
        """Whether too much was waiting once. Nothing is taken any more from then on: no message is
        left out of the middle."""
        self.gone = False
        """Whether nobody reads any more, or the input has come to its end."""

    def write(self, data: bytes) -> bool:
        """Queues `data`. False where it was not."""
        if self._closed or self.gone:
            return False
        self.full = self.full or self.unsent > CAPACITY
        if self.full:
            return False
        self._queue.append(memoryview(data))
        self.unsent += len(data)
        self._changed.set()
        return True

    def close(self) -> None:
        """The input ends once all that is queued has been read. Idempotent."""
        self._closed = True
        self._changed.set()

    async def feed(self, stream: trio.abc.SendStream) -> None:
        """Sends what is queued, as fast as the agent reads it, and closes the stream at the end.

        A reader that has gone is no error: what is left stays `unsent`.
        """
        try:
            with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await self._send_all(stream)
                await stream.aclose()
        finally:
            self.gone = True

    async def _send_all(self, stream: trio.abc.SendStream) -> None:
        while self._queue or not self._closed:
            if self._queue:
                await self._send_some(stream)
            else:
                self._changed = trio.Event()
                await self._changed.wait()

    async def _send_some(self, stream: trio.abc.SendStream) -> None:
        data = self._queue[0]
        await stream.send_all(data[:_PIECE])
        self.unsent -= min(len(data), _PIECE)
        self._queue.popleft()
        if len(data) > _PIECE:
            self._queue.appendleft(data[_PIECE:])

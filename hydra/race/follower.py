"""Reads a run's events behind the race, in a thread, so that no terminal can hold a lane up."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol, runtime_checkable

from hydra.errors import RecordError
from hydra.records.events import Event, decode

TICK = 0.25

_GONE = (errno.EPIPE, errno.EIO)
_AT_ONCE = 256 * 1024
"""Bytes read together: behind a reader that was held up there may be gigabytes."""


class RaceWatcher(Protocol):
    """What shows a race: a live table, plain lines, or the events themselves."""

    def event(self, event: Event) -> None:
        """One event, in order."""

    def tick(self, mono: float) -> None:
        """A few times a second: seconds since the race started."""

    def close(self) -> None:
        """The race has ended."""


@runtime_checkable
class Copier(Protocol):
    """A watcher that passes the record on as it is: it spares reading and writing each event."""

    def lines(self, data: bytes) -> None:
        """Whole lines of `events.jsonl`, in order."""


class EventFollower:
    """Feeds a watcher from `events.jsonl`. `wake` says that there is more to read."""

    def __init__(self, path: Path, watcher: RaceWatcher) -> None:
        self._path = path
        self._watcher = watcher
        self._take = watcher.lines if isinstance(watcher, Copier) else self._tell
        self._more = threading.Event()
        self._ended = False
        self._offset = 0
        self._started = time.monotonic()
        self._thread: threading.Thread | None = None

    def start(self, on_gone: Callable[[], None]) -> None:
        """Begins to read. `on_gone` is called, in the reader's thread, when nobody watches any
        more: the pipe was closed, the terminal has gone."""
        self._thread = threading.Thread(
            target=self._run, args=(on_gone,), name="hydra-follower", daemon=True
        )
        self._thread.start()

    def wake(self) -> None:
        """There is a new event in the file."""
        self._more.set()

    def finish(self) -> None:
        """Reads to the end and closes the watcher. Waits for a slow reader, as any program does."""
        self._ended = True
        self._more.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self, on_gone: Callable[[], None]) -> None:
        try:
            self._follow()
            self._watcher.close()
        except OSError as error:
            # A full disk under a log ends the log and not the race.
            if error.errno in _GONE:
                on_gone()

    def _follow(self) -> None:
        with self._path.open("rb") as source:
            while True:
                ended = self._ended
                self._more.clear()
                self._read(source.fileno())
                if ended:
                    return
                self._more.wait(TICK)
                self._watcher.tick(time.monotonic() - self._started)

    def _read(self, source: int) -> None:
        # A line that is still being written is seen in part (a write is whole only page by page),
        # so what has no newline yet is read again.
        size = _AT_ONCE
        while data := os.pread(source, size, self._offset):
            whole = data.rfind(b"\n") + 1
            if not whole and len(data) < size:
                return
            size = _AT_ONCE if whole else size * 2
            self._offset += whole
            if whole:
                self._take(data[:whole])

    def _tell(self, lines: bytes) -> None:
        for line in lines.split(b"\n")[:-1]:
            # A line that a disk has spoilt is not shown, and those after it are.
            with suppress(RecordError):
                self._watcher.event(decode(line))

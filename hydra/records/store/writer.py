"""A run's folder while its race runs: made, locked, written, closed."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from hydra.errors import RecordError
from hydra.paths import make_private
from hydra.records.events import Event, decode, encode
from hydra.records.store.files import (
    UNBORN,
    open_append,
    open_lock,
    take_lock,
    write_all,
    write_json,
)

_AT_ONCE = 1000
"""Events of one piece of output that are written together."""

_ALPHABET = "23456789abcdefghijkmnpqrstuvwxyz"
"""In the order in which they sort."""


def new_run_id(now: float | None = None, *, beside: Path | None = None) -> str:
    """A run's id: UTC time, then four characters; sorts by time.

    The first of the four is the part of the second, so that of two runs in one second the later
    one is the latest; the others are random. No run in the folder `beside` ends with the four.
    """
    whole, part = divmod(time.time() if now is None else now, 1)
    stamp = time.strftime("%Y%m%dt%H%M%S", time.gmtime(whole))
    first = _ALPHABET[int(part * len(_ALPHABET))]
    while True:
        ending = "".join((first, *(secrets.choice(_ALPHABET) for _ in range(3))))
        if beside is None or not any(beside.glob(f"*-{ending}")):
            return f"{stamp}-{ending}"


class RunStore:
    """One run's folder, open for writing and locked while this process lives."""

    def __init__(
        self, folder: Path, documents: Mapping[str, Mapping[str, object]] | None = None
    ) -> None:
        """Makes the folder, with `documents` in it, and takes its lock.

        It gets its name last: whenever Hydra is killed, a run that can be found is whole enough
        to be recovered. Raises `OSError` where it cannot be written.
        """
        make_private(folder.parent)
        unborn = folder.with_name(f".{folder.name}{UNBORN}")
        unborn.mkdir(mode=0o700)
        lock = open_lock(unborn)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for name, document in (documents or {}).items():
                write_json(unborn / name, document)
            self._hold(folder, lock, open_append(unborn / "events.jsonl"))
            unborn.rename(folder)
        except BaseException:
            os.close(lock)
            shutil.rmtree(unborn, ignore_errors=True)
            raise

    @classmethod
    def reopen(cls, folder: Path) -> RunStore | None:
        """A run whose Hydra has died, locked, its events ready to be added to.

        None where another Hydra holds it, or has ended or removed it just now.
        """
        lock = take_lock(folder)
        if lock is None:
            return None
        try:
            if (folder / "result.json").exists():
                os.close(lock)
                return None
            _mend(folder / "events.jsonl")
            store = cls.__new__(cls)
            store._hold(folder, lock, open_append(folder / "events.jsonl"))
        except BaseException:
            os.close(lock)
            raise
        return store

    def _hold(self, folder: Path, lock: int, events: int) -> None:
        self.folder, self.events_file = folder, folder / "events.jsonl"
        self.patches = folder / "patches.git"
        """The run's bare repository of patches."""
        self._lock, self._events = lock, events
        self._size = os.fstat(events).st_size
        self._waiting: list[bytes] = []
        self._together = False
        self.lost = 0
        """Events that could not be written (a full disk); the race goes on without them."""
        self.invalid = 0
        """Events whose data is no JSON, which no disk would have taken."""
        self.on_written: Callable[[], None] = lambda: None
        """Called when there is more in the file."""

    def lane_folder(self, lane: str) -> Path:
        """One lane's part of the record, made on first use."""
        folder = self.folder / "lanes" / lane
        make_private(folder)
        return folder

    def append(self, event: Event) -> None:
        """Adds one event. A failure to record never fails a run: it is counted."""
        try:
            self._waiting.append(encode(event))
        except (TypeError, ValueError):
            self.invalid += 1
        if not self._together or len(self._waiting) >= _AT_ONCE:
            self._write()

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is appended inside goes to the file in one write, at the latest at its end.

        For what one piece of an agent's output brings: not to be held over a wait.
        """
        self._together = True
        try:
            yield
        finally:
            self._together = False
            self._write()

    def _write(self) -> None:
        data, self._waiting = b"".join(self._waiting), []
        if not data:
            return
        try:
            write_all(self._events, data)
            self._size += len(data)
        except OSError:  # a full disk
            self._keep_whole(data)
        self.on_written()

    def _keep_whole(self, data: bytes) -> None:
        """No half line before the next event; whole ones stay, a reader may have seen them."""
        number = 0
        with suppress(OSError):
            count = os.fstat(self._events).st_size - self._size
            number = data.rfind(b"\n", 0, max(count, 0)) + 1
            os.ftruncate(self._events, self._size + number)
        self._size += number
        self.lost += data.count(b"\n", number)

    def sync(self) -> None:
        """Puts the events on the disk. Blocks: call it in a thread, at state changes only."""
        os.fdatasync(self._events)

    def write_json(self, name: str, document: Mapping[str, object]) -> None:
        """Replaces one JSON document of the run atomically."""
        write_json(self.folder / name, document)

    def close(self) -> None:
        """Closes the record and lets go of the lock."""
        os.close(self._events)
        os.close(self._lock)


def _mend(events: Path) -> None:
    """Ends a torn last line where the event in it is whole; cuts it off where it is not."""
    with suppress(FileNotFoundError), events.open("r+b") as file:
        data = file.read()
        whole = data.rfind(b"\n") + 1
        if whole == len(data):
            return
        try:
            decode(data[whole:])
            file.write(b"\n")
        except RecordError:
            file.truncate(whole)

"""A run's folder while its race runs: made, locked, written, closed."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from hydra.errors import RecordError
from hydra.events import Event, decode, encode
from hydra.paths import make_private
from hydra.store.files import UNBORN, open_append, open_lock, take_lock, write_all, write_json
from hydra.store.sink import RawSink

_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"


def new_run_id(now: float | None = None) -> str:
    """A run's id: UTC time, then three random characters; sorts by time."""
    stamp = time.strftime("%Y%m%dt%H%M%S", time.gmtime(now))
    return f"{stamp}-{''.join(secrets.choice(_ALPHABET) for _ in range(3))}"


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
            self._hold(unborn, lock)
            unborn.rename(folder)
        except BaseException:
            os.close(lock)
            shutil.rmtree(unborn, ignore_errors=True)
            raise
        self.folder = folder

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
            store._hold(folder, lock)
        except BaseException:
            os.close(lock)
            raise
        return store

    def _hold(self, folder: Path, lock: int) -> None:
        self.folder = folder
        self._lock = lock
        self._events = open_append(folder / "events.jsonl")
        self._size = os.fstat(self._events).st_size
        self.lost = 0
        """Events that could not be written (a full disk); the race goes on without them."""

    @property
    def events_file(self) -> Path:
        """Where the events go, for readers behind."""
        return self.folder / "events.jsonl"

    @property
    def patches(self) -> Path:
        """The run's bare repository of patches."""
        return self.folder / "patches.git"

    def lane_folder(self, lane: str) -> Path:
        """One lane's part of the record, made on first use."""
        folder = self.folder / "lanes" / lane
        make_private(folder)
        return folder

    def append(self, event: Event) -> None:
        """Adds one event. A failure to record never fails a run: it is counted in `lost`."""
        try:
            line = encode(event)
            write_all(self._events, line)
            self._size += len(line)
        except (OSError, TypeError, ValueError):  # a full disk, or data that is no JSON
            self.lost += 1
            with suppress(OSError):
                os.ftruncate(self._events, self._size)  # no half line before the next event

    def sync(self) -> None:
        """Puts the events on the disk. Blocks: call it in a thread, at state changes only."""
        os.fdatasync(self._events)

    def write_json(self, name: str, document: Mapping[str, object]) -> None:
        """Replaces one JSON document of the run atomically."""
        write_json(self.folder / name, document)

    def raw_sink(self, lane: str, attempt: int, stream: str, limit: int) -> RawSink:
        """The open sink for one attempt's `raw.jsonl` or `stderr.txt`, at most `limit` bytes."""
        stem, suffix = {"stdout": ("raw", "jsonl"), "stderr": ("stderr", "txt")}[stream]
        name = f"{stem}.{suffix}" if attempt == 1 else f"{stem}.{attempt}.{suffix}"
        return RawSink(self.lane_folder(lane) / name, limit)

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

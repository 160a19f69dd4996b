"""One lane's raw output on its way to the disk."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from hydra.records.events import Raw
from hydra.records.store.files import open_append, write_all

_PIECE = 1 << 20


class RawSink:
    """One lane's raw output, kept up to a limit: the head, then the tail, and a counted gap.

    The head goes straight to the file. What comes past it goes round in a file of its own, so that
    the last half of the limit is always held; `close` joins it, from its first whole line if it has
    one, behind a line that counts the gap.
    """

    def __init__(self, path: Path, limit: int) -> None:
        self.path = path
        self._room = max(limit // 2, 1)
        self._fd = open_append(path)
        self._offset = 0
        self._ring = -1
        self._past = 0
        self.dropped = 0
        self.failed = 0
        """Writes that did not reach the disk."""

    def write(self, data: bytes) -> Raw | None:
        """Keeps `data`; where it lies, or None once it is in the tail, whose place may move.

        A full disk is counted in `failed` and never raised: a reading must go on.
        """
        try:
            if self._ring >= 0 or self._offset + len(data) > self._room:
                self._write_tail(data)
                return None
            write_all(self._fd, data)
        except OSError:
            self.failed += 1
            with suppress(OSError):
                self._offset = os.fstat(self._fd).st_size  # a part of it may have come through
            return None
        self._offset += len(data)
        return Raw(file=self.path.name, offset=self._offset - len(data), length=len(data))

    @property
    def _tail(self) -> Path:
        return self.path.with_name(f"{self.path.name}.tail")

    def _write_tail(self, data: bytes) -> None:
        if self._ring < 0:
            self._ring = os.open(self._tail, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        view = memoryview(data)
        while view:
            at = self._past % self._room
            count = os.pwrite(self._ring, view[: self._room - at], at)
            self._past += count
            view = view[count:]

    def close(self) -> None:
        """Joins the tail to the head. Idempotent; blocks. What the disk does not take is counted
        in `failed`, and its tail stays."""
        if self._fd < 0:
            return
        try:
            self._join()
        except OSError:
            self.failed += 1
        for fd in (self._fd, self._ring):
            if fd >= 0:
                os.close(fd)
        self._fd = self._ring = -1

    def _join(self) -> None:
        if self._ring < 0:
            return
        place = max(self._past - self._room, 0)
        if place:
            first = self._piece(place)
            cut = (first + self._piece(place + len(first))).find(b"\n") + 1
            self.dropped = place = place + cut if place + cut < self._past else place
            write_all(self._fd, b'\n{"hydra":"gap","bytes":%d}\n' % place)
        while piece := self._piece(place):
            write_all(self._fd, piece)
            place += len(piece)
        self._tail.unlink()

    def _piece(self, place: int) -> bytes:
        """What stands there of all that came past the head, up to where the file begins anew."""
        at = place % self._room
        return os.pread(self._ring, min(_PIECE, self._past - place, self._room - at), at)

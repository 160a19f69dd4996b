"""One lane's raw output on its way to the disk."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from hydra.records.events import Raw
from hydra.records.store.files import open_append, write_all


class RawSink:
    """One lane's raw output, kept up to a limit: the head, then the tail, and a counted gap.

    The head goes straight to the file. Past it, two tail files are filled in turn, so at least a
    quarter of the limit is always held; `close` joins them behind a line that counts the gap.
    """

    def __init__(self, path: Path, limit: int) -> None:
        self.path = path
        self._head_left = limit // 2
        self._tail_size = max(limit // 4, 1)
        self._fd = open_append(path)
        self._offset = 0
        self._tails: list[Path] = []
        self._tail_fd = -1
        self._tail_used = 0
        self._turns = 0
        self.dropped = 0
        self.failed = 0
        """Writes that did not reach the disk."""

    def write(self, data: bytes) -> Raw | None:
        """Keeps `data`; where it lies, or None once it is in the tail, whose place may move.

        A full disk is counted in `failed` and never raised: a reading must go on.
        """
        try:
            return self._keep(data)
        except OSError:
            self.failed += 1
            with suppress(OSError):
                self._offset = os.fstat(self._fd).st_size  # a part of it may have come through
            return None

    def _keep(self, data: bytes) -> Raw | None:
        if len(data) <= self._head_left and not self._turns:
            write_all(self._fd, data)
            place = Raw(file=self.path.name, offset=self._offset, length=len(data))
            self._offset += len(data)
            self._head_left -= len(data)
            return place
        self._write_tail(data)
        return None

    def _write_tail(self, data: bytes) -> None:
        cut = max(len(data) - self._tail_size, 0)
        if cut:
            # What stands before a gap is no part of the tail.
            self.dropped += cut
            while self._tails:
                self._drop_oldest_tail()
        if not self._tails or self._tail_used + len(data) - cut > self._tail_size:
            self._turn_tail()
        write_all(self._tail_fd, data[cut:])
        self._tail_used += len(data) - cut

    def _turn_tail(self) -> None:
        if len(self._tails) == 2:
            self._drop_oldest_tail()
        if self._tail_fd >= 0:
            os.close(self._tail_fd)
        self._turns += 1
        path = self.path.with_name(f"{self.path.name}.tail.{self._turns}")
        self._tails.append(path)
        self._tail_fd = open_append(path)
        self._tail_used = 0

    def _drop_oldest_tail(self) -> None:
        oldest = self._tails.pop(0)
        self.dropped += oldest.stat().st_size
        oldest.unlink()

    def close(self) -> None:
        """Joins the tail to the head. Idempotent; blocks. What the disk does not take is counted
        in `failed`, and its tail files stay."""
        if self._fd < 0:
            return
        if self._tail_fd >= 0:
            os.close(self._tail_fd)
        try:
            self._join()
        except OSError:
            self.failed += 1
        os.close(self._fd)
        self._fd = -1

    def _join(self) -> None:
        if self.dropped:
            write_all(self._fd, b'\n{"hydra":"gap","bytes":%d}\n' % self.dropped)
        for tail in self._tails:
            with tail.open("rb") as source:
                while chunk := source.read(1 << 20):
                    write_all(self._fd, chunk)
            tail.unlink()

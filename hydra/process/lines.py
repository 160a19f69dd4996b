"""Bytes to lines, in bounded memory and linear time."""

from __future__ import annotations

from typing import NamedTuple


class LineBlock(NamedTuple):
    """Whole lines, each with its newline; or a piece of one line that is over the limit.

    Only the stream's last line may lack its newline. `oversized` marks a piece, `last` the piece
    that ends its line. Joining all `data` gives the stream's exact bytes.
    """

    data: bytes
    oversized: bool = False
    last: bool = True


class LineFramer:
    r"""Splits a stream on b"\n" only: agents print U+2028, lone CR and other line ends raw.

    Lines that come together stay together: a million short ones cost no more than their bytes.
    A line over `limit` bytes is handed out in pieces as they come, so that neither memory nor
    time grows with it. A CR before the LF stays: the bytes are the record.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._contents: list[bytes] = []
        self._size = 0
        self._oversized = False

    def feed(self, chunk: bytes) -> list[LineBlock]:
        """What `chunk` completes. A line within one chunk is never too long."""
        blocks = []
        end = chunk.rfind(b"\n") + 1
        start = chunk.find(b"\n") + 1 if self._over(chunk.find(b"\n")) else 0
        if start:
            blocks.append(LineBlock(self._take(chunk[:start]), oversized=True))
        self._oversized = self._oversized and not end
        if start < end:
            blocks.append(LineBlock(self._take(chunk[start:end])))
        if end < len(chunk):
            self._contents.append(chunk[end:])
            self._size += len(chunk) - end
            if self._over(0):
                self._oversized = True
                blocks.append(LineBlock(self._take(b""), oversized=True, last=False))
        return blocks

    def close(self) -> list[LineBlock]:
        """The last line where the stream ended without a newline: it is never lost."""
        if not self._contents and not self._oversized:
            return []
        oversized, self._oversized = self._oversized, False
        return [LineBlock(self._take(b""), oversized=oversized)]

    def _over(self, more: int) -> bool:
        # Once handed out in pieces, a short rest is still a piece of a line over the limit.
        return self._oversized or (bool(self._contents) and self._size + more > self._limit)

    def _take(self, part: bytes) -> bytes:
        data = b"".join((*self._contents, part)) if self._contents else part
        self._contents.clear()
        self._size = 0
        return data

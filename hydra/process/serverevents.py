"""Server-sent events out of a stream of bytes, in bounded memory (HTML standard, 9.2)."""

from __future__ import annotations

from typing import NamedTuple

from hydra.process.framing import LineFramer

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NAME = 100
"""Bytes that a line may have besides its data."""


class ServerEvent(NamedTuple):
    """One event: its type ("" for the usual one) and its data; where that is too long, about how
    many bytes it has."""

    type: str
    data: bytes
    skipped: int = 0


class EventStream:
    """`feed` it the body as it comes. What is over `limit` bytes is skipped and counted."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._framer = LineFramer(limit + _NAME)
        self._first = True
        self._after_cr = False
        self._type = ""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """The events that `chunk` ends. One that the stream breaks off in is never given."""
        if not chunk:
            return []
        if self._after_cr:
            # A line's end may be CR, LF or both, and the two may come apart.
            chunk = chunk.removeprefix(b"\n")
        self._after_cr = chunk.endswith(b"\r")
        events = []
        for block in self._framer.feed(chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")):
            if block.oversized:
                self._take(block.data)
                continue
            for line in block.data[:-1].split(b"\n"):
                if not line and (event := self._ended()) is not None:
                    events.append(event)
                self._field(line)
        return events

    def _field(self, line: bytes) -> None:
        if self._first:
            line = line.removeprefix(_BYTE_ORDER_MARK)
            self._first = False
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._take(value)
        elif name == b"event":
            self._type = value[:200].decode("utf-8", "replace")

    def _take(self, value: bytes) -> None:
        self._size += len(value) + bool(self._data)
        if self._size > self._limit:
            self._data.clear()
        self._data.append(value if self._size <= self._limit else b"")

    def _ended(self) -> ServerEvent | None:
        data, size, type = b"\n".join(self._data), self._size, self._type
        seen = bool(self._data)
        self._data, self._size, self._type = [], 0, ""
        if not seen:
            return None
        return ServerEvent(type, data) if size <= self._limit else ServerEvent(type, b"", size)

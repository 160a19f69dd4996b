"""HTTP to an agent's own server on loopback, and what it answers as lines for the lane's record.

One request a connection, no redirects, nothing but loopback: an agent that prints an address can
make Hydra talk to itself, and to nobody else. No time limit is kept here: an answer that does not
come is silence of the lane, which has its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

import trio

from hydra.process.lines import LineFramer
from hydra.records.agent import ServerCall

AT_ONCE = 32
"""Requests that may be open together; a conversation needs three."""

_ADDRESSES = {
    "127.0.0.1": ("127.0.0.1",),
    "::1": ("::1",),
    "localhost": ("127.0.0.1", "::1"),
}
_CHUNK = 65536
_HEAD = 65536
"""Bytes that the head of an answer may have."""


class _RefusedRequest(Exception):
    """It is not sent, or its answer is not taken; says why."""


class Caller:
    """Sends requests, each in a task of its own, and tells what comes back, a line at a time.

    `tell` gets lines of JSON without a newline (`hydra/adapters/contract.py`, `Call`), none longer
    than `limit` bytes; it must be quick and must not raise.
    """

    def __init__(self, nursery: trio.Nursery, tell: Callable[[bytes], None], limit: int) -> None:
        self._nursery = nursery
        self._tell = tell
        self._limit = limit
        self._open: set[trio.SocketStream] = set()
        self._running = 0
        self._over = False
        self._idle = trio.Event()

    def start(self, request: ServerCall) -> None:
        """Sends `request`; after `hang_up` nothing is sent."""
        if not self._over:
            self._running += 1
            self._nursery.start_soon(self._run, request)

    def hang_up(self) -> None:
        """Closes every connection at once: a server may wait for their end before its own."""
        self._over = True
        for stream in self._open:
            stream.socket.close()

    async def ended(self) -> None:
        """Waits until no request is open."""
        while self._running:
            self._idle = trio.Event()
            await self._idle.wait()

    async def _run(self, request: ServerCall) -> None:
        try:
            if self._running > AT_ONCE:
                raise _RefusedRequest(f"over {AT_ONCE} requests at once")
            await self._exchange(request)
        except (_RefusedRequest, OSError, trio.BrokenResourceError) as problem:
            if not self._over:
                text = (str(problem) or type(problem).__name__)[:500]
                self._tell(_line("http_failed", request, text=text))
        except trio.ClosedResourceError:
            pass  # hung up
        finally:
            self._running -= 1
            self._idle.set()

    async def _exchange(self, request: ServerCall) -> None:
        place = _place(request.url)
        stream = await _connected(place)
        self._open.add(stream)
        try:
            if self._over:
                return
            wire = _Wire(stream)
            status = await wire.ask(request, place)
            if request.events and status in range(200, 300):
                self._say(_line("http", request, status=status, body=None))
                await self._follow(request, wire)
            else:
                body = await wire.body(self._limit)
                self._say(_with(body, "body", "http", request, status=status))
        finally:
            self._open.discard(stream)
            stream.socket.close()

    async def _follow(self, request: ServerCall, wire: _Wire) -> None:
        events = ServerEvents(self._limit)
        while chunk := await wire.more():
            for event in events.feed(chunk):
                named = {"event": event.type} if event.type else {}
                line = _with(event.data, "data", "sse", request, **named)
                size = event.skipped or (len(event.data) if len(line) > self._limit else 0)
                self._say(line if not size else _line("sse_skipped", request, bytes=size))
        self._say(_line("sse_end", request))

    def _say(self, line: bytes) -> None:
        if len(line) > self._limit:
            raise _RefusedRequest(f"the answer is over {self._limit} bytes")
        if not self._over:
            self._tell(line)


class _Wire:
    """One connection: h11 over a stream."""

    def __init__(self, stream: trio.SocketStream) -> None:
        import h11  # only a lane that calls a server pays for it

        self._h11 = h11
        self._stream = stream
        self._state = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD)

    async def ask(self, request: ServerCall, place: SplitResult) -> int:
        """Sends it, and reads the answer's head: its status."""
        names = {name.lower() for name, _ in request.headers}
        own = [("host", place.netloc), ("connection", "close")]
        own.append(("accept", "text/event-stream" if request.events else "application/json"))
        if request.body or request.method in ("POST", "PUT", "PATCH"):
            own.append(("content-length", str(len(request.body))))
        headers = [*((name, value) for name, value in own if name not in names), *request.headers]
        target = f"{place.path or '/'}{'?' + place.query if place.query else ''}"
        try:
            head = self._h11.Request(method=request.method, target=target, headers=headers)
            parts = [head, self._h11.Data(data=request.body), self._h11.EndOfMessage()]
            sent = b"".join(self._state.send(part) or b"" for part in parts)
        except (self._h11.LocalProtocolError, UnicodeError) as problem:
            raise _RefusedRequest(f"it is no request: {problem}") from problem
        await self._stream.send_all(sent)
        while not isinstance(event := await self._next(), self._h11.Response):
            if not isinstance(event, self._h11.InformationalResponse):
                raise _RefusedRequest("the connection ended without an answer")
        return int(event.status_code)

    async def more(self) -> bytes:
        """The next part of the body; empty at its end."""
        while True:
            event = await self._next()
            if not isinstance(event, self._h11.Data):
                return b""
            if event.data:
                return bytes(event.data)

    async def body(self, limit: int) -> bytes:
        """All of the body. Raises where it is over `limit` bytes."""
        parts, size = [], 0
        while part := await self.more():
            size += len(part)
            if size > limit:
                raise _RefusedRequest(f"the answer is over {limit} bytes")
            parts.append(part)
        return b"".join(parts)

    async def _next(self) -> object:
        try:
            while (event := self._state.next_event()) is self._h11.NEED_DATA:
                self._state.receive_data(await self._stream.receive_some(_CHUNK))
        except self._h11.RemoteProtocolError as problem:
            raise _RefusedRequest(f"the answer broke off or is no HTTP: {problem}") from problem
        return event


def _place(url: str) -> SplitResult:
    try:
        place = urlsplit(url)
        good = place.scheme == "http" and place.port and place.hostname in _ADDRESSES
    except ValueError:
        good = False
    if not good or "@" in place.netloc:
        raise _RefusedRequest(f"only http:// on this machine's loopback, with a port: {url}")
    return place


async def _connected(place: SplitResult) -> trio.SocketStream:
    *others, last = _ADDRESSES[place.hostname or ""]
    for address in others:
        with suppress(OSError):
            return await trio.open_tcp_stream(address, place.port or 0)
    return await trio.open_tcp_stream(last, place.port or 0)


def _with(data: bytes, field: str, kind: str, request: ServerCall, **more: object) -> bytes:
    """A line with `data` under `field`: as JSON where it is that, else as text; null for none."""
    try:
        return _line(kind, request, **more, **{field: json.loads(data) if data else None})
    except (ValueError, RecursionError):
        return _line(kind, request, **more, **{field: data.decode("utf-8", "replace")})


def _line(kind: str, request: ServerCall, **more: object) -> bytes:
    return json.dumps({"hydra": kind, "id": request.id, **more}).encode()


# ---- Server-sent events out of a stream of bytes, in bounded memory (HTML standard, 9.2).

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NAME = 100
"""Bytes that a line may have besides its data."""


class ServerEvent(NamedTuple):
    """One event: its type ("" for the usual one) and its data; where that is too long, about how
    many bytes it has."""

    type: str
    data: bytes
    skipped: int = 0


class ServerEvents:
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

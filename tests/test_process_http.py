"""Requests to a server on loopback: real sockets, an answer of any kind, and lines of it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from hydra.process.http import Caller, HttpRequest, ServerEvent, ServerEvents

Answer = Callable[[trio.SocketStream], Awaitable[None]]
LIMIT = 1000


class Told:
    """What comes back, and a barrier: `until` a line of some kind has come."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self._more = trio.Event()

    def take(self, line: bytes) -> None:
        assert b"\n" not in line
        self.lines.append(json.loads(line))
        self._more.set()

    async def until(self, kind: str) -> dict[str, Any]:
        with trio.fail_after(20):
            while True:
                for line in self.lines:
                    if line["hydra"] == kind:
                        return line
                self._more = trio.Event()
                await self._more.wait()


class Server:
    """Answers every connection in the same way; `asked` is what each one sent."""

    def __init__(self, answer: Answer) -> None:
        self.contents: list[bytes] = []
        self.closed = trio.Event()
        self._answer = answer

    async def serve(self, task_status: trio.TaskStatus[int]) -> None:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listeners[0].socket.getsockname()[1]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(trio.serve_listeners, self._serve_connection, listeners))
            task_status.started(port)

    async def _serve_connection(self, stream: trio.SocketStream) -> None:
        self.contents.append(await stream.receive_some(65536))
        await self._answer(stream)
        await stream.aclose()

    async def watch(self, stream: trio.SocketStream) -> None:
        """Waits until the other side has hung up."""
        while await stream.receive_some(1024):
            pass
        self.closed.set()


async def said(*parts: bytes, stream: trio.SocketStream) -> None:
    for part in parts:
        await stream.send_all(part)


def answering(*parts: bytes) -> Server:
    async def answer(stream: trio.SocketStream) -> None:
        await said(*parts, stream=stream)

    return Server(answer)


def plainly(body: bytes, status: int = 200) -> Server:
    return answering(b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n\r\n" % (status, len(body)), body)


def events(*parts: bytes, chunked: bool = False) -> Server:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    if not chunked:
        return answering(head + b"\r\n", *parts)
    body = [b"%x\r\n%s\r\n" % (len(part), part) for part in parts]
    return answering(head + b"transfer-encoding: chunked\r\n\r\n", *body)


async def ask(server: Server, **document: Any) -> list[dict[str, Any]]:
    """One request to its end, and all that was told."""
    item = Told()
    async with trio.open_nursery() as nursery:
        port = await nursery.start(server.serve)
        caller = Caller(nursery, item.take, LIMIT)
        url = document.pop("url", "http://127.0.0.1:PORT/a?b=c").replace("PORT", str(port))
        caller.start(
            HttpRequest(document.pop("id", "one"), document.pop("method", "GET"), url, **document)
        )
        with trio.fail_after(20):
            await caller.ended()
        nursery.cancel_scope.cancel()
    return item.lines


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"", None),
        (b"not json", "not json"),
        (b"[" * 900, "[" * 900),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"two\nlines", "two\nlines"),
    ],
)
async def test_what_is_no_json_is_text(body: bytes, shown: object) -> None:
    (line,) = await ask(plainly(body, 404))
    assert (line["status"], line["body"]) == (404, shown)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
async def test_loopback_has_its_names(host: str) -> None:
    (line,) = await ask(plainly(b"1"), url=f"http://{host}:PORT/")
    assert (line["hydra"], line["body"]) == ("http", 1)


@pytest.mark.parametrize(
    "url",
    [
        "http://192.0.2.1:PORT/",
        "http://example.com:PORT/",
        "http://127.0.0.1.example.com:PORT/",
        "http://127.0.0.1@192.0.2.1:PORT/",
        "http://u:p@127.0.0.1:PORT/",
        "http://0.0.0.0:PORT/",
        "http://127.0.0.2:PORT/",
        "https://127.0.0.1:PORT/",
        "file:///etc/passwd",
        "http://127.0.0.1/",
        "http://127.0.0.1:99999/",
        "http://[::1:PORT/",
        "",
    ],
)
async def test_anything_else_is_refused(url: str) -> None:
    server = plainly(b"1")
    (line,) = await ask(server, url=url)
    assert line["hydra"] == "http_failed"
    assert "loopback" in line["text"]
    assert server.contents == []


async def test_a_redirect_is_an_answer_and_not_followed() -> None:
    server = answering(
        b"HTTP/1.1 302 X\r\nlocation: http://example.com/\r\ncontent-length: 0\r\n\r\n"
    )
    (line,) = await ask(server)
    assert (line["hydra"], line["status"], len(server.contents)) == ("http", 302, 1)


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ((b"SSH-2.0-OpenSSH\r\n",), "no HTTP"),
        ((b"",), "ended|broke off|no HTTP"),
        ((b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n", b"half"), "broke off"),
        ((b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000,), "broke off|no HTTP"),
        ((b"HTTP/1.1 200 OK\r\ncontent-length: 2000\r\n\r\n", b"z" * 2000), "over 1000 bytes"),
        ((b"HTTP/1.1 200 OK\r\ncontent-length: 990\r\n\r\n", b"z" * 990), "over 1000 bytes"),
    ],
)
async def test_a_bad_answer_is_said(parts: tuple[bytes, ...], why: str) -> None:
    (line,) = await ask(answering(*parts))
    assert line["hydra"] == "http_failed"
    assert any(term in line["text"] for term in why.split("|")), line["text"]


async def test_nobody_there_is_said() -> None:
    item = Told()
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listeners[0].socket.getsockname()[1]
    await listeners[0].aclose()
    async with trio.open_nursery() as nursery:
        Caller(nursery, item.take, LIMIT).start(
            HttpRequest("x", "GET", f"http://127.0.0.1:{port}/")
        )
    assert [line["hydra"] for line in item.lines] == ["http_failed"]


@pytest.mark.parametrize("bad", [{"method": "GET X"}, {"headers": (("a", "b\r\nc: d"),)}])
async def test_what_is_no_request_is_not_sent(bad: dict[str, Any]) -> None:
    server = plainly(b"1")
    (line,) = await ask(server, **bad)
    assert "no request" in line["text"]
    assert all(content == b"" for content in server.contents)


async def test_an_event_that_is_too_long_is_skipped_and_the_next_one_is_not() -> None:
    # In UTF-8 it fits; as a line of JSON it is three times as long.
    long, wide = b"data: " + b"x" * 5000, b"data: " + "\u20ac".encode() * 300
    lines = await ask(events(long + b"\n\n", wide + b"\n\ndata: 3\n\n"), events=True)
    shown = [{k: v for k, v in line.items() if k not in ("hydra", "id")} for line in lines]
    assert shown == [
        {"status": 200, "body": None},
        {"bytes": 5000},
        {"bytes": 900},
        {"data": 3},
        {},
    ]


async def test_events_that_are_refused_are_an_ordinary_answer() -> None:
    (line,) = await ask(plainly(b'{"name":"Unauthorized"}', 401), events=True)
    assert (line["hydra"], line["status"]) == ("http", 401)
    assert line["body"] == {"name": "Unauthorized"}


async def test_hanging_up_closes_what_is_open_and_says_nothing() -> None:
    item = Told()

    async def answer(stream: trio.SocketStream) -> None:
        await said(b"HTTP/1.1 200 OK\r\n\r\ndata: 1\n\n", stream=stream)
        await server.watch(stream)

    server = Server(answer)
    async with trio.open_nursery() as nursery:
        port = await nursery.start(server.serve)
        caller = Caller(nursery, item.take, LIMIT)
        caller.start(HttpRequest("x", "GET", f"http://127.0.0.1:{port}/", events=True))
        await item.until("sse")
        caller.hang_up()
        with trio.fail_after(20):
            await server.closed.wait()
            await caller.ended()
        caller.start(HttpRequest("y", "GET", f"http://127.0.0.1:{port}/"))
        await caller.ended()
        nursery.cancel_scope.cancel()
    assert [line["hydra"] for line in item.lines] == ["http", "sse"]
    assert len(server.contents) == 1


async def test_there_are_only_so_many_at_once() -> None:
    item = Told()
    waiting = trio.Event()

    async def answer(stream: trio.SocketStream) -> None:
        await waiting.wait()

    server = Server(answer)
    async with trio.open_nursery() as nursery:
        port = await nursery.start(server.serve)
        caller = Caller(nursery, item.take, LIMIT)
        for number in range(40):
            caller.start(HttpRequest(str(number), "GET", f"http://127.0.0.1:{port}/"))
        await item.until("http_failed")
        assert "32 requests" in item.lines[0]["text"]
        waiting.set()
        await caller.ended()
        nursery.cancel_scope.cancel()


# --- events out of bytes ---------------------------------------------------------------------


def test_fields_comments_and_the_byte_order_mark() -> None:
    stream = (
        b"\xef\xbb\xbfdata:  two\ndata\nid: 7\nretry: 1\n: note\nother: x\n\nevent: e\n\ndata\n\n"
    )
    assert ServerEvents(99).feed(stream) == [ServerEvent("", b" two\n"), ServerEvent("", b"")]


LINES = st.sampled_from(
    [b"data: a", b"data:b", b"event: e", b":", b"", b"data: " + b"x" * 30, b"data:" + b"y" * 130]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(st.lists(st.tuples(LINES, ENDS), max_size=20), st.lists(st.integers(0, 200), max_size=9))
def test_it_does_not_matter_where_it_is_cut(
    parts: list[tuple[bytes, bytes]], cuts: list[int]
) -> None:
    # An LF that follows a CR belongs to it, so such a pair is one end.
    whole = b"".join(line + end for line, end in parts)
    at = [0, *sorted(cut for cut in cuts if cut <= len(whole)), len(whole)]
    stream = ServerEvents(20)
    cut = [event for a, b in pairwise(at) for event in stream.feed(whole[a:b])]
    assert [_seen(event) for event in cut] == [_seen(e) for e in ServerEvents(20).feed(whole)]
    assert all(len(event.data) <= 20 for event in cut)


def _seen(event: ServerEvent) -> tuple[str, bytes, bool]:
    return event.type, event.data, event.skipped > 20

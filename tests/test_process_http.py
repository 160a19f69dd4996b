"""Requests to a server on loopback: real sockets, an answer of any kind, and lines of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from hydra.process.http import Caller, ServerEvent, ServerEvents
from hydra.records.agent import ServerCall

Answer = Callable[[trio.SocketStream], Awaitable[None]]
LIMIT = 1000
HEAD = b"HTTP/1.1 200 OK\r\n"


class Meeting:
    """A server that answers every connection in the same way, a caller, and what comes back."""

    def __init__(self, answer: Answer) -> None:
        self.lines: list[dict[str, Any]] = []
        self.contents: list[bytes] = []
        self.port = 0
        self.caller: Caller
        self._answer = answer
        self._more = trio.Event()

    def take(self, line: bytes) -> None:
        assert b"\n" not in line
        self.lines.append(json.loads(line))
        self._more.set()

    async def until(self, kind: str) -> None:
        while kind not in [line["hydra"] for line in self.lines]:
            self._more = trio.Event()
            await self._more.wait()

    async def serve(self, stream: trio.SocketStream) -> None:
        self.contents.append(await stream.receive_some(65536))
        await self._answer(stream)
        await stream.aclose()

    def ask(self, id: str = "one", method: str = "GET", url: str = "", **more: Any) -> None:
        url = (url or "http://127.0.0.1:PORT/a?b=c").replace("PORT", str(self.port))
        self.caller.start(ServerCall(id, method, url, **more))


@asynccontextmanager
async def meeting(answer: Answer) -> AsyncIterator[Meeting]:
    item = Meeting(answer)
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
            item.port = listeners[0].socket.getsockname()[1]
            nursery.start_soon(partial(trio.serve_listeners, item.serve, listeners))
            item.caller = Caller(nursery, item.take, LIMIT)
            yield item
            await item.caller.ended()
            nursery.cancel_scope.cancel()


def answering(*parts: bytes) -> Answer:
    async def answer(stream: trio.SocketStream) -> None:
        for part in parts:
            await stream.send_all(part)

    return answer


def plainly(body: bytes, status: int = 200) -> Answer:
    return answering(b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n\r\n" % (status, len(body)), body)


async def ask(answer: Answer, **request: Any) -> list[dict[str, Any]]:
    """One request to its end, and all that was told."""
    async with meeting(answer) as item:
        item.ask(**request)
    if "method" in request or "headers" in request:  # what is no request is not sent
        assert all(content == b"" for content in item.contents)
    return item.lines


async def test_what_is_no_json_is_text() -> None:
    for body, shown in (
        (b"", None),
        (b"not json", "not json"),
        (b"[" * 900, "[" * 900),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"two\nlines", "two\nlines"),
    ):
        (line,) = await ask(plainly(body, 404))
        assert (line["status"], line["body"]) == (404, shown)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
async def test_loopback_has_its_names(host: str) -> None:
    (line,) = await ask(plainly(b"1"), url=f"http://{host}:PORT/")
    assert (line["hydra"], line["body"]) == ("http", 1)


ELSEWHERE = (
    *("http://192.0.2.1:PORT/", "http://example.com:PORT/", "http://127.0.0.1.example.com:PORT/"),
    *("http://127.0.0.1@192.0.2.1:PORT/", "http://u:p@127.0.0.1:PORT/", "http://0.0.0.0:PORT/"),
    *("http://127.0.0.2:PORT/", "https://127.0.0.1:PORT/", "file:///etc/passwd"),
    *("http://127.0.0.1/", "http://127.0.0.1:99999/", "http://[::1:PORT/", "x"),
)


@pytest.mark.parametrize("url", ELSEWHERE)
async def test_anything_else_is_refused(url: str) -> None:
    async with meeting(plainly(b"1")) as item:
        item.ask(url=url)
    (line,) = item.lines
    assert (line["hydra"], "loopback" in line["text"]) == ("http_failed", True)
    assert item.contents == []


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ((b"SSH-2.0-OpenSSH\r\n",), "no HTTP"),
        ((b"",), "ended|broke off|no HTTP"),
        ((HEAD + b"content-length: 10\r\n\r\n", b"half"), "broke off"),
        ((HEAD + b"x: " + b"y" * 200_000,), "broke off|no HTTP"),
        ((HEAD + b"content-length: 2000\r\n\r\n", b"z" * 2000), "over 1000 bytes"),
        ((HEAD + b"content-length: 990\r\n\r\n", b"z" * 990), "over 1000 bytes"),
    ],
)
async def test_a_bad_answer_is_said(parts: tuple[bytes, ...], why: str) -> None:
    (line,) = await ask(answering(*parts))
    assert line["hydra"] == "http_failed"
    assert any(term in line["text"] for term in why.split("|")), line["text"]


async def test_what_is_not_followed_not_there_or_not_sent() -> None:
    elsewhere = b"location: http://example.com/\r\ncontent-length: 0\r\n\r\n"
    async with meeting(answering(b"HTTP/1.1 302 X\r\n" + elsewhere)) as item:
        item.ask()
    (line,) = item.lines
    assert (line["hydra"], line["status"], len(item.contents)) == ("http", 302, 1)
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listeners[0].socket.getsockname()[1]
    await listeners[0].aclose()
    (line,) = await ask(plainly(b"1"), url=f"http://127.0.0.1:{port}/")
    assert line["hydra"] == "http_failed"
    for bad in ({"method": "GET X"}, {"headers": (("a", "b\r\nc: d"),)}):
        (line,) = await ask(plainly(b"1"), **bad)
        assert "no request" in line["text"]


async def test_an_event_that_is_too_long_is_skipped_and_the_next_one_is_not() -> None:
    # In UTF-8 it fits; as a line of JSON it is three times as long.
    long, wide = b"data: " + b"x" * 5000, b"data: " + "\u20ac".encode() * 300
    parts = (long + b"\n\n", wide + b"\n\ndata: 3\n\n")
    type = b"content-type: text/event-stream\r\n"
    chunks = (b"%x\r\n%s\r\n" % (len(part), part) for part in (*parts, b""))
    for answer in (
        answering(HEAD + type + b"\r\n", *parts),
        answering(HEAD + type + b"transfer-encoding: chunked\r\n\r\n", *chunks),
    ):
        lines = await ask(answer, events=True)
        shown = [{k: v for k, v in line.items() if k not in ("hydra", "id")} for line in lines]
        first = {"status": 200, "body": None}
        assert shown == [first, {"bytes": 5000}, {"bytes": 900}, {"data": 3}, {}]
    (line,) = await ask(plainly(b'{"name":"Unauthorized"}', 401), events=True)  # are an answer
    assert (line["hydra"], line["status"], line["body"]) == ("http", 401, {"name": "Unauthorized"})


async def test_hanging_up_closes_what_is_open_and_says_nothing() -> None:
    closed = trio.Event()

    async def answer(stream: trio.SocketStream) -> None:
        await stream.send_all(HEAD + b"\r\ndata: 1\n\n")
        while await stream.receive_some(1024):
            pass
        closed.set()

    async with meeting(answer) as item:
        item.ask(events=True)
        await item.until("sse")
        item.caller.hang_up()
        await closed.wait()
        await item.caller.ended()
        item.ask()
    assert [line["hydra"] for line in item.lines] == ["http", "sse"]
    assert len(item.contents) == 1


async def test_there_are_only_so_many_at_once() -> None:
    waiting = trio.Event()

    async def answer(stream: trio.SocketStream) -> None:
        await waiting.wait()

    async with meeting(answer) as item:
        for number in range(40):
            item.ask(str(number))
        await item.until("http_failed")
        assert "32 requests" in item.lines[0]["text"]
        waiting.set()


# --- events out of bytes -------------------------------------------------------------------------


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

"""A conversation with a running agent: what its adapter wants done is carried out and recorded.

The adapter's side is pure (`Conversation`); what goes out is here: to the agent's stdin, to its own
server on loopback, and the word that it may end. Nothing here ever waits for the agent.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence

import trio

from hydra.adapters.contract import Act, CloseInput, Conversation, Finish, Write
from hydra.log import get_logger
from hydra.process.control import FINISHED, ProcessControl
from hydra.process.http import Caller
from hydra.process.limits import finished_graces
from hydra.process.sink import RawSink
from hydra.process.stdin_queue import StdinQueue
from hydra.race.output import OutputReader
from hydra.records.agent import ServerCall
from hydra.records.request import Limits
from hydra.redaction import Redactor

_log = get_logger(__name__)

OWN_END = 2.0
"""Seconds for an agent that is talked to by its stdin to end by itself once that has ended."""
DRAIN_SECONDS = 1.0
"""Seconds for what an agent's server had still sent when the agent ended."""

_SECRET_HEADERS = frozenset(("authorization", "proxy-authorization", "cookie", "x-api-key"))


class ConversationDriver:
    """One attempt's conversation. `begin` it once there is a nursery."""

    def __init__(
        self,
        conversation: Conversation,
        *,
        control: ProcessControl,
        limits: Limits,
        sent: SentLog,
        warn: Callable[[str], None],
    ) -> None:
        self.conversation = conversation
        self.queue = StdinQueue()
        self.finished = False
        """Whether the conversation said that the agent's work is done."""
        self._control = control
        self._limits = limits
        self._sent = sent
        self._warn = warn
        self._warned = False
        self._wrote = False
        self._nursery: trio.Nursery | None = None
        self._caller: Caller | None = None

    def begin(self, nursery: trio.Nursery, reader: OutputReader) -> None:
        """Its first acts, and from now on those after each of `reader`'s lines.

        Calls are made in `nursery`; what a server answers comes to `reader`.
        """
        reader.after_line = self.dispatch
        self._nursery = nursery
        self._caller = Caller(nursery, reader.feed_line, self._limits.line_bytes)
        self.dispatch()

    def dispatch(self) -> None:
        """Does what the conversation wants since it was last asked."""
        for act in self._next_acts():
            match act:
                case Write(data):
                    self._write(data)
                case CloseInput():
                    self._sent.add("close_input")
                    self.queue.close()
                case ServerCall():
                    self._call(act)
                case Finish():
                    self._finish()

    def close(self) -> None:
        """Hydra ends the agent: connections are closed first, then its stdin."""
        if self._caller is not None:
            self._caller.hang_up()
        self.queue.close()

    async def drain(self) -> None:
        """The agent has ended: what its server had still sent is taken."""
        if self._caller is not None:
            with trio.move_on_after(DRAIN_SECONDS):
                await self._caller.ended()
        self.close()
        remaining = self.queue.unsent
        if remaining:
            self._sent.add("unsent", bytes=remaining)
        if self.queue.full:
            self._warn_once(f"it did not read what it was told: {remaining} bytes were left")

    def _next_acts(self) -> Sequence[Act]:
        try:
            return tuple(self.conversation.acts())
        except Exception as bug:
            # An adapter's mistake costs this answer; the lane's limits see to the rest.
            _log.debug("the adapter failed on what to answer", exc_info=True)
            self._warn_once(f"the adapter failed on what to answer: {type(bug).__name__}: {bug}")
            return ()

    def _write(self, data: bytes) -> None:
        self._wrote = True
        if self.queue.write(data):
            self._sent.add("write", text=data.decode("utf-8", "replace"))

    def _call(self, call: ServerCall) -> None:
        assert self._caller is not None
        _log.debug("its server is called", id=call.id, method=call.method, url=call.url)
        headers = {k: "[redacted]" if k.lower() in _SECRET_HEADERS else v for k, v in call.headers}
        body = call.body.decode("utf-8", "replace")
        request_fields = {"id": call.id, "method": call.method, "url": call.url}
        self._sent.add("call", **request_fields, headers=headers, body=body)
        self._caller.start(call)

    def _finish(self) -> None:
        if self.finished or self._nursery is None:
            return
        self.finished = True
        _log.info("the conversation is finished")
        self._sent.add("finish")
        self._control.expect(FINISHED)
        self.close()
        self._nursery.start_soon(self._end)

    async def _end(self) -> None:
        if self._wrote:
            # For most the end of their stdin is the word to go.
            await trio.sleep(OWN_END)
        self._control.stop(FINISHED, graces=finished_graces(self._limits))

    def _warn_once(self, text: str) -> None:
        if not self._warned:
            self._warned = True
            self._warn(text)


class SentLog:
    """What Hydra says to an agent, for the record: one JSON object a line, without secrets."""

    def __init__(self, sink: RawSink, redactor: Redactor) -> None:
        self._sink = sink
        self._redactor = redactor

    def add(self, act: str, **fields: object) -> None:
        """One act, and when."""
        line = json.dumps({"act": act, "wall": round(time.time(), 6), **fields})
        clean, _ = self._redactor.redact(line.encode() + b"\n")
        self._sink.write(clean)

"""A conversation with a running agent: what its adapter wants done is carried out and recorded.

The adapter's side is pure (`Conversation`); what goes out is here: to the agent's stdin, to its own
server on loopback, and the word that it may end. Nothing here ever waits for the agent.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence

import trio

from hydra.adapters.contract import Act, Call, CloseInput, Conversation, Finish, Write
from hydra.model import Limits
from hydra.process import FINISHED, Caller, Control, Inlet, Request
from hydra.reading import Reader, Sink
from hydra.secrets import Redactor

OWN_END = 2.0
"""Seconds for an agent that is talked to by its stdin to end by itself once that has ended."""
GRACES = (3.0, 2.0)
"""After INT and TERM, where an agent's work is done; at most the limits' own."""
REST = 1.0
"""Seconds for what an agent's server had still sent when the agent ended."""

_KEYS = frozenset(("authorization", "proxy-authorization", "cookie", "x-api-key"))


class Talk:
    """One attempt's conversation. `begin` it once there is a nursery."""

    def __init__(
        self,
        conversation: Conversation,
        *,
        control: Control,
        limits: Limits,
        sent: Sent,
        warn: Callable[[str], None],
    ) -> None:
        self.conversation = conversation
        self.inlet = Inlet()
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

    def begin(self, nursery: trio.Nursery, reader: Reader) -> None:
        """Its first acts, and from now on those after each of `reader`'s lines.

        Calls are made in `nursery`; what a server answers comes to `reader`.
        """
        reader.after_line = self.act
        self._nursery = nursery
        self._caller = Caller(nursery, reader.told, self._limits.line_bytes)
        self.act()

    def act(self) -> None:
        """Does what the conversation wants since it was last asked."""
        for act in self._wanted():
            match act:
                case Write(data):
                    self._write(data)
                case CloseInput():
                    self._sent.add("close_input")
                    self.inlet.close()
                case Call():
                    self._call(act)
                case Finish():
                    self._finish()

    def hang_up(self) -> None:
        """Hydra ends the agent: connections are closed first, then its stdin."""
        if self._caller is not None:
            self._caller.hang_up()
        self.inlet.close()

    async def rest(self) -> None:
        """The agent has ended: what its server had still sent is taken."""
        if self._caller is not None:
            with trio.move_on_after(REST):
                await self._caller.ended()
        self.hang_up()
        left = self.inlet.unsent
        if left:
            self._sent.add("unsent", bytes=left)
        if self.inlet.full:
            self._warn_once(f"it did not read what it was told: {left} bytes were left")

    def _wanted(self) -> Sequence[Act]:
        try:
            return tuple(self.conversation.acts())
        except Exception as bug:
            # An adapter's mistake costs this answer; the lane's limits see to the rest.
            self._warn_once(f"the adapter failed on what to answer: {type(bug).__name__}: {bug}")
            return ()

    def _write(self, data: bytes) -> None:
        self._wrote = True
        if self.inlet.write(data):
            self._sent.add("write", text=data.decode("utf-8", "replace"))

    def _call(self, call: Call) -> None:
        assert self._caller is not None
        headers = {k: "[redacted]" if k.lower() in _KEYS else v for k, v in call.headers}
        body = call.body.decode("utf-8", "replace")
        told = {"id": call.id, "method": call.method, "url": call.url}
        self._sent.add("call", **told, headers=headers, body=body)
        self._caller.start(Request(*call))

    def _finish(self) -> None:
        if self.finished or self._nursery is None:
            return
        self.finished = True
        self._sent.add("finish")
        self._control.expect(FINISHED)
        self.hang_up()
        self._nursery.start_soon(self._end)

    async def _end(self) -> None:
        if self._wrote:
            # For most the end of their stdin is the word to go.
            await trio.sleep(OWN_END)
        after_int, after_term = self._limits.grace_int, self._limits.grace_term
        graces = (min(GRACES[0], after_int), min(GRACES[1], after_term))
        self._control.stop(FINISHED, graces=graces)

    def _warn_once(self, text: str) -> None:
        if not self._warned:
            self._warned = True
            self._warn(text)


class Sent:
    """What Hydra says to an agent, for the record: one JSON object a line, without secrets."""

    def __init__(self, sink: Sink, redactor: Redactor) -> None:
        self._sink = sink
        self._redactor = redactor

    def add(self, act: str, **fields: object) -> None:
        """One act, and when."""
        line = json.dumps({"act": act, "wall": round(time.time(), 6), **fields})
        clean, _ = self._redactor.redact(line.encode() + b"\n")
        self._sink.write(clean)

"""`pi --mode rpc`: commands go in and events come out, a JSON object a line. Seen in 0.73.1.

A command is answered by `{"type":"response","id","command","success"}`, the session tells its
events in between, and the end of its stdin is the word to go.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from hydra.adapters import event_builders
from hydra.adapters.contract import Act, CloseInput, Write
from hydra.adapters.failures import failure
from hydra.adapters.json_stream import JsonStream, Object, integer, mapping, number, string
from hydra.adapters.pi_family import PiEvents
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus

STATE, PROMPT, STATS, REST = "hydra-state", "hydra-prompt", "hydra-stats", "hydra-rest"
"""The ids of Hydra's commands: what it is, the task, what it cost, whether it is at rest."""


class PiRpcStream(JsonStream):
    """What comes out, read as events; `over` once nothing more will."""

    def __init__(self, label: str) -> None:
        super().__init__()
        self.label = label
        self.over = False
        self.may_rest = False
        """Whether it looks done, and has not said so itself yet."""
        self._events = PiEvents()
        self._refused: AgentEvent | None = None

    def take(self, line: Object) -> list[AgentEvent]:
        """One line."""
        if string(line, "type") == "response":
            return self._answer(line)
        events = self._events.read(line)
        # What follows by itself (a retry, an answer after the summing up) is told at once.
        ended = string(line, "type") in ("agent_end", "agent_settled", "compaction_end")
        self.may_rest = (
            ended and line.get("willRetry") is not True and self._events.ending() is not None
        )
        return events

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """As the session ended; one that never began says why in its answer to the task."""
        ending = self._events.ending() or self._refused
        return [] if ending is None else [ending]

    def _answer(self, line: Object) -> list[AgentEvent]:
        id, good, data = string(line, "id"), line.get("success") is True, mapping(line, "data")
        if id == PROMPT and not good:
            self._refused = failure(string(line, "error"))
            self.over = True
        elif id == STATE and good:
            return self._state(data)
        elif id == REST:
            busy = data.get("isStreaming") is True or data.get("isCompacting") is True
            self.over = self.over or not (busy or self._events.ending() is None)
        elif id == STATS and good:
            return _cost(data)
        return []

    def _state(self, data: Object) -> list[AgentEvent]:
        values = {"type": "session", "id": string(data, "sessionId")}
        return self._events.read(values)


class PiRpc(PiRpcStream):
    """The conversation of one attempt: the task, then what it cost, then the end."""

    def __init__(self, label: str, prompt: str) -> None:
        super().__init__(label)
        self._todo: list[Act] = [_command(STATE, "get_state"), _command(PROMPT, "prompt", prompt)]
        self._closed = False

    def take(self, line: Object) -> list[AgentEvent]:
        """One line, and what is to be said to it."""
        events = super().take(line)
        if self.may_rest:
            self.may_rest = False
            self._todo += [_command(STATS, "get_session_stats"), _command(REST, "get_state")]
        if self.over and not self._closed:
            self._closed = True
            self._todo.append(CloseInput())
        return events

    def acts(self) -> Sequence[Act]:
        """What is to be done since it was last asked, in order."""
        todo, self._todo = self._todo, []
        return todo


def _command(id: str, type: str, message: str | None = None) -> Write:
    values = {"id": id, "type": type, **({} if message is None else {"message": message})}
    return Write(json.dumps(values).encode() + b"\n")


def _cost(data: Object) -> list[AgentEvent]:
    """The session's totals; `input` has no cache in it, and a model without a price costs 0."""
    tokens = mapping(data, "tokens")
    count, out = integer(tokens, "input"), integer(tokens, "output")
    read, written = integer(tokens, "cacheRead") or 0, integer(tokens, "cacheWrite") or 0
    if count is None or out is None:
        return []
    cost = number(data, "cost")
    return event_builders.usage(
        input_tokens=count + read + written,
        output_tokens=out,
        cached_tokens=read,
        **({"cost_usd": cost} if cost else {}),
    )

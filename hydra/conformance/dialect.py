"""What a model service's wire format is to the server: pure functions from turns to bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct, field

from hydra.conformance.script import ModelFault, ModelTurn, ScriptTool

_CALL_ID = re.compile(r"hydra_?(\d+)n\d+$")


class ModelRequest(Struct, frozen=True, kw_only=True):
    """One request for a model's turn, as far as the script depends on it.

    `answered` is the place of the last turn whose tool results the conversation holds, -1 for
    none. `side` marks a request beside the task (a title, a quota check). `unfinished` is the
    call that asks again for a tool that is still running, where the CLI hands such a thing back.
    `schemas` is what is offered with the JSON schema of each; `wants` the schema of the JSON that
    is to be answered, where it is not text. `lines` are what the model said so far, where nothing
    is offered and the agent reads its edits from that.
    """

    conversation: str = ""
    model: str = ""
    cwd: str = ""
    answered: int = -1
    results: int = 0
    stream: bool = True
    side: bool = False
    tools: Mapping[str, frozenset[str]] | None = None
    unfinished: ScriptTool | None = None
    schemas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    wants: Mapping[str, Any] | None = None
    lines: tuple[str, ...] = ()


class Dialect(Protocol):
    """One service's wire format. A new one is a new file and a row in `routes.DIALECTS`."""

    @property
    def agent(self) -> str:
        """The agent that speaks it, as scripts name it, where the path names none."""

    def read(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> ModelRequest:
        """What a request's body and headers ask for. Header names are in lower case."""

    def events(self, turn: ModelTurn, request: ModelRequest, place: int) -> list[bytes]:
        """The turn as a whole event stream, one item an event."""

    def document(self, turn: ModelTurn, request: ModelRequest, place: int) -> dict[str, Any]:
        """The turn as one JSON document, for a request that does not stream."""

    def error(self, fault: ModelFault) -> dict[str, Any]:
        """The body of an HTTP error."""

    def error_event(self, fault: ModelFault) -> bytes:
        """The stream's own way to say that it failed."""

    def overflow(self, request: ModelRequest) -> tuple[int, list[bytes]]:
        """HTTP status and body (status 200: events) that say the conversation is too long."""


def call_id(prefix: str, place: int, number: int) -> str:
    """A tool use's id that says which turn it belongs to: results carry it back.

    Some agents keep letters and digits only (openclaw), others put words before it (gemini).
    """
    return f"{prefix}hydra_{place}n{number}"


def place_of(identifier: str) -> int:
    """The turn that an id of `call_id` belongs to; -1 for another's id."""
    match = _CALL_ID.search(identifier)
    return int(match[1]) if match else -1


def sse(data: Mapping[str, Any]) -> bytes:
    """One server-sent event, named by its own `type` as both services do."""
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()


def pieces(text: str, size: int = 24) -> list[str]:
    """`text` in the small pieces in which a model's words arrive; a large one in 1000 pieces."""
    size = max(size, len(text) // 1000)
    return [text[start : start + size] for start in range(0, len(text), size)]

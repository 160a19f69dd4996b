"""JSON-RPC 2.0, one message a line: what a line is, and how one is written. No I/O, no state."""

from __future__ import annotations

import json
from enum import Enum, auto

from msgspec import Struct

from hydra.adapters.json_fields import Object, integer, mapping, string

METHOD_NOT_FOUND = -32601

_MESSAGE = 2000
"""Characters of an error's message and of its data that are kept."""


class MessageKind(Enum):
    """What a line of the other side is."""

    RESULT = auto()
    ERROR = auto()
    REQUEST = auto()
    NOTIFICATION = auto()
    OTHER = auto()


class RpcError(Struct, frozen=True):
    """An error that the other side answered with. `details` is what its data says beside it."""

    code: int
    message: str
    details: str = ""

    @property
    def text(self) -> str:
        """Both, for a person; what stands in the message already is not said twice."""
        if not self.details or self.details in self.message:
            return self.message
        return f"{self.message}: {self.details}" if self.message else self.details


def kind(line: Object) -> MessageKind:
    """What `line` is; OTHER for what is no message of JSON-RPC."""
    if isinstance(line.get("method"), str):
        return MessageKind.REQUEST if _is_id(line.get("id")) else MessageKind.NOTIFICATION
    if isinstance(line.get("id"), str):  # every id that Hydra gives is a text
        if isinstance(line.get("error"), dict):
            return MessageKind.ERROR
        if "result" in line:
            return MessageKind.RESULT
    return MessageKind.OTHER


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def fault(line: Object) -> RpcError:
    """The error in an answer."""
    error = mapping(line, "error")
    return RpcError(
        code=integer(error, "code") or 0,
        message=string(error, "message")[:_MESSAGE],
        details=_details(error.get("data"))[:_MESSAGE],
    )


def _details(data: object) -> str:
    """The words in an error's data: agents differ in where they put them."""
    if isinstance(data, str):
        return data
    if not isinstance(data, dict):
        return ""
    for key in ("details", "message", "error", "reason"):
        value = data.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, dict):
            return _details(value)
    return ""


def request(id: str, method: str, params: Object) -> bytes:
    """A request, as one line."""
    return _line({"id": id, "method": method, "params": params})


def result(line: Object, value: Object) -> bytes:
    """The answer to the request in `line`."""
    return _line({"id": line.get("id"), "result": value})


def refusal(line: Object, code: int, message: str) -> bytes:
    """An error as the answer to the request in `line`."""
    return _line({"id": line.get("id"), "error": {"code": code, "message": message}})


def _line(fields: Object) -> bytes:
    # As ASCII: whatever a prompt holds, it stays one line, and valid UTF-8.
    return json.dumps({"jsonrpc": "2.0", **fields}).encode("ascii") + b"\n"

"""JSON-RPC 2.0, one message a line: what a line is, and how one is written. No I/O, no state."""

from __future__ import annotations

import json

from hydra.adapters.json_fields import Object, integer, mapping, string

METHOD_NOT_FOUND = -32601

_MESSAGE = 2000
"""Characters of an error's message and of its data that are kept."""


def kind(line: Object) -> str:
    """`result`, `error`, `request` or `notification`; "" for what is no message of JSON-RPC."""
    id = line.get("id")
    if isinstance(line.get("method"), str):
        asks = isinstance(id, str | int) and not isinstance(id, bool)
        return "request" if asks else "notification"
    if not isinstance(id, str):  # every id that Hydra gives is a text
        return ""
    if isinstance(line.get("error"), dict):
        return "error"
    return "result" if "result" in line else ""


def fault(line: Object) -> tuple[int, str]:
    """The code of the error in an answer, and what it says: its message and its data's words, which
    are not said twice."""
    error = mapping(line, "error")
    message, details = string(error, "message")[:_MESSAGE], _details(error.get("data"))[:_MESSAGE]
    texts = [message] if details in message else [message, details]
    return integer(error, "code") or 0, ": ".join(filter(None, texts))


def _details(data: object) -> str:
    """The words in an error's data: agents differ in where they put them."""
    if isinstance(data, str):
        return data
    if not isinstance(data, dict):
        return ""
    values = (data.get(key) for key in ("details", "message", "error", "reason"))
    return _details(
        next((value for value in values if value and isinstance(value, str | dict)), "")
    )


def message(**fields: object) -> bytes:
    """One message, as a line."""
    # As ASCII: whatever a prompt holds, it stays one line, and valid UTF-8.
    return json.dumps({"jsonrpc": "2.0", **fields}).encode("ascii") + b"\n"

"""How a prompt of the Agent Client Protocol ended: its stop reason, or the error in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hydra.adapters import said, service_errors
from hydra.adapters.jsonlines import Object, objects, string
from hydra.adapters.protocols.jsonrpc import Fault
from hydra.events import AgentEvent

AUTH_REQUIRED = -32000
_HTTP = range(400, 600)
_NAMED = re.compile(r"\bHTTP ([45]\d\d)\b")

_STOPS = {
    "max_tokens": ("AgentFailed", "max_tokens", "the model's answer was cut at its longest"),
    "max_turn_requests": ("AgentFailed", "max_turns", "it made as many requests as it may"),
    "refusal": ("AgentFailed", "refusal", "the model refused to go on"),
    "cancelled": ("Interrupted", "cancelled", "it was cancelled"),
}


def stopped(reason: str) -> AgentEvent:
    """The failure that a stop reason other than `end_turn` means."""
    kind, word, text = _STOPS.get(
        reason, ("AgentFailed", "agent_error", f"it stopped for a reason nobody knows: {reason!r}")
    )
    return said.failed(kind, word, text)


def failure(fault: Fault) -> AgentEvent:
    """An error in the place of an answer. Its code may be an HTTP status (Gemini)."""
    if fault.code == AUTH_REQUIRED:
        return said.failed("AuthMissing", "sign_in", fault.text or "it wants a sign-in")
    # `Internal error: ...` is JSON-RPC's own word, and hides a status that follows.
    text = fault.text.removeprefix("Internal error").lstrip(": ") or fault.text
    named = _NAMED.search(text[:1000])
    status = int(named[1]) if named else None
    return service_errors.failure(text, fault.code if fault.code in _HTTP else status)


def no_sign_in(offered: Iterable[Object], said_no: str) -> AgentEvent:
    """It wants a sign-in, and none of those it offers can be done without a person."""
    names = ", ".join(string(one, "name") or string(one, "id") for one in offered)
    text = f"it wants a sign-in, and has {names or 'no way that it names'}"
    return said.failed("AuthMissing", "sign_in", f"{text} ({said_no})" if said_no else text)


def methods(answer: Object) -> list[Object]:
    """The ways to sign in that `initialize` names."""
    return objects(answer, "authMethods")[:20]

"""The one JSON document that `openclaw agent exec --json` ends with. Seen in 2026.9.6."""

from __future__ import annotations

from collections.abc import Mapping

from hydra.adapters import said
from hydra.adapters.jsonlines import (
    Malformed,
    Object,
    decode,
    integer,
    mapping,
    number,
    objects,
    string,
)
from hydra.adapters.service_errors import failure
from hydra.adapters.stream import JsonStream
from hydra.events import AgentEvent
from hydra.model import ExitStatus

_EDITS = frozenset({"edit", "write", "apply_patch"})
_TOOLS_NAMED = 20


class OpenClawDocument(JsonStream):
    """One attempt's document, which comes in several lines: nothing is told before its end."""

    label = "OpenClaw"

    LARGEST = 4_000_000
    """Bytes of it that are held; a longer one is no document of OpenClaw's."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[bytes] = []
        self._held = 0

    def take(self, line: Object) -> list[AgentEvent]:
        """The whole document."""
        events = [said.session(session=string(line, "sessionId"), model=string(line, "model"))]
        if "status" not in line and "ok" not in line:
            return []
        self.understood += 1
        tools = mapping(line, "toolSummary")
        events += _tools(tools)
        final = string(line, "final")
        events += said.message(final)
        events += _usage(line)
        status = string(line, "status")
        if status == "timeout":
            return [*events, said.failed("AgentFailed", "budget", "its own time limit ended it")]
        if status != "ok" or line.get("ok") is not True:
            return [*events, failure(_why(line))]
        edits = string(mapping(tools, "unresolvedError"), "toolName") in _EDITS
        turns = integer(line, "assistantTurns")
        return [
            *events,
            said.completed(final, turns=turns, denials=[], failed_items=int(edits)),
        ]

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        """One line of it, kept until the end."""
        if self._held <= self.LARGEST:
            self._lines.append(line)
            self._held += len(line) + 1
        return []

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """All of what it says, where that is one whole document."""
        if self._held > self.LARGEST:
            return []
        try:
            document = decode(b" ".join(line.strip(b"\r") for line in self._lines))
        except Malformed:
            return []
        return [] if document is None else self.take(document)


def _tools(tools: Object) -> list[AgentEvent]:
    calls = integer(tools, "calls")
    names = tools.get("tools")
    if not calls:
        return []
    told = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    text = f"{calls} calls of tools: {', '.join(told[:_TOOLS_NAMED])}"
    return [said.progress("notice", type="tools", text=text)]


def _usage(document: Object) -> list[AgentEvent]:
    """Its `input` has no cache reads and writes in it."""
    usage = mapping(document, "usage")
    held, read = integer(usage, "input"), integer(usage, "cacheRead")
    total = None if held is None else held + (read or 0) + (integer(usage, "cacheWrite") or 0)
    cost = number(document, "costUsd") or number(mapping(usage, "cost"), "total")
    return said.usage(
        input_tokens=total,
        output_tokens=integer(usage, "output"),
        cached_tokens=read,
        cost_usd=cost or None,
    )


def _why(document: Object) -> str:
    text = string(mapping(document, "error"), "message")
    told = [string(part, "text") for part in objects(document, "payloads")]
    return text or "\n".join(filter(None, told)) or string(document, "status")

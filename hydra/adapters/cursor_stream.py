"""Cursor's `stream-json`, as its documentation shows it; never seen in a run of the real CLI."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from hydra.adapters import said
from hydra.adapters.jsonlines import Object, first, integer, mapping, objects, string
from hydra.adapters.stream import JsonStream, unknown
from hydra.adapters.tools import Tools
from hydra.events import AgentEvent
from hydra.model import ExitStatus

_CALL = "ToolCall"
_REMEMBERED = 64 * 1024
"""Characters of what was said, in deltas or whole."""

_REFUSALS = ("rejected", "permissionDenied")
_EDITS = frozenset({"edit", "write", "delete"})
_VERBS = {"shell": "$", "edit": "Edit", "write": "Write", "delete": "Delete", "read": "Read"}
_FAILURES: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("AuthMissing", "sign_in", re.compile(r"authenticat|not logged in|api key|login", re.I)),
    ("AgentFailed", "rate_limit", re.compile(r"rate limit|usage limit|\b429\b", re.I)),
    ("AgentFailed", "context_overflow", re.compile(r"context window|too long", re.I)),
    ("AgentFailed", "not_trusted", re.compile(r"workspace trust|not trusted", re.I)),
    (
        "AgentFailed",
        "model",
        re.compile(r"^(?>.*?\bmodel\b).*(?:not|unknown|invalid)", re.I | re.M),
    ),
)


class CursorStream(JsonStream):
    """One attempt's stream. Its `result` ends it at once, whether the process exits or not."""

    label = "Cursor Agent"

    def __init__(self) -> None:
        super().__init__()
        self._root = ""
        self._thinking = ""
        self._said = ""
        self._tools = Tools(_EDITS)
        self._readers: Mapping[str, Callable[[Object], list[AgentEvent]]] = {
            "system": self._system,
            "user": lambda line: [said.progress("notice", type="user")],
            "assistant": self._assistant,
            "thinking": self._think,
            "tool_call": self._tool,
            "result": self._result,
        }

    def take(self, line: Object) -> list[AgentEvent]:
        """One line."""
        reader = self._readers.get(string(line, "type"))
        return reader(line) if reader else unknown(line)

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """Without a `result` it fails in words on stderr."""
        if exit.code in (0, None):
            return []
        stderr = files.get("stderr", b"").decode("utf-8", "replace")
        told = next((line for line in reversed(stderr.splitlines()) if line.strip()), "")
        return [_failure(told)] if told.lower().startswith("error: ") else []

    def _system(self, line: Object) -> list[AgentEvent]:
        if string(line, "subtype") != "init":
            return unknown(line)
        self._root = string(line, "cwd")
        return [
            said.session(
                session=string(line, "session_id"),
                model=string(line, "model"),
                permission=string(line, "permissionMode"),
            )
        ]

    def _assistant(self, line: Object) -> list[AgentEvent]:
        blocks = objects(mapping(line, "message"), "content")
        text = "".join(string(block, "text") for block in blocks)
        # With partial output each delta comes alone, then the whole once more, without a time.
        if "timestamp_ms" not in line and self._said and self._said.endswith(text):
            return []
        self._said = (self._said + text)[-_REMEMBERED:]
        return said.message(text)

    def _think(self, line: Object) -> list[AgentEvent]:
        if string(line, "subtype") == "delta":
            self._thinking = (self._thinking + string(line, "text"))[:_REMEMBERED]
            return [said.progress("notice", type="thinking")]
        text = string(line, "text") or self._thinking
        self._thinking = ""
        return said.message(text, "thinking")

    def _tool(self, line: Object) -> list[AgentEvent]:
        id, calls = string(line, "call_id"), mapping(line, "tool_call")
        key = next((key for key in calls if key.endswith(_CALL)), "")
        name, call = key.removesuffix(_CALL) or "tool", mapping(calls, key)
        if self._tools.over(id):
            return []
        events = self._tools.call(id, name, self._summary(name, mapping(call, "args")))
        if string(line, "subtype") == "completed":
            events += self._answer(id, name, mapping(call, "result"))
        return events

    def _answer(self, id: str, name: str, result: Object) -> list[AgentEvent]:
        how = next(iter(result), "")
        told = mapping(result, how)
        denied = how in _REFUSALS
        code = integer(told, "exitCode")
        ok = how == "success" and code in (0, None)
        text = first(told, ("message", "error", "reason", "stdout", "stderr")) or how
        return self._tools.answer(id, name, text, ok=ok, denied=denied)

    def _summary(self, name: str, given: Object) -> str:
        target = first(given, ("command", "path", "pattern", "query", "url"))
        return f"{_VERBS.get(name, name)} {said.path(target, self._root)}".strip()

    def _result(self, line: Object) -> list[AgentEvent]:
        events = said.usage(**_usage(mapping(line, "usage")))
        text = string(line, "result")
        if line.get("is_error") is True or string(line, "subtype").startswith("error"):
            return [*events, _failure(text)]
        denials, failed = self._tools.denials, self._tools.failed_edits
        return [*events, said.completed(text, denials=denials, failed_items=failed)]


def _usage(usage: Object) -> dict[str, float | None]:
    """Cache reads and writes are taken to come on top of `inputTokens` (inferred)."""
    held, read = integer(usage, "inputTokens"), integer(usage, "cacheReadTokens")
    written = integer(usage, "cacheWriteTokens")
    total = None if held is None else held + (read or 0) + (written or 0)
    return {
        "input_tokens": total,
        "output_tokens": integer(usage, "outputTokens"),
        "cached_tokens": read,
    }


def _failure(text: str) -> AgentEvent:
    for kind, reason, pattern in _FAILURES:
        if pattern.search(text):
            return said.failed(kind, reason, text)
    return said.failed("AgentFailed", "agent_error", text)

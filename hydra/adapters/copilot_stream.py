"""Copilot CLI's JSON lines, read as events; its tokens from a file at the end. Seen in 1.0.102."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from hydra.adapters import said
from hydra.adapters.copilot_descriptor import USAGE
from hydra.adapters.jsonlines import Malformed, Object, decode, first, integer, mapping, string
from hydra.adapters.service_errors import failure
from hydra.adapters.stream import JsonStream, unknown
from hydra.adapters.tools import Tools, summary
from hydra.events import AgentEvent
from hydra.model import ExitStatus

_EDITS = frozenset({"create", "edit", "apply_patch", "str_replace_editor"})
_VERBS = {"create": "Create", "edit": "Edit", "view": "Read"}
_TARGETS = ("path", "pattern", "url", "query", "description", "skill", "name")
_DENIED = re.compile(r"^Permission (?:to run this tool was )?denied|Plan mode does not permit")
_SIGNED_OUT = re.compile(r"^Error: (No authentication information found[^\n]*)", re.MULTILINE)
_ROOMS = (
    "agent.",
    "assistant.",
    "hook.",
    "model.",
    "session.",
    "skill.",
    "subagent.",
    "tool.",
    "user.",
)
"""Types of its that say nothing more here than that they came."""


class CopilotStream(JsonStream):
    """One attempt's stream. Its `result` is held until the end: it says 0 when it was stopped."""

    label = "GitHub Copilot CLI"

    def __init__(self) -> None:
        super().__init__()
        self._model = ""
        self._text = ""
        self._idle = False
        self._stopped = False
        self._tools = Tools(_EDITS)
        self._turns = 0
        self._error: Object = {}
        self._lost: Object = {}
        self._result: Object | None = None
        self._readers: Mapping[str, Callable[[Object], list[AgentEvent]]] = {
            "session.tools_updated": self._session,
            "session.error": self._failed,
            "assistant.turn_start": self._turn,
            "assistant.message": self._message,
            "assistant.reasoning": lambda data: said.message(string(data, "content"), "thinking"),
            "assistant.idle": self._rested,
            "tool.execution_start": self._call,
            "abort": self._aborted,
            "tool.execution_complete": self._answer,
            "session.info": self._info,
            "model.call_failure": self._lose,
            "assistant.turn_retry": lambda data: self._retry(),
        }

    def take(self, line: Object) -> list[AgentEvent]:
        """One line."""
        kind, data = string(line, "type"), mapping(line, "data")
        if kind == "result":
            self._result = line
            return [said.session(session=string(line, "sessionId")[:200], model=self._model)]
        if kind in self._readers:
            return self._readers[kind](data)
        if kind.startswith(_ROOMS):
            text = first(data, ("message", "infoType"))
            return [said.progress("notice", type=kind[:80], text=text)]
        return unknown(line)

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """Tokens, and the ending: an error, else a `result` that came when it was at rest."""
        events = _usage(files.get(USAGE, b""))
        if self._error:
            return [*events, _failure(self._error)]
        told = _SIGNED_OUT.search(files.get("stderr", b"").decode("utf-8", "replace"))
        if told and self._result is None:
            return [*events, said.failed("AuthMissing", "sign_in", told[1])]
        if self._result is None or not self._idle or self._stopped:
            return events
        return [
            *events,
            said.completed(
                self._text,
                turns=self._turns,
                denials=self._tools.denials,
                failed_items=self._tools.failed_edits,
            ),
        ]

    def _session(self, data: Object) -> list[AgentEvent]:
        model = string(data, "model")
        if model == self._model:
            return []
        self._model = model[:200]
        return [said.session(model=self._model)]

    def _turn(self, data: Object) -> list[AgentEvent]:
        self._idle = False
        self._turns += 1
        return [said.progress("notice", type="turn")]

    def _message(self, data: Object) -> list[AgentEvent]:
        self._text = string(data, "content") or self._text
        return said.message(string(data, "content"))

    def _rested(self, data: Object) -> list[AgentEvent]:
        self._idle = True
        return []

    def _aborted(self, data: Object) -> list[AgentEvent]:
        self._stopped = True
        return [said.progress("notice", type="abort", text=string(data, "reason"))]

    def _failed(self, data: Object) -> list[AgentEvent]:
        self._error = data
        event = _failure(data)
        return [event] if event.data["error"] == "AuthMissing" else []

    def _lose(self, data: Object) -> list[AgentEvent]:
        self._lost = data
        return []

    def _info(self, data: Object) -> list[AgentEvent]:
        kind = string(data, "infoType")
        return [said.progress("notice", type=kind[:80] or "info", text=string(data, "message"))]

    def _retry(self) -> list[AgentEvent]:
        """The failure that it has tried again after; one that it gave up at is told as an error."""
        lost, self._lost = self._lost, {}
        if not lost:
            return []
        attempt = integer(lost, "retryAttempt")
        return [
            said.progress(
                "retry",
                attempt=None if attempt is None else attempt + 1,
                status=integer(lost, "statusCode"),
                text=string(lost, "failureKind"),
            )
        ]

    def _call(self, data: Object) -> list[AgentEvent]:
        id, name = string(data, "toolCallId"), string(data, "toolName")
        given = mapping(data, "arguments")
        return self._tools.call(id, name, summary(_VERBS.get(name, name), given, _TARGETS))

    def _answer(self, data: Object) -> list[AgentEvent]:
        id = string(data, "toolCallId")
        error = mapping(data, "error")
        message = string(error, "message")
        denied = string(error, "code") == "denied" or bool(_DENIED.search(message[:2000]))
        code = integer(mapping(data, "shellExecution"), "exitCode")
        ok = data.get("success") is True and code in (0, None)
        text = message or string(mapping(data, "result"), "content")
        return self._tools.answer(id, self._tools.name(id), text, ok=ok, denied=denied)


def _failure(error: Object) -> AgentEvent:
    message, status = string(error, "message"), integer(error, "statusCode")
    if string(error, "errorType") == "authentication" and status is None:
        return said.failed("AuthMissing", "sign_in", message)
    return failure(message, status)


def _usage(file: bytes) -> list[AgentEvent]:
    """Tokens of all models. Cache reads are part of its input tokens."""
    try:
        told = decode(file) or {}
    except Malformed:
        return []
    models = [one for one in mapping(told, "modelMetrics").values() if isinstance(one, dict)]
    if not models:
        return []
    known = [mapping(one, "usage") for one in models]
    names = {
        "input_tokens": "inputTokens",
        "output_tokens": "outputTokens",
        "cached_tokens": "cacheReadTokens",
    }
    return said.usage(
        **{key: sum(integer(one, name) or 0 for one in known) for key, name in names.items()}
    )

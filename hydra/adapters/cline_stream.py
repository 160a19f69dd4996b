"""Cline's `--json --verbose`, read as events. Seen in 3.0.65."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hydra.adapters import said
from hydra.adapters.jsonlines import Object, first, integer, mapping, number, objects, string
from hydra.adapters.service_errors import failure
from hydra.adapters.stream import JsonStream, unknown
from hydra.adapters.tools import Tools
from hydra.events import AgentEvent
from hydra.model import ExitStatus

_EDITS = frozenset({"editor", "apply_patch"})
_WITHHELD = frozenset(
    {"run_commands", "fetch_web_content", "spawn_agent", "team_spawn_teammate", *_EDITS}
)
"""Tools of its own that its settings or its plan mode can take away: it calls them unavailable."""

_NOTICES = frozenset({"hook_event", "team_event", "team_restored", "model_catalog"})
_UNAVAILABLE = "tried to call unavailable tool"
_NOT_APPROVED = "requires approval in a TTY session"
_TIMED_OUT = "run timed out after "
_MISTAKES = "it gave up: too many of its tool calls in a row failed"


class Thinking:
    """What it thinks, in pieces: told before what it says then, though its end comes after that."""

    LARGEST = 64 * 1024

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._held = 0
        self._told = ""

    def add(self, piece: str) -> None:
        """One more piece, as long as there is room."""
        if self._held < self.LARGEST:
            self._pieces.append(piece[: self.LARGEST])
            self._held += len(piece)

    def tell(self) -> str:
        """What has not been told yet."""
        text = "".join(self._pieces)
        self._pieces, self._held = [], 0
        self._told = (self._told + text)[: self.LARGEST]
        return text

    def rest(self, whole: str) -> str:
        """What `whole`, the end of it, has beyond what was told; then it begins anew."""
        told, self._told = self._told, ""
        self._pieces, self._held = [], 0
        return whole.removeprefix(told)


class ClineStream(JsonStream):
    """One attempt's stream. `run_result` is held until the end: what follows may break it off."""

    label = "Cline"

    def __init__(self) -> None:
        super().__init__()
        self._tools = Tools(_EDITS)
        self._error: AgentEvent | None = None
        self._result: Object | None = None
        self._asked_to_stop = ""
        self._mode = ""
        self._thinking = Thinking()
        self._readers: Mapping[str, Callable[[Object], list[AgentEvent]]] = {
            "run_start": self._start,
            "agent_event": self._event,
            "run_result": self._take_result,
            "run_abort_requested": self._abort_requested,
            "run_aborted": lambda line: [said.progress("notice", type="run_aborted")],
        }
        self._events: Mapping[str, Callable[[Object], list[AgentEvent]]] = {
            "iteration_start": lambda event: [said.progress("notice", type="turn")],
            "iteration_end": lambda event: [],
            "content_start": self._content,
            "content_update": lambda event: [],
            "content_end": self._content_end,
            "usage": _usage,
            "error": self._take_error,
            "notice": _notice,
            "done": lambda event: [],
        }

    def take(self, line: Object) -> list[AgentEvent]:
        """One line."""
        kind = string(line, "type")
        if kind in _NOTICES:
            return [said.progress("notice", type=kind, text=string(line, "hookEventName"))]
        reader = self._readers.get(kind)
        return reader(line) if reader else unknown(line)

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """The held result as the ending; without one the error that came before it could."""
        stderr = files.get("stderr", b"").decode("utf-8", "replace")
        result = self._result
        if result is None:
            return [self._error] if self._error else []
        how, text = string(result, "finishReason"), string(result, "text")
        if how == "completed":
            denials = [name for name in self._tools.denials if name]
            return [
                said.completed(
                    text,
                    turns=integer(result, "iterations"),
                    denials=denials,
                    failed_items=self._tools.failed_edits,
                )
            ]
        if how == "aborted":
            return [self._aborted(stderr)]
        return [self._error or failure(text or how)]

    def _aborted(self, stderr: str) -> AgentEvent:
        if self._asked_to_stop:
            text = f"it was stopped by {self._asked_to_stop.upper()}"
            return said.failed("Interrupted", "signal", text)
        if _TIMED_OUT in stderr:
            return said.failed("AgentFailed", "budget", "its own time limit ended it")
        return said.failed("AgentFailed", "agent_error", _MISTAKES)

    # lines

    def _start(self, line: Object) -> list[AgentEvent]:
        self._mode = string(line, "mode")
        return [said.session(model=string(line, "modelId"), permission=string(line, "mode"))]

    def _event(self, line: Object) -> list[AgentEvent]:
        event = mapping(line, "event")
        reader = self._events.get(string(event, "type"))
        return reader(event) if reader else unknown(event)

    def _take_result(self, line: Object) -> list[AgentEvent]:
        self._result = line
        return _totals(mapping(line, "aggregateUsage") or mapping(line, "usage"))

    def _abort_requested(self, line: Object) -> list[AgentEvent]:
        self._asked_to_stop = string(line, "reason") or "a signal"
        return [said.progress("notice", type="run_abort_requested", text=self._asked_to_stop)]

    # what an agent_event holds

    def _content(self, event: Object) -> list[AgentEvent]:
        kind = string(event, "contentType")
        if kind == "reasoning":
            self._thinking.add(string(event, "reasoning"))
            return []
        told = said.message(self._thinking.tell(), "thinking")
        if kind != "tool":
            return told  # a piece of what `content_end` has whole
        id, name = string(event, "toolCallId"), string(event, "toolName")
        return [*told, *self._tools.call(id, name, _summary(name, mapping(event, "input")))]

    def _content_end(self, event: Object) -> list[AgentEvent]:
        kind = string(event, "contentType")
        if kind == "tool":
            return self._answer(event)
        if kind == "text":
            return said.message(string(event, "text"))
        if kind == "reasoning":
            return said.message(self._thinking.rest(string(event, "reasoning")), "thinking")
        return [said.progress("notice", type=kind or "content")]

    def _answer(self, event: Object) -> list[AgentEvent]:
        id = string(event, "toolCallId")
        name = string(event, "toolName") or self._tools.name(id)
        error = string(event, "error")
        parts = objects(event, "output") or [mapping(event, "output")]
        ok = not error and all(part.get("success") is not False for part in parts)
        withheld = name in _WITHHELD or self._mode == "plan"
        denied = _NOT_APPROVED in error or (_UNAVAILABLE in error and withheld)
        told = error or "\n".join(first(part, ("error", "result")) for part in parts)
        return self._tools.answer(id, name, told, ok=ok, denied=denied)

    def _take_error(self, event: Object) -> list[AgentEvent]:
        text = string(mapping(event, "error"), "message")
        if event.get("recoverable") is True:
            return [said.progress("notice", type="error", text=text)]
        self._error = _failure(text, string(event, "errorClass"))
        # No key gets better by waiting.
        if self._error.data["error"] == "AuthMissing":
            return [self._error]
        return [said.progress("notice", type="error", text=text)]


def _failure(text: str, kind: str) -> AgentEvent:
    """Its own class of an error where it has one for it, else by the service's words."""
    if kind == "auth":
        return said.failed("AuthMissing", "sign_in", text)
    return failure(text)


def _usage(event: Object) -> list[AgentEvent]:
    """Totals of the run so far; cached tokens are told at the end alone."""
    return said.usage(
        input_tokens=integer(event, "totalInputTokens"),
        output_tokens=integer(event, "totalOutputTokens"),
    )


def _totals(usage: Object) -> list[AgentEvent]:
    cost = number(usage, "totalCost")
    return said.usage(
        input_tokens=integer(usage, "inputTokens"),
        output_tokens=integer(usage, "outputTokens"),
        cached_tokens=integer(usage, "cacheReadTokens"),
        # Of a model that it has no price for it says 0.
        cost_usd=cost or None,
    )


def _notice(event: Object) -> list[AgentEvent]:
    told = mapping(event, "metadata")
    kind = "compaction" if "compaction" in string(told, "kind") else "notice"
    return [said.progress("notice", type=kind, text=string(event, "message"))]


def _summary(name: str, given: Object) -> str:
    commands = given.get("commands")
    if isinstance(commands, list):
        return said.command("; ".join(one for one in commands if isinstance(one, str)))
    path = string(given, "path") or next(
        (string(file, "path") for file in objects(given, "files")), ""
    )
    target = said.path(path, "") if path else first(given, ("query", "url", "task", "question"))
    return f"{_VERBS.get(name, name)} {target}".strip()


_VERBS = {"editor": "Edit", "read_files": "Read", "search_codebase": "Search"}

"""Factory's droid `exec --output-format stream-json`, read as events. Seen in 0.215.0."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from hydra.adapters import said
from hydra.adapters.jsonlines import Object, first, integer, mapping, string
from hydra.adapters.service_errors import failure
from hydra.adapters.stream import JsonStream, Recent, unknown
from hydra.adapters.tools import Tools, summary
from hydra.events import AgentEvent
from hydra.model import ExitStatus

_EDITS = frozenset({"Edit", "MultiEdit", "Create", "Write", "ApplyPatch"})
_VERBS = {"Create": "Write"}
_TARGETS = ("file_path", "path", "folder", "directory_path", "pattern", "query", "url", "summary")
_REFUSED = re.compile(r"is not permitted in this exec session|insufficient permission to proceed")
_WRAPPED = "Exec failed"
"""What it says last of any failure that it has told before."""


class DroidStream(JsonStream):
    """One attempt's stream. A failure is told twice, by the agent's loop and by the program: the
    first counts. The ending is held until the process has ended."""

    label = "droid"

    def __init__(self) -> None:
        super().__init__()
        self._root = ""
        self._tools = Tools(_EDITS)
        self._thoughts = Recent()
        self._error = ""
        self._completion: Object | None = None
        self._readers: Mapping[str, Callable[[Object], list[AgentEvent]]] = {
            "system": self._system,
            "message": self._message,
            "reasoning": self._reasoning,
            "tool_call": self._call,
            "tool_result": self._answer,
            "error": self._failed,
            "completion": self._completed,
        }

    def take(self, line: Object) -> list[AgentEvent]:
        """One line."""
        reader = self._readers.get(string(line, "type"))
        return reader(line) if reader else unknown(line)

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """A completion, or the first failure that it told."""
        if self._completion is not None:
            return [
                said.completed(
                    string(self._completion, "finalText"),
                    turns=integer(self._completion, "numTurns"),
                    denials=self._tools.denials,
                    failed_items=self._tools.failed_edits,
                )
            ]
        if self._error and self._tools.denials and _REFUSED.search(self._error):
            return [said.failed("AgentFailed", "permission_denied", self._error)]
        return [failure(self._error)] if self._error else []

    def _system(self, line: Object) -> list[AgentEvent]:
        if string(line, "subtype") != "init":
            text = first(line, ("message", "text", "status"))
            kind = string(line, "subtype") or "system"
            return [said.progress("notice", type=f"system/{kind[:60]}", text=text)]
        self._root = string(line, "cwd")
        return [said.session(session=string(line, "session_id"), model=string(line, "model"))]

    def _message(self, line: Object) -> list[AgentEvent]:
        return said.message(string(line, "text")) if string(line, "role") == "assistant" else []

    def _reasoning(self, line: Object) -> list[AgentEvent]:
        # Each thought comes twice, with the same id and the same words.
        mark = f"{string(line, 'id')[:60]} {hash(string(line, 'text'))}"
        if mark in self._thoughts:
            return []
        self._thoughts.add(mark)
        return said.message(string(line, "text"), "thinking")

    def _call(self, line: Object) -> list[AgentEvent]:
        id, name = string(line, "id"), string(line, "toolName") or string(line, "toolId") or "tool"
        verb, given = _VERBS.get(name, name), mapping(line, "parameters")
        return self._tools.call(id, name, summary(verb, given, _TARGETS, self._root))

    def _answer(self, line: Object) -> list[AgentEvent]:
        id = string(line, "id")
        name = self._tools.name(id) or string(line, "toolId")
        ok = line.get("isError") is not True
        text = string(line, "value") if ok else string(mapping(line, "error"), "message")
        denied = not ok and bool(_REFUSED.search(text[:400]))
        return self._tools.answer(id, name, text, ok=ok, denied=denied)

    def _failed(self, line: Object) -> list[AgentEvent]:
        text = string(line, "message")
        if text and text != _WRAPPED and not self._error:
            self._error = text[:4000]
        return [said.progress("notice", type="error", text=text)]

    def _completed(self, line: Object) -> list[AgentEvent]:
        self._completion, usage = line, mapping(line, "usage")
        held = integer(usage, "input_tokens")
        read, written = (
            integer(usage, f"cache_{how}_input_tokens") or 0 for how in ("read", "creation")
        )
        # Cache reads and writes come on top of its input.
        total = None if held is None else held + read + written
        return said.usage(
            input_tokens=total,
            output_tokens=integer(usage, "output_tokens"),
            cached_tokens=None if held is None else read,
        )

"""`opencode run --format json`, read as events. Seen in 1.18.33.

It has no closing event: how it ended is told by the last step, an error, and the exit together.
"""

from __future__ import annotations

from collections.abc import Mapping

from hydra.adapters import said
from hydra.adapters.jsonlines import Object, mapping, string
from hydra.adapters.opencode_parts import OVERFLOW, Parts, failure
from hydra.adapters.stream import JsonStream, unknown
from hydra.events import AgentEvent
from hydra.model import ExitStatus

_PARTS = frozenset({"step_start", "step_finish", "text", "reasoning", "tool_use"})


class OpenCodeStream(JsonStream):
    """One attempt's stream."""

    label = "OpenCode"

    def __init__(self) -> None:
        super().__init__()
        self._parts = Parts()
        self._session = ""
        self._error: Object | None = None

    def take(self, line: Object) -> list[AgentEvent]:
        """One line."""
        kind = string(line, "type")
        if kind not in _PARTS and kind != "error":
            return unknown(line)
        events = self._begun(string(line, "sessionID"))
        if kind == "error":
            return [*events, *self._failed(mapping(line, "error"))]
        told = self._parts.take(mapping(line, "part"))
        if self._parts.reason == "stop":
            # It has got over what went wrong before: an overflow, by a summary of its own.
            self._error = None
        return [*events, *(unknown(line) if told is None else told)]

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """An error that nothing came after, else the last step; a summary's is none by itself."""
        if self._error is not None:
            log = files.get("stderr", b"").decode("utf-8", "replace")
            return [failure(self._error, log)]
        reason = self._parts.reason
        # 1 as well: so it ends where it has got over an overflow.
        ended_itself = exit.code in (0, 1)
        if reason == "stop" and (ended_itself or not self._parts.overflowed):
            return [self._completed()]
        if not reason or not ended_itself:
            return []
        # A refused permission ends the run after the step that asked for it.
        if reason == "tool-calls" and self._parts.tools.denials:
            return [self._completed()]
        text = f"its last answer was cut off ({reason})"
        return [said.failed("AgentFailed", "agent_error", text)]

    def _begun(self, session: str) -> list[AgentEvent]:
        if not session or session == self._session:
            return []
        self._session = session[:200]
        return [said.session(session=self._session)]

    def _failed(self, error: Object) -> list[AgentEvent]:
        if string(error, "name") == OVERFLOW:
            return self._overflow(error)
        event = failure(error)
        self._error = error
        # No key gets better by waiting; of the others stderr may say more at the end.
        return [event] if event.data["error"] == "AuthMissing" else []

    def _overflow(self, error: Object) -> list[AgentEvent]:
        self._error = error
        if self._parts.overflow():
            return [failure(error)]
        return [said.progress("notice", type="compaction", text="the conversation is too long")]

    def _completed(self) -> AgentEvent:
        return said.completed(
            self._parts.text,
            denials=self._parts.tools.denials,
            failed_items=self._parts.tools.failed_edits,
        )

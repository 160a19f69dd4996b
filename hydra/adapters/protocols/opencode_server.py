"""`opencode serve`: its answers and events, as the lane's record has them, read as events.

What comes by HTTP stands in the record as lines of Hydra's (`Call` in `contract.py`); on its stdout
it tells one thing, where it listens. Seen in 1.18.33.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hydra.adapters import said
from hydra.adapters.jsonlines import Object, integer, mapping, string
from hydra.adapters.opencode_parts import OVERFLOW, Parts, failure
from hydra.adapters.service_errors import failure as service_failure
from hydra.adapters.stream import JsonStream, unknown
from hydra.events import AgentEvent
from hydra.model import ExitStatus

LISTENS = b"opencode server listening on "
HEALTH, EVENTS, SESSION, PROMPT = "health", "events", "session", "prompt"
"""The ids of Hydra's calls; an answer to a question of its tools has another."""

_SILENT = (
    "catalog.",
    "command.",
    "file.",
    "installation.",
    "integration.",
    "lsp.",
    "mcp.",
    "message.part.delta",
    "message.part.removed",
    "message.removed",
    "permission.replied",
    "plugin.",
    "project.",
    "pty.",
    "question.re",
    "reference.",
    "server.",
    "session.created",
    "session.deleted",
    "session.diff",
    "session.updated",
    "session.usage.",
    "todo.",
    "vcs.",
    "workspace.",
)
"""Beginnings of types that tell nothing of the work, or tell again what another event does."""


class OpenCodeServerStream(JsonStream):
    """One attempt's stream. `over` once the task's work is done, or nothing more will be."""

    label = "OpenCode (server)"

    def __init__(self) -> None:
        super().__init__()
        self.url = ""
        self.session = ""
        self.over = False
        self._model = ""
        self._version = ""
        self._busy = False
        self._parts = Parts()
        self._error: Object | None = None
        self._refused: AgentEvent | None = None
        self._readers: Mapping[str, Callable[[Object], list[AgentEvent]]] = {
            "message.part.updated": self._part,
            "message.updated": self._message,
            "session.status": self._status,
            "session.idle": self._idle,
            "session.error": self._failed,
            "session.compacted": lambda told: [said.progress("notice", type="compaction")],
            "permission.asked": self._asked,
            "question.asked": lambda told: [said.progress("notice", type="question")],
        }

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        """One line without its newline. Never raises."""
        if line.startswith(LISTENS) and not self.url:
            self.url = line[len(LISTENS) :].decode("utf-8", "replace").strip()[:200]
            return []
        return super().parse_line(line)

    def take(self, line: Object) -> list[AgentEvent]:
        """One line of Hydra's: an answer, an event, or that there are no more."""
        kind = string(line, "hydra")
        if kind == "sse":
            return self._event(mapping(line, "data"))
        if kind == "http":
            return self._answer(string(line, "id"), integer(line, "status") or 0, line)
        if kind in ("http_failed", "sse_end"):
            return self._lost(string(line, "id"), string(line, "text"))
        return [] if kind == "sse_skipped" else unknown(line)

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """An error that nothing came after; else how the last step ended."""
        if self._error is not None:
            log = files.get("stderr", b"").decode("utf-8", "replace")
            return [failure(self._error, log)]
        if self._refused is not None:
            return [self._refused]
        reason = self._parts.reason
        if not self.over or not reason:
            return []
        # A refused permission ends the turn after the step that asked for it.
        tools = self._parts.tools
        if reason == "stop" or (reason == "tool-calls" and tools.denials):
            text, failed = self._parts.text, tools.failed_edits
            return [said.completed(text, denials=tools.denials, failed_items=failed)]
        text = f"its last answer was cut off ({reason})"
        return [said.failed("AgentFailed", "agent_error", text)]

    # answers to Hydra's calls

    def _answer(self, id: str, status: int, line: Object) -> list[AgentEvent]:
        body = mapping(line, "body")
        if status not in range(200, 300):
            if id in (HEALTH, EVENTS, SESSION, PROMPT):
                self._give_up(string(mapping(body, "data"), "message") or f"{id}: {status}", status)
            return []
        if id == HEALTH:
            self._version = string(body, "version")[:50]
        if id == SESSION and not self.session:
            self.session = string(body, "id")[:200]
            self._parts.root = string(body, "directory")
            return [said.session(session=self.session, version=self._version)]
        return []

    def _lost(self, id: str, text: str) -> list[AgentEvent]:
        if id in (HEALTH, EVENTS, SESSION, PROMPT) and not self.over:
            # The agent itself, which fell over or was killed, and no service of a model's.
            why = f"its server answers no more: {text or 'its events ended'}"
            self._end(said.failed("StreamParseError", "no_terminal_event", why))
        return []

    def _give_up(self, text: str, status: int | None) -> None:
        self._end(service_failure(text, status))

    def _end(self, failed: AgentEvent) -> None:
        self._refused = self._refused or failed
        self.over = True

    # the server's events

    def _event(self, event: Object) -> list[AgentEvent]:
        kind, told = string(event, "type"), mapping(event, "properties")
        reader = self._readers.get(kind)
        if reader is None:
            return [] if kind.startswith(_SILENT) else unknown(event)
        # A subagent has a session of its own: what it asks is answered, and the rest is its own.
        if self._owns(string(told, "sessionID")) or kind == "permission.asked":
            return reader(told)
        return []

    def _owns(self, session: str) -> bool:
        return not self.session or session in ("", self.session)

    def _part(self, told: Object) -> list[AgentEvent]:
        part = mapping(told, "part")
        if not self._owns(string(part, "sessionID")):
            return []
        events = self._parts.take(part)
        if self._parts.reason == "stop":
            # It has got over what went wrong before: an overflow, by a summary of its own.
            self._error = None
        return unknown(part) if events is None else events

    def _message(self, told: Object) -> list[AgentEvent]:
        """The first answer names the model."""
        info = mapping(told, "info")
        names = [name for key in ("providerID", "modelID") if (name := string(info, key))]
        model = "/".join(names)
        if string(info, "role") != "assistant" or not model or model == self._model:
            return []
        self._model = model
        return [said.session(session=self.session, model=model, version=self._version)]

    def _status(self, told: Object) -> list[AgentEvent]:
        status = mapping(told, "status")
        kind = string(status, "type")
        self._busy = kind in ("busy", "retry")
        if kind == "idle":
            return self._idle(told)
        if kind != "retry":
            return []
        text, attempt = string(status, "message"), integer(status, "attempt")
        return [said.progress("retry", attempt=attempt, text=text)]

    def _idle(self, told: Object) -> list[AgentEvent]:
        self._busy = False
        self.over = True
        return []

    def _asked(self, told: Object) -> list[AgentEvent]:
        return [said.progress("notice", type="permission", text=string(told, "permission"))]

    def _failed(self, told: Object) -> list[AgentEvent]:
        error = mapping(told, "error")
        # Before its turn has begun nothing more would come of it.
        self.over = self.over or not self._busy
        if string(error, "name") == OVERFLOW:
            return self._overflow(error)
        self._error = error
        event = failure(error)
        # No key gets better by waiting; of the others stderr may say more at the end.
        return [event] if event.data["error"] == "AuthMissing" else []

    def _overflow(self, error: Object) -> list[AgentEvent]:
        self._error = error
        if self._parts.overflow():
            self.over = True
            return [failure(error)]
        return [said.progress("notice", type="compaction", text="the conversation is too long")]

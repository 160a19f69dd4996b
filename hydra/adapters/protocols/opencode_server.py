"""`opencode serve`: its answers and events, as the lane's record has them, read as events.

What comes by HTTP stands in the record as lines of Hydra's (`ServerCall` in `contract.py`); on its
stdout it tells one thing, where it listens. Seen in 1.18.33.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from hydra.adapters import event_builders as build
from hydra.adapters.contract import Act, Finish, names
from hydra.adapters.failures import failure as service_failure
from hydra.adapters.json_fields import Object, integer, mapping, string
from hydra.adapters.json_stream import stderr_of, unknown
from hydra.adapters.protocols.opencode_events import OVERFLOW, PartsStream, failure
from hydra.records.agent import ServerCall
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus

LISTENS = b"opencode server listening on "
HEALTH, EVENTS, SESSION, PROMPT = "health", "events", "session", "prompt"
"""The ids of Hydra's calls; an answer to a question of its tools has another."""

_SILENT = names(
    "catalog. command. file. installation. integration. lsp. mcp. message.part.delta"
    " message.part.removed message.removed permission.replied plugin. project. pty. question.re"
    " reference. server. session.created session.deleted session.diff session.updated"
    " session.usage. todo. vcs. workspace."
)
"""Beginnings of types that tell nothing of the work, or tell again what another event does."""


class OpenCodeServerStream(PartsStream):
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
        self._refused: AgentEvent | None = None
        self._readers: Mapping[str, Callable[[Object], list[AgentEvent]]] = {
            "message.part.updated": self._part,
            "message.updated": self._message,
            "session.status": self._status,
            "session.idle": self._idle,
            "session.error": self._session_failed,
            "session.compacted": lambda document: build.notice("compaction"),
            "permission.asked": self._question_events,
            "question.asked": lambda document: build.notice("question"),
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
            return self._replied(string(line, "id"), integer(line, "status") or 0, line)
        if kind in ("http_failed", "sse_end"):
            return self._lost(string(line, "id"), string(line, "text"))
        return [] if kind == "sse_skipped" else unknown(line)

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """An error that nothing came after; else how the last step ended."""
        if self._error is not None:
            log = stderr_of(files)
            return [failure(self._error, log)]
        if self._refused is not None:
            return [self._refused]
        return self._last_step() if self.over and self._reason else []

    # answers to Hydra's calls

    def _replied(self, id: str, status: int, line: Object) -> list[AgentEvent]:
        body = mapping(line, "body")
        if status not in range(200, 300):
            if id in (HEALTH, EVENTS, SESSION, PROMPT):
                self._give_up(string(mapping(body, "data"), "message") or f"{id}: {status}", status)
            return []
        if id == HEALTH:
            self._version = string(body, "version")[:50]
        if id == SESSION and not self.session:
            self.session = string(body, "id")[:200]
            self._root = string(body, "directory")
            return [build.session(session=self.session, version=self._version)]
        return []

    def _lost(self, id: str, text: str) -> list[AgentEvent]:
        if id in (HEALTH, EVENTS, SESSION, PROMPT) and not self.over:
            # The agent itself, which fell over or was killed, and no service of a model's.
            why = f"its server answers no more: {text or 'its events ended'}"
            self._end(build.failed("StreamParseError", "no_terminal_event", why))
        return []

    def _give_up(self, text: str, status: int | None) -> None:
        self._end(service_failure(text, status))

    def _end(self, failed: AgentEvent) -> None:
        self._refused = self._refused or failed
        self.over = True

    # the server's events

    def _event(self, event: Object) -> list[AgentEvent]:
        kind, document = string(event, "type"), mapping(event, "properties")
        reader = self._readers.get(kind)
        if reader is None:
            return [] if kind.startswith(_SILENT) else unknown(event)
        # A subagent has a session of its own: what it asks is answered, and the rest is its own.
        if self._owns(string(document, "sessionID")) or kind == "permission.asked":
            return reader(document)
        return []

    def _owns(self, session: str) -> bool:
        return not self.session or session in ("", self.session)

    def _part(self, document: Object) -> list[AgentEvent]:
        part = mapping(document, "part")
        if not self._owns(string(part, "sessionID")):
            return []
        events = self._part_events(part)
        if self._reason == "stop":
            # It has got over what went wrong before: an overflow, by a summary of its own.
            self._error = None
        return unknown(part) if events is None else events

    def _message(self, document: Object) -> list[AgentEvent]:
        """The first answer names the model."""
        info = mapping(document, "info")
        names = [name for key in ("providerID", "modelID") if (name := string(info, key))]
        model = "/".join(names)
        if string(info, "role") != "assistant" or not model or model == self._model:
            return []
        self._model = model
        return [build.session(session=self.session, model=model, version=self._version)]

    def _status(self, document: Object) -> list[AgentEvent]:
        status = mapping(document, "status")
        kind = string(status, "type")
        self._busy = kind in ("busy", "retry")
        if kind == "idle":
            return self._idle(document)
        if kind != "retry":
            return []
        text, attempt = string(status, "message"), integer(status, "attempt")
        return [build.progress("retry", attempt=attempt, text=text)]

    def _idle(self, document: Object) -> list[AgentEvent]:
        self._busy = False
        self.over = True
        return []

    def _question_events(self, document: Object) -> list[AgentEvent]:
        return build.notice("permission", string(document, "permission"))

    def _session_failed(self, document: Object) -> list[AgentEvent]:
        error = mapping(document, "error")
        events = self._failed(error)
        # Before its turn has begun nothing more would come of it; nor after a second overflow.
        ends = string(error, "name") == OVERFLOW and events[0].kind == "failed"
        self.over = self.over or ends or not self._busy
        return events


# ---- A conversation with `opencode serve`: a session is made (or gone on with), the task is given
# to it, its questions are answered, and once it is idle the server is sent away. Seen in 1.18.33.

USER = "opencode"
"""The name that goes with its password, where OPENCODE_SERVER_USERNAME sets no other."""


class ServerRequest(NamedTuple):
    """What is wanted of the session. `allow`: its tools' questions are answered with yes."""

    prompt: str
    password: str
    allow: str = ""
    agent: str = ""
    model: str = ""
    variant: str = ""
    resume: str = ""
    fork: str = ""


class OpenCodeConversation(OpenCodeServerStream):
    """The conversation of one attempt."""

    def __init__(self, wish: ServerRequest) -> None:
        super().__init__()
        self._wish = wish
        self._todo: list[Act] = []
        self._called = False
        self._is_set = False
        self._finished = False

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        """One line, and what is to be done about it. Never raises."""
        events = super().parse_line(line)
        if self.url and not self._called:
            self._called = True
            self._todo += [self._call(HEALTH, "GET", "/global/health"), self._listen()]
        if self.session and not self._is_set:
            self._is_set = True
            path = f"/session/{quote(self.session)}/prompt_async"
            self._todo.append(self._call(PROMPT, "POST", path, self._task()))
        if self.over and not self._finished:
            self._finished = True
            self._todo.append(Finish())
        return events

    def take(self, line: Object) -> list[AgentEvent]:
        """One line of Hydra's."""
        events = super().take(line)
        event = mapping(line, "data")
        kind, document = string(event, "type"), mapping(event, "properties")
        id = quote(string(document, "id")[:200], safe="")
        if kind == "server.connected":
            self._todo.append(self._begin())
        elif kind == "permission.asked":
            reply = {"reply": "once" if self._wish.allow else "reject"}
            self._todo.append(
                self._call(f"permission {id}", "POST", f"/permission/{id}/reply", reply)
            )
        elif kind == "question.asked":
            # There is nobody whom it could ask.
            path = f"/question/{id}/reject"
            self._todo.append(self._call(f"question {id}", "POST", path, {}))
        return events

    def acts(self) -> Sequence[Act]:
        """What is to be done since it was last asked, in order."""
        todo, self._todo = self._todo, []
        return todo

    def _begin(self) -> ServerCall:
        wish = self._wish
        if not wish.resume:
            return self._call(SESSION, "POST", "/session", {"title": "Hydra"})
        path = f"/session/{quote(wish.resume, safe='')}"
        if wish.fork:
            return self._call(SESSION, "POST", f"{path}/fork", {})
        return self._call(SESSION, "GET", path)

    def _task(self) -> dict[str, object]:
        wish = self._wish
        provider, _, model = wish.model.partition("/")
        task: dict[str, object] = {"parts": [{"type": "text", "text": wish.prompt}]}
        if wish.model:
            task["model"] = {"providerID": provider, "modelID": model}
        if wish.agent:
            task["agent"] = wish.agent
        if wish.variant:
            task["variant"] = wish.variant
        return task

    def _listen(self) -> ServerCall:
        return self._call(EVENTS, "GET", "/event")._replace(events=True)

    def _call(self, id: str, method: str, path: str, body: object = None) -> ServerCall:
        pair = b64encode(f"{USER}:{self._wish.password}".encode()).decode()
        headers = [("Authorization", f"Basic {pair}")]
        if body is not None:
            headers.append(("Content-Type", "application/json"))
        data = b"" if body is None else json.dumps(body).encode()
        return ServerCall(id, method, f"{self.url}{path}", tuple(headers), data)

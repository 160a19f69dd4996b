"""A conversation with `opencode serve`: a session is made (or gone on with), the task is given to
it, its questions are answered, and once it is idle the server is sent away. Seen in 1.18.33."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from hydra.adapters.contract import Act, Call, Finish
from hydra.adapters.jsonlines import Object, mapping, string
from hydra.adapters.protocols.opencode_server import (
    EVENTS,
    HEALTH,
    PROMPT,
    SESSION,
    OpenCodeServerStream,
)
from hydra.events import AgentEvent

USER = "opencode"
"""The name that goes with its password, where OPENCODE_SERVER_USERNAME sets no other."""


class Wish(NamedTuple):
    """What is wanted of the session. `allow`: its tools' questions are answered with yes."""

    prompt: str
    password: str
    allow: bool = False
    agent: str = ""
    model: str = ""
    variant: str = ""
    resume: str = ""
    fork: bool = False


class OpenCodeConversation(OpenCodeServerStream):
    """The conversation of one attempt."""

    def __init__(self, wish: Wish) -> None:
        super().__init__()
        self._wish = wish
        self._todo: list[Act] = []
        self._called = False
        self._given = False
        self._finished = False

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        """One line, and what is to be done about it. Never raises."""
        events = super().parse_line(line)
        if self.url and not self._called:
            self._called = True
            self._todo += [self._call(HEALTH, "GET", "/global/health"), self._listen()]
        if self.session and not self._given:
            self._given = True
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
        kind, told = string(event, "type"), mapping(event, "properties")
        id = quote(string(told, "id")[:200], safe="")
        if kind == "server.connected":
            self._todo.append(self._begin())
        elif kind == "permission.asked":
            reply = {"reply": "once" if self._wish.allow else "reject"}
            self._todo.append(self._call(f"permission {id}", "POST", _reply(id), reply))
        elif kind == "question.asked":
            # There is nobody whom it could ask.
            path = f"/question/{id}/reject"
            self._todo.append(self._call(f"question {id}", "POST", path, {}))
        return events

    def acts(self) -> Sequence[Act]:
        """What is to be done since it was last asked, in order."""
        todo, self._todo = self._todo, []
        return todo

    def _begin(self) -> Call:
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

    def _listen(self) -> Call:
        return self._call(EVENTS, "GET", "/event")._replace(events=True)

    def _call(self, id: str, method: str, path: str, body: object = None) -> Call:
        pair = b64encode(f"{USER}:{self._wish.password}".encode()).decode()
        headers = [("Authorization", f"Basic {pair}")]
        if body is not None:
            headers.append(("Content-Type", "application/json"))
        data = b"" if body is None else json.dumps(body).encode()
        return Call(id, method, f"{self.url}{path}", tuple(headers), data)


def _reply(id: str) -> str:
    return f"/permission/{id}/reply"

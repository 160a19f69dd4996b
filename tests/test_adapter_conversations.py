"""OpenCode's server, talked to: what is asked when, and understood, line by line."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from hydra.adapters import opencode
from hydra.adapters.contract import ServerCall
from hydra.records.agent import BuiltCommand
from hydra.records.outcome import ExitStatus
from tests.support.golden_text import approved, section

PASSWORD = "made-up-password"
PAIR = base64.b64encode(f"opencode:{PASSWORD}".encode()).decode()


def http(id: str, status: int = 200, body: object = None) -> dict[str, object]:
    return {"hydra": "http", "id": id, "status": status, "body": body}


def sse(type: str, **properties: object) -> dict[str, object]:
    data = {"type": type, "properties": {"sessionID": "ses_1", **properties}}
    return {"hydra": "sse", "id": "events", "data": data}


URL = b"opencode server listening on http://127.0.0.1:4096"
SESSION = http("session", body={"id": "ses_1", "directory": "/lane/shop", "version": "1.18.33"})
BUSY, IDLE = (sse("session.status", status={"type": name}) for name in ("busy", "idle"))
PART = {"type": "step-finish", "id": "p1", "sessionID": "ses_1", "reason": "stop"}
STEP = sse("message.part.updated", part=PART)
QUESTIONS = (  # a subagent's session asks, too
    BUSY,
    sse("permission.asked", id="per_1", sessionID="ses_2", permission="bash"),
    sse("question.asked", id="que_1"),
    sse("session.idle", sessionID="ses_2"),  # another session's
)
ERROR = {"name": "APIError", "data": {"message": "it is broken", "statusCode": 400}}
REFUSED = http("prompt", 400, {"data": {"message": "model not found"}})
FELL = "peer closed connection without sending complete message body"
MEETINGS: dict[str, tuple[dict[str, str], tuple[dict[str, object], ...]]] = {
    "a model, an agent and a variant": (
        {"model": "stub/some/model", "agent": "plan", "variant": "high"},
        (),
    ),
    "a copy of an old session": ({"resume": "ses_0", "fork": "yes"}, ()),
    "an old session with an odd name": ({"resume": "../x?y"}, ()),
    "questions, allowed": ({"allow": "yes"}, QUESTIONS),
    "questions, not allowed": ({}, QUESTIONS),
    "sent away once, when it is idle": ({}, (BUSY, STEP, IDLE, sse("session.idle"), IDLE)),
    "a prompt that is refused": ({}, (BUSY, REFUSED)),
    "events that are refused": ({}, (BUSY, http("events", 401))),
    "events that end": ({}, (BUSY, {"hydra": "sse_end", "id": "events"})),
    "it falls over": ({}, (BUSY, {"hydra": "http_failed", "id": "events", "text": FELL})),
    "an error before the turn": ({}, (sse("session.error", error=ERROR),)),
    "an error within it": ({}, (BUSY, sse("session.error", error=ERROR), IDLE)),
}


def held(dialogue: dict[str, str], lines: tuple[dict[str, object], ...]) -> str:
    """What is asked and understood, from the first line to the end."""
    params = {"OPENCODE_SERVER_PASSWORD": PASSWORD, **dialogue}
    facts: dict[str, Any] = {"program": "/bin/agent", "args": (), "stdin": b"Do it"}
    command = BuiltCommand(cwd=Path("/lane/shop"), session_params=tuple(params.items()), **facts)
    talk = opencode.ADAPTERS[1].conversation(command)
    assert list(talk.acts()) == []
    log = []
    for line in (URL, sse("server.connected"), SESSION, *lines):
        events = talk.parse_line(line if isinstance(line, bytes) else json.dumps(line).encode())
        log += [f"  {e.kind} {e.sub} {json.dumps(dict(e.data))}" for e in events]
        for act in talk.acts():
            log.append(f"> {type(act).__name__}")
            if isinstance(act, ServerCall):
                assert dict(act.headers)["Authorization"] == f"Basic {PAIR}"
                log[-1] = f"> {act.method} {act.url[21:]} {bytes(act.body or b'').decode()}"
    events = talk.end(ExitStatus(signal=9), {})
    return "\n".join([*log, *(f"end: {e.kind} {json.dumps(dict(e.data))}" for e in events)])


def test_what_is_asked_of_a_server_and_when_as_approved() -> None:
    text = "".join(section(name, held(*meeting)) for name, meeting in MEETINGS.items())
    approved("opencode-server.txt", text)

"""OpenCode's server, talked to: what is asked when, line by line."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from hydra.adapters import opencode
from hydra.adapters.contract import Act, Conversation, Finish, ServerCall
from hydra.records.agent import BuiltCommand
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus

URL = b"opencode server listening on http://127.0.0.1:4096"
PASSWORD = "made-up-password"


def heard(talk: Conversation, *lines: object) -> tuple[list[AgentEvent], list[Act]]:
    """The events of these lines, and what was to be done after each."""
    events: list[AgentEvent] = []
    acts: list[Act] = []
    for line in lines:
        events += talk.parse_line(line if isinstance(line, bytes) else json.dumps(line).encode())
        acts += talk.acts()
    return events, acts


def http(id: str, status: int = 200, body: object = None) -> dict[str, object]:
    return {"hydra": "http", "id": id, "status": status, "body": body}


def sse(type: str, **properties: object) -> dict[str, object]:
    data = {"type": type, "properties": {"sessionID": "ses_1", **properties}}
    return {"hydra": "sse", "id": "events", "data": data}


SESSION = http("session", body={"id": "ses_1", "directory": "/lane/shop", "version": "1.18.33"})
BUSY, IDLE = (sse("session.status", status={"type": name}) for name in ("busy", "idle"))
PART = {"type": "step-finish", "id": "p1", "sessionID": "ses_1", "reason": "stop"}
STEP = sse("message.part.updated", part=PART)


def begun(**dialogue: str) -> tuple[Conversation, list[Act]]:
    params = {"OPENCODE_SERVER_PASSWORD": PASSWORD, **dialogue}
    command = BuiltCommand(
        program="/bin/agent",
        args=(),
        cwd=Path("/lane/shop"),
        stdin=b"Do it",
        session_params=tuple(params.items()),
    )
    talk = opencode.ADAPTERS[1].conversation(command)
    assert list(talk.acts()) == []
    return talk, heard(talk, URL, sse("server.connected"), SESSION)[1]


def calls(acts: list[Act]) -> list[str]:
    return [f"{act.method} {act.url[21:]}" for act in acts if isinstance(act, ServerCall)]


def ended(talk: Conversation, number: int = 2) -> AgentEvent:
    (event,) = talk.end(ExitStatus(signal=number), {})
    return event


def test_it_is_listened_to_before_it_is_asked() -> None:
    _, acts = begun(model="stub/some/model", agent="plan", variant="high")
    begin = ["GET /global/health", "GET /event", "POST /session"]
    assert calls(acts) == [*begin, "POST /session/ses_1/prompt_async"]
    last: Any = acts[-1]
    assert json.loads(last.body) == {
        "parts": [{"type": "text", "text": "Do it"}],
        "model": {"providerID": "stub", "modelID": "some/model"},
        "agent": "plan",
        "variant": "high",
    }
    pair = base64.b64encode(f"opencode:{PASSWORD}".encode()).decode()
    assert all(dict(act.headers)["Authorization"] == f"Basic {pair}" for act in acts)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("dialogue", "call"),
    [
        ({"resume": "ses_0", "fork": "yes"}, "POST /session/ses_0/fork"),
        ({"resume": "../x?y"}, "GET /session/..%2Fx%3Fy"),
    ],
)
def test_it_goes_on_with_a_session(dialogue: dict[str, str], call: str) -> None:
    assert calls(begun(**dialogue)[1])[2] == call


@pytest.mark.parametrize(("allow", "reply"), [({"allow": "yes"}, "once"), ({}, "reject")])
def test_what_it_asks_is_answered_from_the_permission(allow: dict[str, str], reply: str) -> None:
    talk, _ = begun(**allow)
    # A subagent's session asks, too.
    question = sse("permission.asked", id="per_1", sessionID="ses_2", permission="bash")
    events, acts = heard(talk, BUSY, question, sse("question.asked", id="que_1"))
    assert calls(acts) == ["POST /permission/per_1/reply", "POST /question/que_1/reject"]
    first: Any = acts[0]
    assert json.loads(first.body) == {"reply": reply}
    assert [event.data["type"] for event in events] == ["permission", "question"]
    assert heard(talk, sse("session.idle", sessionID="ses_2")) == ([], [])  # another session's


def test_it_is_sent_away_once_when_it_is_idle() -> None:
    talk, _ = begun()
    assert heard(talk, BUSY, STEP, IDLE, sse("session.idle"), IDLE)[1] == [Finish()]
    assert ended(talk).kind == "completed"


FELL = "peer closed connection without sending complete message body"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (http("prompt", 400, {"data": {"message": "model not found"}}), "model not found"),
        (http("events", 401), "events: 401"),
        ({"hydra": "http_failed", "id": "events", "text": FELL}, FELL),
        ({"hydra": "sse_end", "id": "events"}, "events ended"),
    ],
)
def test_one_that_answers_no_more_has_failed(line: object, reason: str) -> None:
    talk, _ = begun()
    assert heard(talk, BUSY, line)[1] == [Finish()]
    event = ended(talk, 9)
    assert event.kind == "failed"
    assert reason in str(event.data["message"])
    if reason == FELL:  # it fell over: no service is out of reach
        assert event.data["reason"] == "no_terminal_event"


def test_an_error_before_the_turn_began_ends_it_and_one_within_waits() -> None:
    error = {"name": "APIError", "data": {"message": "it is broken", "statusCode": 400}}
    talk, _ = begun()
    assert heard(talk, sse("session.error", error=error))[1] == [Finish()]
    talk, _ = begun()
    assert heard(talk, BUSY, sse("session.error", error=error))[1] == []
    assert heard(talk, IDLE)[1] == [Finish()]
    assert ended(talk).kind == "failed"

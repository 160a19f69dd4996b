"""What the real CLIs wrote, and what they are known to write (`made.json`), read as events whatever
a line is; OpenCode's server, talked to: what is asked when.
"""

from __future__ import annotations

import base64
import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra.adapters import opencode, registry
from hydra.adapters.json_fields import (
    DEPTH,
    MalformedLine,
    decode,
    integer,
    number,
    objects,
    string,
)
from hydra.adapters.json_stream import RecentIds, Tools
from hydra.conformance import recorded
from hydra.conformance.contract import suite
from hydra.conformance.contract.subject import ContractSubject
from hydra.conformance.results import CaseVerdict
from hydra.records.agent import BuiltCommand, ServerCall
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from tests.adapter_recordings import FIXTURES, recordings
from tests.support.golden_text import approved, section

ENDINGS = (Path(__file__).parent / "data" / "endings.tsv").read_text().splitlines()
WRITTEN = ("streams.known", "detect.as_written", "lines.as_written")


def endings(events: list[AgentEvent]) -> list[AgentEvent]:
    return [event for event in events if event.kind in ("completed", "failed")]


def test_recordings_are_there() -> None:
    real = recordings()
    assert {path.parent.parent.name for path in real} == set(registry.OWN)
    assert len(real) > 300


@pytest.mark.parametrize("key", registry.OWN)
def test_each_agent_is_read_and_called_as_a_person_has_approved(key: str) -> None:
    """By its `*.expected.json`; the rest of the contract is a step of its own in .ci/run."""
    subject = ContractSubject(registry.get(key), recorded.root())
    cases = list(suite.run(subject, only=WRITTEN))
    assert [c.differences for c in cases if c.verdict is CaseVerdict.FAILED] == []
    assert cases


@pytest.mark.parametrize("row", ENDINGS)
def test_each_failure_has_its_name(row: str) -> None:
    """Written by hand: an expectation file that was generated wrongly does not pass here."""
    place, name, ending = row.split("\t")
    recording = recorded.Recording(FIXTURES / place)
    (stream,) = (stream for stream in recording.streams() if stream.name == name)
    (end,) = endings(recorded.parse(registry.get(recording.agent), stream))
    kind, *numbers = ending.split()
    if end.kind == "completed":
        assert kind == "completed"
        return
    assert f"{end.data['error']}/{end.data['reason']}" == kind
    seen = end.data["numbers"]
    assert isinstance(seen, dict)
    values = dict(number.split("=") for number in numbers)
    if numbers:
        assert seen == {name: float(value) for name, value in values.items()}


@pytest.mark.parametrize(
    "name", ["claude/2.1.330/stream.http-401", "codex/0.169.0/stream.builtin-401"]
)
def test_a_refused_key_ends_the_lane_before_the_cli_gives_up(name: str) -> None:
    parser = registry.get(name.split("/")[0]).parser()
    lines = (FIXTURES / f"{name}.jsonl").read_bytes().split(b"\n")
    at = next(i for i, line in enumerate(lines) if endings(parser.parse_line(line)))
    assert at < len(lines) - 3


def test_a_login_may_renew_its_token_after_the_first_refusal() -> None:
    init = {"type": "system", "subtype": "init", "apiKeySource": "none"}
    retry = {"type": "system", "subtype": "api_retry", "error_status": 401, "max_retries": 4}
    parser = registry.get("claude").parser()
    lines = (init, {**retry, "attempt": 1}, {**retry, "attempt": 2})
    _, first, (second,) = (parser.parse_line(json.dumps(line).encode()) for line in lines)
    assert [(event.kind, event.sub) for event in first] == [("progress", "retry")]
    assert (second.kind, second.data["terminal"]) == ("failed", True)


def test_cursors_result_ends_the_stream_because_the_process_may_not() -> None:
    parser = registry.get("cursor-agent").parser()
    (event,) = parser.parse_line(b'{"type":"result","subtype":"success","is_error":false}')
    assert event.kind == "completed"


@pytest.mark.parametrize(
    ("exit", "kind"), [(ExitStatus(code=1), "completed"), (ExitStatus(signal=15), "failed")]
)
def test_an_overflow_that_opencode_got_over_is_none(exit: ExitStatus, kind: str) -> None:
    """Exit 1 is no failure then, and a signal no end."""
    error = {"name": "ContextOverflowError", "data": {"message": "too long"}}
    part = {"type": "step-finish", "id": "s1", "reason": "stop"}
    parser = registry.get("opencode").parser()
    for line in ({"type": "error", "error": error}, {"type": "step_finish", "part": part}):
        parser.parse_line(json.dumps({"sessionID": "ses_1", **line}).encode())
    assert [event.kind for event in parser.end(exit, {})] == [kind]


def test_a_call_is_told_once_and_what_was_refused_is_no_failed_edit() -> None:
    tools = Tools({"write"})
    assert [event.kind for event in tools.call("1", "read", "Read a.txt")] == ["tool_call"]
    assert tools.call("1", "read", "Read a.txt") == []
    assert len(tools.answer("1", "read", "three lines", ok=True)) == 1
    assert tools.answer("1", "read", "again", ok=False, denied=True) == []
    tools.answer("2", "write", "no", ok=False, denied=True)
    tools.answer("3", "write", "disk full", ok=False)
    tools.answer("4", "read", "no such file", ok=False)
    assert (tools.denials, tools.failed_edits) == (["write"], 1)


def test_denials_are_bounded() -> None:
    tools = Tools(())
    for call in range(RecentIds.LARGEST + 5):
        tools.answer(str(call), "x" * 1000, "no", ok=False, denied=True)
    assert len(tools.denials) == RecentIds.LARGEST
    assert {len(name) for name in tools.denials} == {RecentIds.LONGEST}


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
NO_MODEL = http("prompt", 400, {"data": {"message": "model not found"}})
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
    "a prompt that is refused": ({}, (BUSY, NO_MODEL)),
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


TOLERATED = (
    (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
    (b'\x00\x00{"a":1}\x00\r', {"a": 1}),
    (b'{"a":"x\x00y"}', {"a": "x\x00y"}),
    (b'{"a":"\xff"}', {"a": "\ufffd"}),
    (b'{"a":"\xe2\x80\xa8"}', {"a": "\u2028"}),
    (b'{"a":"\\ud800 x","\\udfff":["\\uD83D"]}', {"a": "\ufffd x", "\ufffd": ["\ufffd"]}),
    (b'{"a":"\\ud83d\\ude00"}', {"a": "\U0001f600"}),
    (b"", None),
    (b" \r\x00", None),
)
REFUSED = (
    *(b"plain text", b"[1]", b'"x"', b'{"a":', b'{"a":1} trailing', b'{"a":NaN}', b'{"a":1e999}'),
    *(b'{"a":-Infinity}', b'{"a":' + b"9" * 31 + b"}", b'{"a":' + b"9" * 5000 + b"}"),
    *(b'{"a":' + b"[" * 100_000, b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    b'{"a":' * (DEPTH + 1) + b"1" + b"}" * (DEPTH + 1),
)


def test_what_is_tolerated() -> None:
    for line, expected in TOLERATED:
        assert decode(line) == expected


@pytest.mark.parametrize("line", REFUSED, ids=lambda line: line[:20])
def test_what_is_refused(line: bytes) -> None:
    with pytest.raises(MalformedLine):
        decode(line)


def test_depth_counts_levels_and_not_brackets() -> None:
    assert decode(json.dumps({"a": [[1]] * 500}).encode()) == {"a": [[1]] * 500}
    assert decode(b'{"a":' * DEPTH + b"1" + b"}" * DEPTH) is not None


@given(st.binary(max_size=200))
def test_nothing_else_is_ever_raised(line: bytes) -> None:
    with contextlib.suppress(MalformedLine):
        decode(line)


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.none()))
def test_honest_lines_come_back_as_they_were(value: dict[str, object]) -> None:
    if all(not isinstance(item, int) or abs(item) < 10**29 for item in value.values()):
        assert decode(json.dumps(value).encode()) == value


def test_access_never_trusts_a_type() -> None:
    holder = {"s": 1, "n": "1", "b": True, "l": [{"x": 1}, 2, "y"], "f": 1.5}
    assert string(holder, "s") == ""
    assert [integer(holder, name) for name in "nbf"] == [None] * 3
    assert [number(holder, name) for name in "fb"] == [1.5, None]
    assert [objects(holder, name) for name in "ls"] == [[{"x": 1}], []]


def test_a_line_of_nothing_but_brackets_is_refused_before_it_is_built() -> None:
    with pytest.raises(MalformedLine, match="brackets in one line"):
        decode(b'{"a":[' + b"[]," * 600_000 + b"[]]}")
    large = {"file": "if (x) { y[1] = {}; }\n" * 50_000}
    assert decode(json.dumps(large).encode()) == large

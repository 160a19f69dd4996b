"""What the real CLIs wrote, and what anything else may write, read as events."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hydra.adapters import registry
from hydra.adapters.codex import ROLLOUT
from hydra.adapters.contract import Parser
from hydra.conformance.recorded import documents
from hydra.errors import KINDS
from hydra.records.events import AGENT_KINDS, AgentEvent, Event, encode
from hydra.records.outcome import ExitStatus
from tests import adapter_recordings as recordings

REAL = recordings.recordings()
AGENTS = list(registry.OWN)
OF_LINES = [a for a in AGENTS if registry.OWN[a].descriptor.stream_format not in ("text", "json")]


def lines_of(agent: str) -> list[bytes]:
    """Every recorded line of an agent (cursor's: as documented)."""
    return [
        line
        for path in REAL
        if path.parent.parent.name == agent
        for line in path.read_bytes().split(b"\n")
        if line
    ]


LINES = {agent: lines_of(agent) for agent in AGENTS}


def endings(events: list[AgentEvent]) -> list[AgentEvent]:
    return [e for e in events if e.kind == "completed" or e.kind == "failed"]


def run(
    agent: str,
    lines: list[object],
    code: int | None = 0,
    signal: int | None = None,
    files: dict[str, bytes] | None = None,
) -> list[AgentEvent]:
    parser = registry.get(agent).parser()
    events = []
    for line in lines:
        events += parser.parse_line(line if isinstance(line, bytes) else json.dumps(line).encode())
    return events + parser.end(ExitStatus(code=code, signal=signal), files or {})


def last(events: list[AgentEvent]) -> tuple[object, object]:
    (end,) = endings(events)
    return (end.data["error"], end.data["reason"]) if end.kind == "failed" else ("", "")


def test_recordings_are_there() -> None:
    assert {path.parent.parent.name for path in REAL} == set(registry.OWN)
    assert len(REAL) > 300


@pytest.mark.parametrize("path", REAL, ids=lambda p: f"{p.parent.parent.name}-{p.stem}")
def test_a_real_recording_gives_the_expected_events(path: Path) -> None:
    expected = json.loads(recordings.expectation(path).read_text())
    assert documents(recordings.parse(path)) == expected


@pytest.mark.parametrize(
    ("recording", "ending"),
    [
        ("claude/2.1.330/stream.ok-edit", ("", "")),
        ("claude/2.1.330/stream.no-key", ("AuthMissing", "sign_in")),
        ("claude/2.1.330/stream.http-401", ("AuthMissing", "sign_in")),
        ("claude/2.1.330/stream.http-429", ("AgentFailed", "rate_limit")),
        ("claude/2.1.330/stream.http-404", ("AgentFailed", "model")),
        ("claude/2.1.330/stream.http-529", ("AgentFailed", "overloaded")),
        ("claude/2.1.330/stream.credit", ("AgentFailed", "quota")),
        ("claude/2.1.330/stream.context-overflow", ("AgentFailed", "context_overflow")),
        ("claude/2.1.330/stream.max-budget", ("AgentFailed", "budget")),
        ("claude/2.1.330/stream.sigint", ("Interrupted", "interrupted")),
        ("claude/2.1.330/stream.sigterm", ("Interrupted", "signal")),
        ("claude/2.1.330/stream.slash-clear", ("AgentFailed", "not_asked")),
        ("claude/2.1.330/stream.unknown-flag", ("UnsupportedFlag", "usage")),
        ("claude/2.1.330/stream.malformed", ("", "")),
        ("codex/0.169.0/stream.ok-edit", ("", "")),
        ("codex/0.169.0/stream.http-401", ("AuthMissing", "sign_in")),
        ("codex/0.169.0/stream.no-key", ("AuthMissing", "sign_in")),
        ("codex/0.169.0/stream.ratesse", ("AgentFailed", "rate_limit")),
        ("codex/0.169.0/stream.context-overflow", ("AgentFailed", "context_overflow")),
        ("codex/0.169.0/stream.sandbox-broken", ("SpawnFailed", "sandbox_broken")),
        ("codex/0.169.0/stream.toolarge", ("AgentFailed", "prompt_too_large")),
        ("codex/0.169.0/stream.sigterm", ("Interrupted", "signal")),
        ("codex/0.169.0/stream.bad-sandbox", ("UnsupportedFlag", "usage")),
        ("codex/0.40.0/stream.old-format", ("StreamParseError", "no_terminal_event")),
    ],
)
def test_each_real_failure_has_its_name(recording: str, ending: tuple[str, str]) -> None:
    """Written by hand: an expectation file that was generated wrongly does not pass here."""
    path = recordings.FIXTURES / f"{recording}.jsonl"
    assert last(recordings.parse(path)) == ending


def test_figures_of_real_failures() -> None:
    def numbers(name: str) -> object:
        (end,) = endings(recordings.parse(recordings.FIXTURES / name))
        return end.data["numbers"]

    assert numbers("claude/2.1.330/stream.context-overflow.jsonl") == {
        "status": 400,
        "tokens": 213456,
        "limit": 200000,
    }
    assert numbers("claude/2.1.330/stream.http-429.jsonl") == {"status": 429, "retry_after": 2.44}
    assert numbers("claude/2.1.330/stream.max-turns.jsonl") == {"limit": 2}
    assert numbers("codex/0.169.0/stream.ratesse.jsonl") == {"retry_after": 11.054}
    assert numbers("codex/0.169.0/stream.toolarge.jsonl") == {"limit": 1048576, "length": 1100000}


def test_a_refused_key_ends_the_lane_before_the_cli_gives_up() -> None:
    for name in ("claude/2.1.330/stream.http-401", "codex/0.169.0/stream.builtin-401"):
        path = recordings.FIXTURES / f"{name}.jsonl"
        parser = registry.get(name.split("/")[0]).parser()
        lines = path.read_bytes().split(b"\n")
        at = next(i for i, line in enumerate(lines) if endings(parser.parse_line(line)))
        assert at < len(lines) - 3


def test_a_login_may_renew_its_token_after_the_first_refusal() -> None:
    init = {"type": "system", "subtype": "init", "apiKeySource": "none"}
    retry = {"type": "system", "subtype": "api_retry", "error_status": 401, "max_retries": 4}
    parser = registry.get("claude").parser()
    parser.parse_line(json.dumps(init).encode())
    (first,) = parser.parse_line(json.dumps({**retry, "attempt": 1}).encode())
    assert (first.kind, first.sub) == ("progress", "retry")
    (second,) = parser.parse_line(json.dumps({**retry, "attempt": 2}).encode())
    assert second.kind == "failed"
    assert second.data["terminal"] is True


def test_a_proxy_that_forbids_websockets_is_no_missing_sign_in() -> None:
    text = "Reconnecting... 2/5 (unexpected status 403 Forbidden: no, url: wss://host/responses)"
    (event,) = (
        registry.get("codex")
        .parser()
        .parse_line(json.dumps({"type": "error", "message": text}).encode())
    )
    assert (event.kind, event.sub, event.data["status"]) == ("progress", "retry", 403)


def test_an_error_result_that_a_later_turn_mends_is_no_failure() -> None:
    result = {"type": "result", "subtype": "success", "num_turns": 1, "result": "ok"}
    events = run(
        "claude",
        [{**result, "is_error": True, "api_error_status": 529}, {**result, "is_error": False}],
    )
    assert [e.kind for e in endings(events)] == ["completed"]


def test_codex_says_what_it_applied_in_its_own_record_only() -> None:
    started = {"type": "thread.started", "thread_id": "t-1"}
    context = {
        "type": "turn_context",
        "payload": {"model": "gpt", "sandbox_policy": {"type": "read-only"}},
    }
    meta = {"type": "session_meta", "payload": {"id": "t-1"}}
    rollout = b"\n".join(json.dumps(line).encode() for line in (meta, context))
    events = run("codex", [started], files={ROLLOUT: rollout})
    assert {"session": "t-1", "model": "gpt", "sandbox": "read-only"} in [e.data for e in events]
    other = run("codex", [{**started, "thread_id": "t-2"}], files={ROLLOUT: rollout})
    assert not [e for e in other if "sandbox" in e.data]


def test_cursor_as_documented() -> None:
    folder = recordings.FIXTURES / "cursor-agent/2026.10.01-e373342"
    events = recordings.parse(folder / "stream.denied.jsonl")
    assert events[-1].data == {
        "denials": ["edit", "shell"],
        "failed_items": 1,
        "text": "I could not.",
    }
    usage = {"input_tokens": 140, "output_tokens": 20, "cached_tokens": 40}
    assert events[-2].data == usage
    assert last(recordings.parse(folder / "stream.cut.jsonl")) == ("AgentFailed", "rate_limit")


def test_cursors_result_ends_the_stream_because_the_process_may_not() -> None:
    parser = registry.get("cursor-agent").parser()
    (event,) = parser.parse_line(b'{"type":"result","subtype":"success","is_error":false}')
    assert event.kind == "completed"


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("Error: Authentication required. Run login", ("AuthMissing", "sign_in")),
        ("Error: You have reached your usage limit (429).", ("AgentFailed", "rate_limit")),
        ("Error: Workspace trust required.", ("AgentFailed", "not_trusted")),
        ("segmentation fault", ("StreamParseError", "no_terminal_event")),
    ],
)
def test_cursor_fails_in_words_on_stderr(text: str, ending: tuple[str, str]) -> None:
    assert last(run("cursor-agent", [], code=1, files={"stderr": text.encode()})) == ending


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    ("code", "signal", "ending"),
    [
        (0, None, ("StreamParseError", "no_terminal_event")),
        (1, None, ("StreamParseError", "no_terminal_event")),
        (None, None, ("StreamParseError", "no_terminal_event")),
        (None, 2, ("Interrupted", "signal")),
        (143, None, ("Interrupted", "signal")),
        (None, 9, ("AgentFailed", "killed")),
    ],
)
def test_a_silent_end_is_named_by_its_exit(
    agent: str, code: int | None, signal: int | None, ending: tuple[str, str]
) -> None:
    assert last(run(agent, [], code=code, signal=signal)) == ending


@pytest.mark.parametrize("agent", AGENTS)
def test_plain_text_after_json_failed(agent: str) -> None:
    parser = registry.get(agent).parser()
    events = parser.parse_raw("caf\u00e9".encode()[:4]) + parser.parse_raw(b"\xa9 ok\n")
    assert "".join(str(e.data["text"]) for e in events) == "caf\u00e9 ok"
    assert last(events + parser.end(ExitStatus(code=0), {})) == (
        "StreamParseError",
        "no_terminal_event",
    )


@pytest.mark.parametrize("agent", OF_LINES)
def test_garbage_is_counted_and_unknown_types_are_tolerated(agent: str) -> None:
    parser = registry.get(agent).parser()
    assert [e.sub for e in parser.parse_line(b"oops {")] == ["malformed"]
    assert [e.sub for e in parser.parse_line(b'{"type":"brand_new","x":[1]}')] == ["unknown"]
    assert parser.parse_line(b"  \r") == []


def check(agent: str, lines: list[bytes], exit: ExitStatus, stderr: bytes) -> None:
    """What holds for any input: nothing raises, one ending, every event can be recorded."""
    parser: Parser = registry.get(agent).parser()
    events: list[AgentEvent] = []
    for line in lines:
        events += parser.parse_line(line)
    events += parser.end(exit, {"stderr": stderr, ROLLOUT: stderr})
    events += parser.end(exit, {})
    (end,) = endings(events)
    assert end.kind == "completed" or (end.data["error"] in KINDS and end.data["terminal"] is True)
    for number, event in enumerate(events):
        assert event.kind in AGENT_KINDS
        encode(Event(seq=number, wall=0, mono=0, run="r", kind=event.kind, data=event.data)).decode(
            "ascii"
        )


EXITS = st.one_of(
    st.builds(ExitStatus, code=st.sampled_from([0, 1, 2, 101, 130, 143])),
    st.builds(ExitStatus, signal=st.sampled_from([1, 2, 9, 11, 15])),
    st.just(ExitStatus()),
)


@st.composite
def spoiled(draw: st.DrawFn, agent: str) -> list[bytes]:
    """Real lines cut, repeated, out of order, with bytes changed or junk between them."""
    lines = draw(st.lists(st.sampled_from(LINES[agent]), max_size=12))
    contents = []
    for line in lines:
        how = draw(st.integers(0, 4))
        at = draw(st.integers(0, len(line)))
        if how == 1:
            line = line[:at]
        elif how == 2:
            line = line[:at] + draw(st.binary(max_size=4)) + line[at + 1 :]
        elif how == 3:
            contents.append(line)
        elif how == 4:
            contents.append(draw(st.binary(max_size=40)))
        contents.append(line)
    return contents


@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_spoiled_stream_never_raises_and_ends_once(agent: str, data: st.DataObject) -> None:
    check(agent, data.draw(spoiled(agent)), data.draw(EXITS), data.draw(st.binary(max_size=80)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.slow
@pytest.mark.parametrize("agent", OF_LINES)
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_value_in_any_field_is_survived(agent: str, data: st.DataObject) -> None:
    """A known line with one of its fields, at any depth, replaced by something else."""
    line = json.loads(data.draw(st.sampled_from([x for x in LINES[agent] if x[:1] == b"{"])))
    holder = line
    while True:
        key = data.draw(st.sampled_from(sorted(holder))) if holder else "type"
        inner = holder.get(key)
        if isinstance(inner, list) and inner and isinstance(inner[0], dict):
            inner = inner[0]
        if isinstance(inner, dict) and data.draw(st.booleans()):
            holder = inner
            continue
        holder[key] = data.draw(JSON)
        break
    check(agent, [json.dumps(line).encode()], data.draw(EXITS), b"")

"""What the real CLIs wrote, and what anything else may write, read as events."""

from __future__ import annotations

import json

import pytest

from hydra.adapters import registry
from hydra.adapters.codex import ROLLOUT
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from tests import adapter_recordings as recordings

REAL = recordings.recordings()


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

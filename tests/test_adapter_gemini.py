"""What the contract suite cannot see of Gemini CLI: which failure it was, by its words."""

from __future__ import annotations

from pathlib import Path

import pytest

from hydra.adapters.gemini import ADAPTER, GeminiStream, failure
from hydra.records.agent import DetectResult, SpawnRequest
from hydra.records.outcome import ExitStatus


@pytest.mark.parametrize(
    ("text", "kind", "ended"),
    [
        ('[API Error: {"error":{"code":400,"message":"API key not valid."}}]', "", "sign_in"),
        ('[API Error: {"error":{"code":403,"message":"Permission denied."}}]', "", "sign_in"),
        ('[API Error: {"error":{"code":429,"message":"slow down"}}]', "", "rate_limit"),
        ("[API Error: You have exhausted your daily quota on this model.]", "", "quota"),
        ('[API Error: {"error":{"code":404,"message":"no"}}]', "", "model"),
        ('[API Error: {"error":{"code":503,"message":"no"}}]', "", "overloaded"),
        ("[API Error: exception TypeError: fetch failed sending request]", "", "network"),
        ("Reached max session turns for this session.", "FatalTurnLimitedError", "max_turns"),
        ("something else", "", "agent_error"),
    ],
)
def test_which_failure_it_was(text: str, kind: str, ended: str) -> None:
    data = failure(text, kind).data
    assert data["reason"] == ended
    assert data["error"] == ("AuthMissing" if ended == "sign_in" else "AgentFailed")


def test_the_figures_of_a_conversation_that_is_too_long() -> None:
    text = "The input token count (12) exceeds the maximum number of tokens allowed (10)."
    assert failure(text).data["numbers"] == {"tokens": 12, "limit": 10}


def test_no_sign_in_is_told_on_stderr_alone() -> None:
    stderr = b"\x1b[31mPlease set an Auth method in your /home/user/.gemini/settings.json\n"
    (event,) = GeminiStream().end(ExitStatus(code=41), {"stderr": stderr})
    assert (event.data["error"], event.data["reason"]) == ("AuthMissing", "sign_in")


def test_an_error_before_a_result_that_says_success_is_a_failure() -> None:
    parser = GeminiStream()
    parser.parse_line(
        b'{"type":"error","severity":"error","message":"Maximum session turns exceeded"}'
    )
    parser.parse_line(b'{"type":"result","status":"success","stats":{}}')
    (event,) = parser.end(ExitStatus(code=0), {})
    assert (event.kind, event.data["reason"]) == ("failed", "max_turns")


def test_thinking_counts_as_output() -> None:
    stats = b'{"total_tokens":150,"input_tokens":100,"output_tokens":20,"cached":60}'
    line = b'{"type":"result","status":"success","stats":' + stats + b"}"
    event, _ = GeminiStream().parse_line(line)
    assert event.data == {"input_tokens": 100, "output_tokens": 50, "cached_tokens": 60}


def test_a_repository_s_own_variables_are_warned_of() -> None:
    result = DetectResult(
        adapter="gemini",
        binary=Path("/opt/gemini"),
        flags=frozenset({"--output-format", "--skip-trust", "--approval-mode"}),
    )
    plain = ADAPTER.build_command(SpawnRequest(prompt="x", worktree=Path("/lane/shop")), result)
    named = SpawnRequest(prompt="x", worktree=Path("/lane/shop"), instructions=(".gemini/.env",))
    assert plain.warnings == ()
    assert ".gemini/.env" in ADAPTER.build_command(named, result).warnings[0]

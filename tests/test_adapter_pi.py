"""pi and its family: what no recording of 0.73.1 shows, and the line's own decisions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.adapters import registry
from hydra.adapters.command_line import options
from hydra.adapters.failures import failure
from hydra.adapters.pi_family import PiEvents, split_model
from hydra.records.agent import BuiltCommand, DetectResult, SpawnRequest
from hydra.records.outcome import ExitStatus
from hydra.records.request import Permission
from tests.adapter_recordings import FIXTURES

ANSWER = {"role": "assistant", "content": [{"type": "text", "text": "Done."}], "stopReason": "stop"}
BROKEN = {"role": "assistant", "content": [], "stopReason": "error", "errorMessage": "503 busy"}


def line(**changes: object) -> BuiltCommand:
    flags = options((FIXTURES / "pi/0.73.1/help.txt").read_text())
    result = DetectResult(adapter="pi", binary=Path("/bin/pi"), flags=flags)
    if changes.pop("newer", False):
        result = replace(result, flags=flags | {"--no-approve"})
    request = replace(SpawnRequest(prompt="Fix it", worktree=Path("/lane/shop")), **changes)
    return registry.get("pi").build_command(request, result)


def test_a_provider_is_split_from_its_model_at_the_first_slash() -> None:
    assert split_model("openrouter/anthropic/opus") == ("openrouter", "anthropic/opus")
    assert split_model("opus") == ("", "opus")
    args = line(model="openrouter/anthropic/opus").args
    assert args[-4:] == ("--provider", "openrouter", "--model", "anthropic/opus")


def test_settings_of_the_repository_are_warned_of_or_kept_out() -> None:
    built_command = line(instructions=(".pi/settings.json",))
    assert "shellCommandPrefix" in built_command.warnings[0]
    assert line().warnings == ()
    newer = line(instructions=(".pi/settings.json",), newer=True)
    assert "--no-approve" in newer.args
    assert newer.warnings == ()


def test_a_preface_travels_in_a_file_of_the_lane() -> None:
    built_command = line(preface="Be brief", home=Path("/lane/home"), permission=Permission.PLAN)
    assert built_command.files == ((Path("/lane/home/preface.md"), b"Be brief\n"),)
    assert built_command.args[-2:] == ("--append-system-prompt", "/lane/home/preface.md")
    assert "Be brief" not in " ".join(built_command.args)


def test_an_end_that_a_retry_follows_is_none() -> None:
    events = PiEvents()
    for value in ({"type": "agent_start"}, {"type": "message_end", "message": BROKEN}):
        events.read(value)
    events.read({"type": "agent_end", "messages": [], "willRetry": True})
    assert (events.settled, events.ending()) == (False, None)
    events.read({"type": "message_end", "message": {**ANSWER, "timestamp": 2}})
    events.read({"type": "agent_end", "messages": [], "willRetry": False})
    assert events.read({"type": "agent_settled"}) == []
    ended = events.ending()
    assert ended is not None
    assert (ended.kind, ended.data["text"]) == ("completed", "Done.")


@pytest.mark.parametrize("agent", ["pi", "omp"])
def test_an_end_in_the_middle_of_a_tool_is_a_failure(agent: str) -> None:
    parser = registry.get(agent).parser()
    cut = {**ANSWER, "stopReason": "toolUse"}
    for rows in ({"type": "message_end", "message": cut}, {"type": "agent_end", "messages": []}):
        parser.parse_line(json.dumps(rows).encode())
    (ended,) = parser.end(ExitStatus(code=0), {})
    assert (ended.kind, ended.data["reason"]) == ("failed", "agent_error")


@pytest.mark.parametrize(
    ("text", "kind", "reason"),
    [
        ("401 Incorrect API key provided.", "AuthMissing", "sign_in"),
        ("No API key found for anthropic.", "AuthMissing", "sign_in"),
        ("429 You exceeded your current quota", "AgentFailed", "quota"),
        ("429 Too Many Requests", "AgentFailed", "rate_limit"),
        ("404 The model does not exist.", "AgentFailed", "model"),
        ("529 overloaded", "AgentFailed", "overloaded"),
        ("API call failed after 3 retries: HTTP 500: An error.", "AgentFailed", "overloaded"),
        ("API call failed after 3 retries: HTTP 403: An error.", "AuthMissing", "sign_in"),
        ("Error: retried 5 times. Last error: 500 An error.", "AgentFailed", "overloaded"),
        ("stub failed (provider internal error, HTTP 500).", "AgentFailed", "overloaded"),
        ("We are currently experiencing high demand.", "AgentFailed", "overloaded"),
        ("terminated", "AgentFailed", "network"),
        ("400 maximum context length is 10 tokens", "AgentFailed", "context_overflow"),
        ("something else", "AgentFailed", "agent_error"),
    ],
)
def test_a_services_words_are_told_apart(text: str, kind: str, reason: str) -> None:
    document = failure(text).data
    assert (document["error"], document["reason"]) == (kind, reason)


PI_PROVIDER = 'Error: Unknown provider "no". Use --list-models to see available providers/models.'
PI_MODEL = 'Error: Model "no" not found. Use --list-models to see available models.'
OMP_MODEL = 'Model "no/such" not found'


@pytest.mark.parametrize(
    ("agent", "stderr", "text"),
    [
        ("pi", PI_PROVIDER + "\n", PI_PROVIDER),
        ("pi", f"Warning: no keys\n{PI_MODEL}\n", PI_MODEL),
        ("omp", OMP_MODEL + "\n\nSet an API key environment variable:\n  X\n", OMP_MODEL),
    ],
)
def test_a_model_that_is_none_is_told_as_that(agent: str, stderr: str, text: str) -> None:
    (ended,) = registry.get(agent).parser().end(ExitStatus(code=1), {"stderr": stderr.encode()})
    assert (ended.data["error"], ended.data["reason"]) == ("AgentFailed", "model")
    assert ended.data["message"] == text

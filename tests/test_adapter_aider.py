"""What the contract suite cannot see of Aider: its own lines among the model's words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hydra.adapters.aider import ADAPTER, CONFIGURED, EVENTS_FILE, AiderText
from hydra.errors import AgentError
from hydra.records.agent import DetectResult, ProbeOutput, SpawnRequest
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus

FLAGS = frozenset(flag.name for flag in ADAPTER.table)
HEAD = ("Aider v0.86.2", "Model: openai/m with whole edit format")


def found(*more: str) -> DetectResult:
    return DetectResult(adapter="aider", binary=Path("/opt/aider"), flags=FLAGS | set(more))


def request(**changes: Any) -> SpawnRequest:
    return SpawnRequest(**{"prompt": "Fix it", "worktree": Path("/lane/shop"), **changes})


def read(*lines: str, events: str = "", code: int = 0) -> list[AgentEvent]:
    parser = AiderText()
    seen = [event for line in lines for event in parser.parse_line(line.encode())]
    return [*seen, *parser.end(ExitStatus(code=code), {EVENTS_FILE: events.encode()})]


def log(*events: tuple[str, dict[str, Any]]) -> str:
    return "\n".join(json.dumps({"event": name, "properties": what}) for name, what in events)


DONE = ("exit", {"reason": "Completed --message-file"})
SENT = ("message_send", {"prompt_tokens": 4801, "completion_tokens": 9, "total_cost": 0.25})


def test_a_lane_without_a_model_is_refused_unless_its_settings_name_one() -> None:
    with pytest.raises(AgentError, match="login in a browser"):
        ADAPTER.build_command(request(), found())
    assert "--model" not in ADAPTER.build_command(request(), found(CONFIGURED)).args
    assert "--model" in ADAPTER.build_command(request(model="openai/m"), found()).args


@pytest.mark.parametrize(("line", "named"), [("foo", True), ("None", False)])
def test_its_settings_are_read_from_what_it_prints(line: str, named: bool) -> None:
    text = f"Option settings:\n  - message: None\n  - model: {line}\n  - model_settings_file: x\n"
    probe = ProbeOutput(name="settings", argv=("aider",), exit_code=0, stdout=text)
    flags = ADAPTER.detect("/opt/aider", {"settings": probe}).flags
    assert (CONFIGURED in flags) is named


@pytest.mark.parametrize("prompt", ["/run rm -rf .", "!rm -rf ."])
def test_a_command_of_aiders_is_a_text(prompt: str) -> None:
    built = ADAPTER.build_command(request(prompt=prompt, model="m"), found())
    ((path, data),) = built.files
    assert (path, data) == (Path("/lane/home/aider-message.txt"), f"\n{prompt}".encode())
    assert built.args[:2] == ("--message-file", str(path))


def test_the_repositorys_own_settings_are_told_and_never_shown_to_the_model() -> None:
    spawn_request = request(model="m", instructions=("AGENTS.md", ".aider.conf.yml"))
    built = ADAPTER.build_command(spawn_request, found())
    assert built.args[-2:] == ("--read", "AGENTS.md")
    assert ".aider.conf.yml: aider has no switch" in built.warnings[0]
    assert not ADAPTER.build_command(request(model="m"), found()).warnings


def test_a_run_that_is_done() -> None:
    seen = read(
        *HEAD,
        "► **THINKING**",
        "Hm.",
        "► **ANSWER**",
        "Here it is.",
        "Tokens: 4.8k sent, 9 received. Cost: $0.2 message, $0.25 session.",
        "Applied edit to a b.py",
        events=log(SENT, DONE),
    )
    assert [(e.kind, e.sub) for e in seen] == [
        ("progress", "session"),
        ("message", "thinking"),
        ("message", ""),
        ("usage", ""),
        ("tool_call", ""),
        ("tool_result", ""),
        ("usage", ""),
        ("completed", ""),
    ]
    assert seen[3].data == {"input_tokens": 4800, "output_tokens": 9}
    assert seen[-2].data == {"input_tokens": 4801, "output_tokens": 9, "cost_usd": 0.25}
    assert seen[-1].data["text"] == "Here it is."


@pytest.mark.parametrize(
    ("line", "error", "reason"),
    [
        ("litellm.AuthenticationError: no", "AuthMissing", "sign_in"),
        ("litellm.APIError: X - You are not allowed to do this.", "AuthMissing", "sign_in"),
        ("litellm.RateLimitError: no", "AgentFailed", "rate_limit"),
        ("litellm.InternalServerError: X - Connection error.", "AgentFailed", "network"),
        ("litellm.BadRequestError: insufficient_quota", "AgentFailed", "quota"),
        ("Model openai/m has hit a token limit!", "AgentFailed", "context_overflow"),
        ("No LLM model was specified and no API keys were provided.", "AuthMissing", "sign_in"),
    ],
)
def test_exit_0_with_an_error_as_its_last_word_is_failed(
    line: str, error: str, reason: str
) -> None:
    end = read(*HEAD, "Tokens: 7 sent, 0 received.", line, events=log(DONE))[-1]
    assert (end.kind, end.data["error"], end.data["reason"]) == ("failed", error, reason)


def test_a_retry_that_gets_through_is_done() -> None:
    lines = ("litellm.RateLimitError: wait", "Retrying in 0.5 seconds...", "Done.")
    seen = read(*HEAD, *lines, "Tokens: 7 sent, 2 received.", events=log(SENT, DONE))
    (retry,) = [event for event in seen if event.sub == "retry"]
    assert (retry.data["seconds"], retry.data["text"]) == (0.5, "RateLimitError: wait")
    assert seen[-1].kind == "completed"


def test_one_that_was_stopped_in_its_second_answer_is_not_done() -> None:
    lines = (*HEAD, "First.", "Tokens: 7 sent, 2 received.", "Sec")
    end = read(*lines, events=log(SENT, ("message_send_starting", {})), code=130)[-1]
    assert (end.kind, end.data["error"]) == ("failed", "Interrupted")


def test_edits_that_never_applied_are_told() -> None:
    wrong = "The LLM did not conform to the edit format."
    lines = (*HEAD, "x", "Tokens: 7 sent, 2 received.", wrong)
    assert read(*lines, events=log(SENT, DONE))[-1].data["failed_items"] == 1
    mended = (*lines, "Tokens: 9 sent, 3 received.", "Applied edit to a.py")
    assert read(*mended, events=log(SENT, DONE))[-1].data["failed_items"] == 0

"""What the contract suite cannot see of Hermes Agent: the file that tells how a run ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hydra.adapters.command_line import options
from hydra.adapters.hermes import ADAPTER, PROMPT_BYTES, TABLE, USAGE_FILE, HermesText
from hydra.errors import AgentError
from hydra.records.agent import DetectResult, SpawnRequest
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from hydra.records.transcript import AgentTranscript

FOUND = DetectResult(
    adapter="hermes", binary=Path("/opt/hermes"), flags=frozenset(flag.name for flag in TABLE)
)


def request(**changes: Any) -> SpawnRequest:
    return SpawnRequest(**{"prompt": "Fix it", "worktree": Path("/lane/shop"), **changes})


def read(*lines: str, used: dict[str, Any] | None = None, code: int = 0) -> list[AgentEvent]:
    parser = HermesText()
    seen = [event for line in lines for event in parser.parse_line(line.encode())]
    data = json.dumps(used, indent=2).encode() if used is not None else b""
    return [*seen, *parser.end(ExitStatus(code=code), {USAGE_FILE: data})]


def test_each_permission_is_a_set_of_tools() -> None:
    for permission, sets in ADAPTER.descriptor.modes.items():
        args = ADAPTER.build_command(request(permission=permission), FOUND).args
        assert [arg for arg in args if "toolsets" in arg] == [f"--toolsets={sets}"] * bool(sets)


def test_a_task_that_no_line_holds_is_refused() -> None:
    fits = "\u00e9" * (PROMPT_BYTES // 2)
    assert ADAPTER.build_command(request(prompt=fits), FOUND).args[-1] == f"--oneshot={fits}"
    with pytest.raises(AgentError) as refused:
        ADAPTER.build_command(request(prompt=fits + "\u00e9"), FOUND)
    assert refused.value.failure.reason == "prompt_too_large"
    with pytest.raises(AgentError, match="cannot stand there"):
        ADAPTER.build_command(request(prompt="a\x00b"), FOUND)


def test_its_users_are_told_that_others_can_read_the_task() -> None:
    assert "other users" in ADAPTER.build_command(request(), FOUND).warnings[0]


def test_a_run_that_is_done_has_its_figures() -> None:
    used = {"completed": True, "failed": False, "session_id": "s-1", "model": "m"}
    used |= {"input_tokens": 10, "cache_read_tokens": 4, "cache_write_tokens": 1}
    seen = read("Done.", used={**used, "output_tokens": 2, "estimated_cost_usd": 0.0})
    assert [(e.kind, e.sub) for e in seen] == [
        ("message", ""),
        ("progress", "session"),
        ("usage", ""),
        ("completed", ""),
    ]
    assert seen[1].data == {"session": "s-1", "model": "m"}
    transcript = AgentTranscript()
    for event in seen:
        transcript.add(event)
    assert transcript.session == "s-1"
    assert seen[2].data == {"input_tokens": 15, "output_tokens": 2, "cached_tokens": 4}


@pytest.mark.parametrize(
    ("text", "error", "reason"),
    [
        ("HTTP 401: Incorrect API key provided.", "AuthMissing", "sign_in"),
        ("HTTP 404: The model does not exist.", "AgentFailed", "model"),
        ("HTTP 429: slow down", "AgentFailed", "rate_limit"),
    ],
)
def test_exit_0_is_failed_where_the_file_says_so(text: str, error: str, reason: str) -> None:
    end = read(text, used={"failed": True, "completed": None})[-1]
    assert (end.kind, end.data["error"], end.data["reason"]) == ("failed", error, reason)


def test_a_text_alone_is_no_success() -> None:
    for used in (None, {"completed": None}, {"completed": "yes"}):
        end = read("Done.", used=used)[-1]
        assert (end.kind, end.data["error"]) == ("failed", "StreamParseError")
    assert read("So far.", used={"completed": False})[-1].data["reason"] == "max_turns"
    assert read(used={"completed": True})[-1].kind == "failed"


def test_the_options_of_argparse_are_read() -> None:
    text = (
        "  -z PROMPT, --oneshot PROMPT\n      One shot\n  --version, -V  Show\n  -a, --all  All\n"
    )
    assert options(text) == {"--oneshot", "--version", "--all"}

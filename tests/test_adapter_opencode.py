"""What the contract suite cannot see of OpenCode: how an end without a closing event is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hydra.adapters.opencode import ADAPTERS
from hydra.records.agent import DetectResult, SpawnRequest
from hydra.records.outcome import ExitStatus

OVERFLOW = {"name": "ContextOverflowError", "data": {"message": "too long"}}
FOUND = DetectResult(
    adapter="opencode",
    binary=Path("/usr/bin/opencode"),
    flags=frozenset({"--format", "--model", "--agent", "--auto", "--variant"}),
)
REQUEST = SpawnRequest(prompt="Do it", worktree=Path("/lane/shop"), home=Path("/lane/home"))


@pytest.mark.parametrize(
    ("version", "warned"), [("1.18.33", False), ("1.18.34", True), ("2.0.0", True), ("", False)]
)
def test_what_a_newer_one_may_fetch_all_the_same_is_said(version: str, warned: bool) -> None:
    built = ADAPTERS[0].build_command(REQUEST, replace(FOUND, version=version))
    assert any(f"OpenCode {version} may fetch" in text for text in built.warnings) is warned


def line(kind: str, **data: Any) -> bytes:
    return json.dumps({"type": kind, "sessionID": "ses_1", **data}).encode()


def step(reason: str, number: int = 1) -> bytes:
    tokens = {"input": 10, "output": 4, "reasoning": 3, "cache": {"read": 5, "write": 2}}
    part = {"type": "step-finish", "id": f"s{number}", "reason": reason, "tokens": tokens}
    return line("step_finish", part=part)


def ended(*lines: bytes, code: int | None = 0, signal: int | None = None, log: str = "") -> Any:
    parser = ADAPTERS[0].parser()
    events = [event for content in lines for event in parser.parse_line(content)]
    events += parser.end(ExitStatus(code=code, signal=signal), {"stderr": log.encode()})
    endings = [event for event in events if event.kind in ("completed", "failed")]
    assert len(endings) == 1
    return endings[0]


def test_the_last_step_ends_it() -> None:
    assert ended(step("stop")).kind == "completed"
    assert ended(step("tool-calls")).data["reason"] == "agent_error"
    assert ended(step("length")).data["reason"] == "agent_error"


def test_a_signal_ends_what_had_not_stopped_by_itself() -> None:
    assert ended(step("stop"), code=None, signal=15).kind == "completed"
    assert ended(step("tool-calls"), code=None, signal=15).data["error"] == "Interrupted"
    summary = (line("error", error=OVERFLOW), step("stop"))
    assert ended(*summary, code=None, signal=15).data["error"] == "Interrupted"


def test_an_overflow_it_got_over_is_none_and_a_second_one_at_once_is() -> None:
    error = line("error", error=OVERFLOW)
    assert ended(error, step("stop"), code=1).kind == "completed"
    assert ended(error, step("stop"), error, code=1).data["reason"] == "context_overflow"


def test_an_unknown_model_is_told_by_its_log() -> None:
    error = line("error", error={"name": "UnknownError", "data": {"message": "Unexpected"}})
    log = 'level=ERROR error="ProviderModelNotFoundError: Model not found: a/b." cause="..."'
    assert ended(error, code=1, log=log).data["reason"] == "model"
    assert ended(error, code=1).data["reason"] == "agent_error"


def test_tokens_are_summed_with_the_cache_and_the_thinking() -> None:
    parser = ADAPTERS[0].parser()
    events = [*parser.parse_line(step("tool-calls", 1)), *parser.parse_line(step("stop", 2))]
    assert events[-1].data == {"input_tokens": 34, "output_tokens": 14, "cached_tokens": 10}


def settings(request: SpawnRequest) -> dict[str, Any]:
    environ = dict(ADAPTERS[0].build_command(request, FOUND).env)
    document: dict[str, Any] = json.loads(environ["OPENCODE_CONFIG_CONTENT"])
    return document


def test_the_hosted_models_are_on_by_name_alone() -> None:
    assert settings(REQUEST)["disabled_providers"] == ["opencode"]
    assert "disabled_providers" not in settings(replace(REQUEST, model="opencode/grok"))
    warned = ADAPTERS[0].build_command(REQUEST, FOUND).warnings
    assert any("no model was named" in warning for warning in warned)


def test_the_preface_is_a_file_of_the_lanes_home() -> None:
    request = replace(REQUEST, preface="Be brief.", instructions=("AGENTS.md", "CLAUDE.md"))
    place = "/lane/home/opencode-preface.md"
    assert settings(request)["instructions"] == [place, "/lane/shop/AGENTS.md"]
    assert (Path(place), b"Be brief.") in ADAPTERS[0].build_command(request, FOUND).files

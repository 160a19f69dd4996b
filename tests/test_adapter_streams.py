"""What the real CLIs wrote, and what they are known to write (`made.json`), read as events."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hydra.adapters import registry
from hydra.adapters.json_stream import RecentIds, Tools
from hydra.conformance import recorded
from hydra.conformance.contract import suite
from hydra.conformance.contract.subject import ContractSubject
from hydra.conformance.results import CaseVerdict
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus
from tests.adapter_recordings import FIXTURES, recordings

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
    for number in range(RecentIds.LARGEST + 5):
        tools.answer(str(number), "x" * 1000, "no", ok=False, denied=True)
    assert len(tools.denials) == RecentIds.LARGEST
    assert {len(name) for name in tools.denials} == {RecentIds.LONGEST}

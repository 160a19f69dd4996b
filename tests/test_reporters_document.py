from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra import errors
from hydra.errors import AuthMissing, NoAgentReady, Refused, UsageError
from hydra.records.codec import dump
from hydra.records.events import AGENT_KINDS
from hydra.report.agents_document import agent_document
from hydra.report.document import error_document, exit_code, plan_document, result_document
from tests.support.sample_agents import AGENTS
from tests.support.sample_race import PLAN, RESULT

DOCS = Path(__file__).parent.parent / "docs" / "reference"


def fields(document: object) -> Iterator[str]:
    if isinstance(document, Mapping):
        for name, value in document.items():
            yield str(name)
            if name not in ("numbers", "limits", "exit_codes"):
                yield from fields(value)
    elif isinstance(document, list):
        for row in document:
            yield from fields(row)


def documented(page: str) -> set[str]:
    return set(re.findall(r"`([a-z_]+)`", (DOCS / page).read_text()))


def test_the_result_as_a_program_reads_it() -> None:
    document = json.loads(dump(result_document(PLAN, RESULT)))
    assert document["schema"] == 1
    assert document["kind"] == "result"
    assert document["exit_code"] == 1  # three lanes, and no check
    assert [(lane["lane"], lane["status"], lane["usable"]) for lane in document["lanes"]] == [
        ("claude", "completed", True),
        ("codex", "no_changes", False),
        ("codex-2", "timed_out", False),
    ]
    claude, codex, stalled = document["lanes"]
    assert claude["error"] is None
    assert claude["patch"]["insertions"] == 18
    assert claude["sandbox"] == "soft"
    assert codex["usage"] == {
        "input_tokens": None, "output_tokens": None, "cached_tokens": None, "cost_usd": None,
    }  # fmt: skip
    assert codex["patch"]["empty"] is True
    assert stalled["error"]["kind"] == "TimedOut"
    assert stalled["error"]["numbers"] == {"limit": 600}
    assert stalled["patch"]["incomplete"]
    assert stalled["exit"] == {"code": None, "signal": 9, "survivors": [], "keeper_lost": False}


@pytest.mark.parametrize(
    "document",
    [
        result_document(PLAN, RESULT),
        plan_document(PLAN),
        error_document(Refused("no")),
        agent_document(AGENTS[0]),
    ],
    ids=["result", "plan", "error", "agent"],
)
def test_every_field_is_documented(document: dict[str, object]) -> None:
    assert set(fields(document)) <= documented("json.md")


def test_no_value_of_the_environment_is_in_a_document() -> None:
    for document in (result_document(PLAN, RESULT), plan_document(PLAN)):
        assert "value-never-shown" not in dump(document)
    lane = json.loads(dump(plan_document(PLAN)))["lanes"][0]
    assert lane["command"]["environment_set"] == ["CI"]
    assert lane["environment_passed"] == ["ANTHROPIC_API_KEY", "PATH"]
    assert lane["command"]["stdin"] is True


def test_a_hostile_message_stays_whole_and_ascii() -> None:
    line = "\x1b]52;c;x\x07\x7f\u202e\ud800\u2028"
    hostile = replace(RESULT.outcomes[0], message=line)
    text = dump(result_document(PLAN, replace(RESULT, outcomes=(hostile,))))
    assert all(name == "\n" or 0x20 <= ord(name) < 0x7F for name in text)
    assert json.loads(text)["lanes"][0]["message"] == line


@pytest.mark.parametrize(
    ("number", "name", "code"),
    [
        (signal.SIGINT, "SIGINT", 130),
        (signal.SIGTERM, "SIGTERM", 143),
        (signal.SIGHUP, "SIGHUP", 143),
    ],
)
def test_an_interrupted_race_says_so(number: int, name: str, code: int) -> None:
    document = result_document(PLAN, replace(RESULT, interrupted=int(number)))
    assert (document["interrupted"], document["exit_code"]) == (name, code)


def test_no_usable_lane_is_exit_1() -> None:
    assert exit_code(replace(RESULT, outcomes=RESULT.outcomes[1:])) == 1


def test_errors_as_documents() -> None:
    refused = error_document(Refused("no commit yet", hint="make a first commit"))
    assert refused["exit_code"] == 3
    assert refused["error"] == {
        "kind": "Refused", "reason": "", "message": "no commit yet", "adapter": "", "command": [],
        "stderr": "", "hint": "make a first commit", "numbers": {},
    }  # fmt: skip
    auth = error_document(AuthMissing("no key", adapter="claude", command=("claude",), stderr="x"))
    assert auth["error"] == {
        "kind": "AuthMissing", "reason": "", "message": "no key", "adapter": "claude",
        "command": ["claude"], "stderr": "x", "hint": "", "numbers": {},
    }  # fmt: skip
    assert [error_document(kind("x"))["exit_code"] for kind in (UsageError, NoAgentReady)] == [2, 4]


def rows(page: str) -> set[str]:
    return set(re.findall(r"^\| `([A-Za-z_]+)` \|", (DOCS / page).read_text(), re.MULTILINE))


def test_every_kind_of_an_agents_events_is_documented() -> None:
    assert {*AGENT_KINDS} <= rows("events.md")
    assert len(AGENT_KINDS) == 7


def test_every_exit_code_and_error_kind_is_documented() -> None:
    text = (DOCS / "exit-codes.md").read_text()
    codes = {value for name, value in vars(errors).items() if name.startswith("EXIT_")}
    assert codes <= {int(code) for code in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)}
    assert set(errors.KINDS) <= rows("exit-codes.md")

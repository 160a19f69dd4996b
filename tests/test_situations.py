"""Situations as data, and what is said where an agent does not do as one expects."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hydra.adapters import registry
from hydra.adapters.proofs.records import DIMENSIONS
from hydra.conformance.live.agent_settings import Reach, reaches
from hydra.conformance.live.expect import differences
from hydra.conformance.live.expectation import Expectation, expectation, like
from hydra.conformance.live.installed import InstalledAgent
from hydra.conformance.live.observation import LiveRun, Observation
from hydra.conformance.live.run import observe
from hydra.conformance.live.scenario_run import UNREACHED
from hydra.conformance.live.situation import load, load_all, situation
from hydra.conformance.race_run import RacedLane
from hydra.conformance.request_log import LoggedRequest
from hydra.errors import ConfigError
from hydra.records.agent import ProbeOutput, Tier
from hydra.records.codec import shaped
from hydra.records.events import Event
from tests.support.golden_text import approved, section

TIER1 = [a for a in registry.everyone() if a.descriptor.tier is Tier.TIER1]
SMALL: dict[str, Any] = {"about": "a test", "turn": [{"say": "Done."}]}


# --- the data ------------------------------------------------------------------------------------


def test_every_situation_loads_and_each_tier1_agent_has_twenty_that_prove_every_dimension() -> None:
    situations = load_all()
    assert [item.name for item in situations] == sorted(item.name for item in situations)
    for adapter in TIER1:
        mine = [item for item in situations if adapter.key() not in item.skip]
        assert len(mine) >= 20
        assert all(adapter.key() in item.expected for item in mine)
        assert {dimension for item in mine for dimension in item.proves} == set(DIMENSIONS)


def test_every_situation_expects_something_of_what_the_model_says_or_of_how_it_ends() -> None:
    for item in load_all():
        for agent, entry in item.expected.items():
            if agent not in item.skip and not reaches()[agent].left_out(item.name):
                value = entry.events or entry.error or entry.refused
                assert value, f"{item.name} would pass whatever {agent} says"


def test_every_tier1_agent_knows_the_way_to_the_server(tmp_path: Path) -> None:
    assert {adapter.key() for adapter in TIER1} <= set(reaches())
    assert set(reaches()["codex"].prepare(tmp_path, "http://127.0.0.1:9")) == {"CODEX_API_KEY"}
    written = (tmp_path / ".codex/config.toml").read_text()
    assert written == 'openai_base_url = "http://127.0.0.1:9/v1"\n'
    environ = reaches()["claude"].prepare(tmp_path, "http://127.0.0.1:9")
    assert environ["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:9"


WRONG: tuple[dict[str, Any], ...] = (
    {"promt": "x"},
    {"script": "edit"},
    {"proves": ["edits"]},
    {"padding": "200"},
    {"options": "--permission plan"},
    {"files": {"a": 1}},
    {"skip": {"codexx": "why"}},
    {"signal": {"name": "SIGKILL", "file": "x"}},
    {"signal": {"names": "SIGINT"}},
    {"signal": {"name": "SIGINT"}},
    {"signal": {"file": "x", "served": "turn"}},
    {"expect": {"codex": {"state": "x"}}},
    {"expect": {"status": "done"}},
    {"expect": {"error": "AuthFailed/sign_in"}},
    {"expect": {"usage": {"tokens": 1}}},
    {"expect": {"events": ["tool"]}},
    {"expect": {"events": [{"ok": True}]}},
    {"expect": {"exit": "1"}},
    {"expect": {"session": ["id", "model"]}},
    {"turn": [{"sya": "x"}]},
)


def test_what_is_wrong_in_a_situation_is_named_as_approved() -> None:
    situation("small", SMALL)
    text = ""
    for more in WRONG:
        with pytest.raises(ConfigError) as error:
            situation("small", SMALL | more)
        text += section(str(more), f"{error.value.message}\n{error.value.hint}")
    with pytest.raises(ConfigError) as error:
        load("edits")
    approved("wrong-situations.txt", text + section("load", error.value.message))
    assert "edit" in error.value.hint.split(": ")[1].split(", ")


# --- the comparison ------------------------------------------------------------------------------

REACH = Reach(session=("session", "model"), may_warn=("^may come",))
EDITED = {"event": "tool_call", "summary": "Edit *"}
WANTED = expectation(
    {
        "events": ["progress/session", EDITED, {"event": "tool_result", "ok": True}, "completed"],
        "never": ["message/thinking"],
        "usage": {"input_tokens": 10, "output_tokens": True, "cost_usd": False},
        "patch": {"shop/a.txt": "M"},
        "content": {"shop/a.txt": "new\n"},
        "sent": ["the task"],
        "not_sent": ["a secret"],
        "served": ["fault:status 429", "turn"],
        "waited": 1.0,
        "warnings": ["^some"],
    },
    "wanted",
)


def event(name: str, **data: Any) -> Event:
    kind, _, sub = name.partition("/")
    return Event(seq=0, wall=0, mono=0, run="r", kind=kind, sub=sub, data=data)


BEGUN = event("progress/session", session="id", version="1.2")
CALL, RESULT = event("tool_call", id="1", summary="Edit a.txt"), event("tool_result", ok=True)
MODEL, END = event("progress/session", session="id", model="m"), event("completed")
EVENTS = [BEGUN, CALL, RESULT, MODEL, END]


def asked(seconds: float, answer: str, place: int = 0, body: str = "") -> LoggedRequest:
    facts: Any = {"agent": "claude", "method": "POST", "path": "/v1/messages", "headers": {}}
    return LoggedRequest(seconds=seconds, body=body, answer=answer, place=place, **facts)


LANE: dict[str, Any] = {
    "lane": "claude",
    "status": "completed",
    "error": None,
    "usage": {"input_tokens": 10, "output_tokens": 2, "cost_usd": None},
    "version": "1.2",
    "warnings": ["some were denied", "may come or not"],
}
FIRST = asked(0.0, "fault:status 429", body="the task")
GOOD = LiveRun(
    lane=shaped(LANE, RacedLane),
    events=EVENTS,
    patch={"shop/a.txt": "M"},
    content=lambda path: "new\n",
    requests=[FIRST, asked(1.5, "turn")],
)


def lane(**changes: Any) -> LiveRun:
    return replace(GOOD, lane=shaped(LANE | changes, RacedLane))


def saw(*events: Event) -> LiveRun:
    return replace(GOOD, events=list(events))


def failed(kind: str, reason: str, message: str = "it says so", **more: Any) -> LiveRun:
    error = {"kind": kind, "reason": reason, "message": message, "numbers": {}, "stderr": ""}
    return lane(status="failed", error=error | more)


UNKNOWN = event("progress/unknown", type="assistant_v2")
STDERR = "note\nerror: unknown option --foo\nmore"
SEEN = {
    "as expected": GOOD,
    "it failed": failed("AgentFailed", "", stderr=STDERR),
    "hydra's exit": replace(GOOD, hydra=1),
    "unknown events": saw(*EVENTS, *[UNKNOWN] * 3),
    "no JSON": saw(event("progress/malformed"), *EVENTS),
    "no model": saw(BEGUN, CALL, RESULT, END),
    "another version": lane(version="1.3"),
    "no result": saw(BEGUN, CALL, MODEL, END),
    "a bad result": saw(BEGUN, CALL, event("tool_result", ok=False), MODEL, END),
    "a call without a word": saw(BEGUN, event("tool_call", id="1"), RESULT, MODEL, END),
    "another order": saw(BEGUN, RESULT, CALL, MODEL, END),
    "what never comes": saw(*EVENTS, event("message/thinking", text="hm")),
    "usage": lane(usage={"input_tokens": 11, "cost_usd": 0.5}),
    "no output": lane(usage={"input_tokens": 10, "output_tokens": 0, "cost_usd": None}),
    "killed": lane(exit={"code": None, "signal": signal.SIGKILL}),
    "ended": lane(exit={"code": None, "signal": signal.SIGTERM}),
    "no patch": replace(GOOD, patch={}),
    "a file too many": replace(GOOD, patch={"shop/a.txt": "M", "b": "A"}),
    "another content": replace(GOOD, content=lambda path: "old\n"),
    "requests": replace(GOOD, requests=[asked(0, "fault:status 429", body="a secret")]),
    "too early": replace(GOOD, requests=[FIRST, asked(0.2, "turn")]),
    "a side request": replace(GOOD, requests=[FIRST, asked(0.2, "side", -1), asked(2, "turn")]),
    "warnings": lane(warnings=["asked for permission X but the CLI applied Y"]),
    "left running": replace(GOOD, orphans=["sleep 600"]),
    "wrong": replace(GOOD, wrong=["events: another session"]),
    "trouble": replace(GOOD, trouble="it did not end"),
    "not started": replace(GOOD, lane=None, hydra=4, stderr="error: no lane can\nstart"),
}
ERROR = {"status": "failed", "error": "AuthMissing/sign_in", "numbers": {"status": 401}}
REFUSED = LiveRun(hydra=4, stderr="error: it has no switch for that")


def test_a_difference_names_the_field_or_the_event_as_approved() -> None:
    rows = {name: differences(WANTED, seen, REACH) for name, seen in SEEN.items()}
    for name in ("as expected", "ended", "a side request"):
        assert rows[name] == ()
    may_be_killed = replace(WANTED, may_be_killed=True)
    assert differences(may_be_killed, SEEN["killed"], REACH) == ()
    values = expectation(ERROR, "w")
    item = replace(WANTED, **{name: getattr(values, name) for name in ERROR})
    good = failed("AuthMissing", "sign_in", numbers={"status": 401})
    assert differences(item, good, REACH) == ()
    rows["another error"] = differences(item, failed("AgentFailed", "network", "gone"), REACH)
    rows["no error"] = differences(item, lane(status="failed"), REACH)
    item = Expectation(refused="no switch", exit=4)
    assert differences(item, REFUSED, REACH) == ()
    rows["another refusal"] = differences(item, replace(REFUSED, stderr="error: x", hydra=3), REACH)
    rows["no refusal"] = differences(item, GOOD, REACH)[:1]
    text = "".join(section(name, "\n".join(lines)) for name, lines in rows.items())
    approved("live-differences.txt", text)


def test_a_message_that_comes_twice_in_a_row_is_told_but_not_after_a_fault() -> None:
    item, message = expectation({}, "wanted"), event("message", text="Done.")
    notice = event("progress/notice", text="in between")
    events = [BEGUN, MODEL, message, notice, message]
    twice = LiveRun(lane=GOOD.lane, events=events, requests=[asked(0.0, "turn")])
    again = "events: message (text='Done.') comes twice"
    assert again in differences(item, twice, REACH)
    assert again not in differences(item, replace(twice, requests=GOOD.requests), REACH)
    parted = [message, CALL, message, event("message", text="More."), event("tool_call", id="2")]
    assert again not in differences(item, replace(twice, events=parted), REACH)


def test_values_are_alike() -> None:
    same = (("a", "a"), ("a*", "ab"), ("*b", "ab"), ("a*c*e", "abcde"), ("*", 3), (3, 3.0))
    other = (("a", "ab"), ("ab*", "ba"), ("a*", "xa"), ("a*a", "a"), ("*x*", "ab"), ("3", 3))
    assert all(like(value, content) is True for value, content in (*same, (True, True)))
    more = (("ab*ba", "aba"), (True, 1), (1, True))
    assert all(like(value, content) is False for value, content in (*other, *more))


# --- the runner, as far as it needs no CLI -------------------------------------------------------


def test_a_probe_that_had_to_be_ended_is_named_even_where_the_agent_can_be_raced() -> None:
    argv = ("agent", "auth", "status")
    asked = ProbeOutput(name="sign_in", argv=argv, exit_code=0, stdout="", stderr="")
    late = {"sign_in": replace(asked, exit_code=None, timed_out=True, seconds=10.0)}
    agent = InstalledAgent(program=Path("/opt/agent"), answers={"sign_in": asked})
    assert agent.differences == ()
    text = "`agent auth status` did not answer in 10 s"
    assert replace(agent, answers=late).differences == (text,)
    gone = replace(agent, answers=late, problem="its --print is gone")
    assert gone.differences == ("its --print is gone",)


def test_an_agent_without_a_way_to_the_server_is_not_tried_and_says_why(scratch: Path) -> None:
    observations: list[Observation] = []
    met = observe(
        [registry.get("cursor-agent")],
        {"cursor-agent": Path("/bin/true")},
        only=["edit"],
        folder=scratch,
        progress=observations.append,
    )
    rows = [(row.agent, row.situation, row.reason) for row in met]
    assert (rows, observations) == ([("cursor-agent", "edit", UNREACHED)], met)
    assert observe(registry.everyone(), {}, folder=scratch) == []  # no agent has a program


def test_a_program_that_is_no_agent_is_found_and_named(scratch: Path) -> None:
    program = scratch / "bin/claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'some other program 3.1'\n")
    program.chmod(0o755)
    (met,) = observe([registry.get("claude")], {"claude": program}, only=["edit"], folder=scratch)
    if met.reason:
        pytest.skip(met.reason)
    (text,) = met.differences
    assert text.startswith("race: none was started, hydra ended with 4:")
    assert ("Claude Code" in text, met.run.status) == (True, "not_started")

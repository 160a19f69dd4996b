"""Situations as data, and what is said where an agent does not do as one expects."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hydra.adapters import registry
from hydra.adapters.proofs.records import DIMENSIONS
from hydra.conformance import script
from hydra.conformance.live.agent_settings import Reach, reaches
from hydra.conformance.live.expect import differences
from hydra.conformance.live.expectation import Expectation, expectation, like
from hydra.conformance.live.observation import LiveRun, Observation
from hydra.conformance.live.run import case, observe
from hydra.conformance.live.scenario_run import UNREACHED
from hydra.conformance.live.situation import load, load_all, situation
from hydra.conformance.request_log import LoggedRequest
from hydra.conformance.results import CaseVerdict
from hydra.errors import ConfigError
from hydra.records.agent import Tier

TIER1 = [a for a in registry.everyone() if a.descriptor.tier is Tier.TIER1]
SMALL: dict[str, Any] = {"about": "a test", "turn": [{"say": "Done."}]}


# the data


def test_every_situation_loads_and_each_tier1_agent_has_twenty() -> None:
    situations = load_all()
    assert [item.name for item in situations] == sorted(item.name for item in situations)
    for adapter in TIER1:
        mine = [item for item in situations if adapter.key() not in item.skip]
        assert len(mine) >= 20
        assert all(adapter.key() in item.expected for item in mine)


def test_together_they_prove_every_dimension_for_each_tier1_agent() -> None:
    for adapter in TIER1:
        proved = {d for item in load_all() if adapter.key() not in item.skip for d in item.proves}
        assert proved == set(DIMENSIONS)


def test_every_situation_expects_something_of_what_the_model_says_or_of_how_it_ends() -> None:
    for item in load_all():
        for agent, entry in item.expected.items():
            if agent not in item.skip and not reaches()[agent].left_out(item.name):
                value = entry.events or entry.error or entry.refused
                assert value, f"{item.name} would pass whatever {agent} says"


def test_every_tier1_agent_knows_the_way_to_the_server(tmp_path: Path) -> None:
    assert {adapter.key() for adapter in TIER1} <= set(reaches())
    environ = reaches()["codex"].prepare(tmp_path, "http://127.0.0.1:9")
    written = (tmp_path / ".codex/config.toml").read_text()
    assert written == 'openai_base_url = "http://127.0.0.1:9/v1"\n'
    assert set(environ) == {"CODEX_API_KEY"}
    environ = reaches()["claude"].prepare(tmp_path, "http://127.0.0.1:9")
    assert environ["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:9"


def test_a_name_that_nobody_knows_is_told_with_those_that_are() -> None:
    with pytest.raises(ConfigError) as error:
        load("edits")
    assert "edit" in error.value.hint.split(": ")[1].split(", ")


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"promt": "x"}, "unknown field `promt`"),
        ({"script": "edit"}, "either script names one, or"),
        ({"proves": ["edits"]}, "proves 'edits' is unknown; known: headless"),
        ({"padding": "200"}, "got `str` - at `$.padding`"),
        ({"padding": True}, "got `bool` - at `$.padding`"),
        ({"options": "--permission plan"}, "got `str` - at `$.options`"),
        ({"files": {"a": 1}}, "got `int` - at `$.files[...]`"),
        ({"skip": {"codexx": "why"}}, "skip 'codexx' is unknown; known: aider, claude"),
        ({"signal": {"name": "SIGKILL", "file": "x"}}, "'SIGKILL' - at `$.signal.name`"),
        ({"signal": {"names": "SIGINT"}}, "unknown field `names` - at `$.signal`"),
        ({"signal": {"name": "SIGINT"}}, "either file or served says"),
        ({"signal": {"file": "x", "served": "turn"}}, "either file or served says"),
        ({"expect": {"state": "x"}}, "expect.aider: Object contains unknown field `state`"),
        (
            {"expect": {"codex": {"state": "x"}}},
            "expect.codex: Object contains unknown field",
        ),
        ({"expect": {"status": "done"}}, "status 'done' is unknown; known: completed"),
        ({"expect": {"error": "AuthFailed/sign_in"}}, "'AuthFailed' is unknown; known"),
        ({"expect": {"usage": {"tokens": 1}}}, "usage 'tokens' is unknown; known: input_tokens"),
        ({"expect": {"events": ["tool"]}}, "event 'tool' is unknown; known: message"),
        ({"expect": {"events": [{"ok": True}]}}, "event '' is unknown"),
        ({"expect": {"exit": "1"}}, "got `str` - at `$.exit`"),
        ({"turn": [{"sya": "x"}]}, "unknown field `sya`"),
    ],
)
def test_what_is_wrong_in_a_situation_is_named(more: dict[str, Any], named: str) -> None:
    situation("small", SMALL)
    with pytest.raises(ConfigError) as error:
        situation("small", SMALL | more)
    assert "small" in error.value.message
    assert named in error.value.message


def test_an_agents_own_expectation_stands_over_the_shared_one() -> None:
    item = situation(
        "small",
        SMALL
        | {"expect": {"exit": 1, "patch": {"{agent}.txt": "A"}, "codex": {"patch": {"x": "M"}}}},
    )
    assert item.expected["claude"] == Expectation(exit=1, patch={"claude.txt": "A"})
    assert item.expected["codex"] == Expectation(exit=1, patch={"x": "M"})


def test_padding_makes_the_task_exactly_so_long_and_keeps_both_ends() -> None:
    long = situation("small", SMALL | {"prompt": "-begin", "padding": 5000}).task()
    assert len(long.encode()) == 5000
    assert long.startswith("-begin\n")
    assert long.endswith("\nThe end of the task.") or long.endswith("The end of the task.")
    assert situation("small", SMALL | {"prompt": "begin"}).task(10) == "begin"


def test_a_task_is_no_longer_than_its_agent_takes() -> None:
    item = situation("small", SMALL | {"prompt": "-begin", "padding": 5000})
    short = item.task(1000)
    assert len(short.encode()) == 1000
    assert short.startswith("-begin\n")
    assert short.endswith("The end of the task.")
    assert item.task(6000) == item.task()


def test_a_signal_is_read() -> None:
    item = situation("small", SMALL | {"signal": {"name": "SIGTERM", "file": "on"}})
    assert item.stop is not None
    assert (item.stop.number, item.stop.file) == (signal.SIGTERM, "on")


# what scripts have for situations


def test_a_turn_may_be_said_many_times_over_and_words_are_filled_in() -> None:
    item = script.parse("s", {"turn": [{"say": "{agent} {place}.", "repeat": 3}]})
    turn = item.filled({"place": "here"}).for_agent("claude", {"agent": "claude"}).turns[0]
    assert turn.say == "claude here.claude here.claude here."


# the comparison

REACH = Reach(session=("session", "model"), may_warn=("^may come",))
WANTED = expectation(
    {
        "events": [
            "progress/session",
            {"event": "tool_call", "summary": "Edit *"},
            {"event": "tool_result", "ok": True},
            "completed",
        ],
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


def test_a_session_field_that_none_has_is_refused() -> None:
    with pytest.raises(ConfigError, match="w: session 'id' is unknown"):
        expectation({"session": ["id", "model"]}, "w")


def event(name: str, **data: Any) -> dict[str, Any]:
    kind, _, sub = name.partition("/")
    return {"kind": kind, "sub": sub, "data": data}


EVENTS = [
    event("progress/session", session="id", version="1.2"),
    event("tool_call", id="1", summary="Edit a.txt"),
    event("tool_result", id="1", ok=True),
    event("progress/session", session="id", model="m"),
    event("completed"),
]


def asked(seconds: float, answer: str, place: int = 0, body: str = "") -> LoggedRequest:
    return LoggedRequest(
        seconds=seconds,
        agent="claude",
        method="POST",
        path="/v1/messages",
        headers={},
        body=body,
        answer=answer,
        place=place,
    )


LANE: dict[str, Any] = {
    "status": "completed",
    "error": None,
    "usage": {"input_tokens": 10, "output_tokens": 2, "cost_usd": None},
    "version": "1.2",
    "warnings": ["some were denied", "may come or not"],
}
GOOD = LiveRun(
    lane=LANE,
    events=EVENTS,
    patch={"shop/a.txt": "M"},
    content=lambda path: "new\n",
    requests=[asked(0.0, "fault:status 429", body="the task"), asked(1.5, "turn")],
)


def told(seen: LiveRun, item: Expectation = WANTED) -> tuple[str, ...]:
    return differences(item, seen, REACH)


def lane(**changes: Any) -> LiveRun:
    return replace(GOOD, lane=LANE | changes)


def failed(kind: str, reason: str, message: str = "it says so", **more: Any) -> LiveRun:
    error = {"kind": kind, "reason": reason, "message": message, "numbers": {}, "stderr": ""}
    return lane(status="failed", error=error | more)


def test_the_limit_that_an_error_names_is_the_agents_own() -> None:
    item = Expectation(status="timed_out", error="TimedOut/idle", numbers={"limit": "idle"})
    seen = lane(status="timed_out", error=_timed_out(limit=6.0), warnings=[])
    slow = replace(REACH, session=(), idle=20.0)
    quick = replace(slow, idle=6.0)
    seen = replace(seen, patch={})
    assert differences(item, seen, quick) == ()
    assert differences(item, seen, slow) == ("error: numbers.limit is 6, expected 20",)


def _timed_out(**numbers: float) -> dict[str, Any]:
    return {"kind": "TimedOut", "reason": "idle", "message": "", "numbers": numbers, "stderr": ""}


def test_sigkill_is_told_but_of_an_agent_that_it_may_end() -> None:
    seen = lane(exit={"code": None, "signal": signal.SIGKILL})
    assert len(told(seen)) == 1
    assert told(seen, replace(WANTED, may_be_killed=True)) == ()


def test_as_expected_there_is_nothing_to_say() -> None:
    assert told(GOOD) == ()


@pytest.mark.parametrize(
    ("seen", "sentences"),
    [
        (
            failed("AgentFailed", "", stderr="note\nerror: unknown option --foo\nmore"),
            (
                "outcome: status is failed, expected completed",
                "error: kind is AgentFailed (it says so), expected none",
                "stderr: error: unknown option --foo",
            ),
        ),
        (replace(GOOD, hydra=1), ("exit: hydra ended with 1, expected 0",)),
        (
            replace(GOOD, events=[*EVENTS, *[event("progress/unknown", type="assistant_v2")] * 3]),
            ('unknown event type "assistant_v2" 3 times',),
        ),
        (
            replace(GOOD, events=[event("progress/malformed"), *EVENTS]),
            ("stream: 1 line is no JSON, expected 0",),
        ),
        (
            replace(GOOD, events=[EVENTS[0], *EVENTS[1:3], EVENTS[4]]),
            ("events: progress/session.model is missing",),
        ),
        (
            lane(version="1.3"),
            ("events: progress/session.version is 1.2, --version says 1.3",),
        ),
        (
            replace(GOOD, events=[*EVENTS[:2], *EVENTS[3:]]),
            ("events: no tool_result (ok=True), after tool_call (summary=Edit *)",),
        ),
        (
            replace(GOOD, events=[*EVENTS[:2], event("tool_result", ok=False), *EVENTS[3:]]),
            ("events: tool_result.ok is False, expected True, after tool_call (summary=Edit *)",),
        ),
        (
            replace(GOOD, events=[*EVENTS[:1], event("tool_call", id="1"), *EVENTS[2:]]),
            ("events: tool_call.summary is missing, after progress/session",),
        ),
        (
            replace(GOOD, events=[EVENTS[0], EVENTS[2], EVENTS[1], *EVENTS[3:]]),
            ("events: no tool_result (ok=True), after tool_call (summary=Edit *)",),
        ),
        (
            replace(GOOD, events=[*EVENTS, event("message/thinking", text="hm")]),
            ("events: message/thinking once, expected none",),
        ),
        (
            lane(usage={"input_tokens": 11, "cost_usd": 0.5}),
            (
                "usage: input_tokens is 11, expected 10",
                "usage: output_tokens is missing",
                "usage: cost_usd is 0.5, expected unknown",
            ),
        ),
        (
            lane(usage={"input_tokens": 10, "output_tokens": 0, "cost_usd": None}),
            ("usage: output_tokens is 0, expected more",),
        ),
        (
            lane(exit={"code": None, "signal": signal.SIGKILL}),
            ("process: it did not end when it was told to, and was killed (SIGKILL)",),
        ),
        (lane(exit={"code": None, "signal": signal.SIGTERM}), ()),
        (replace(GOOD, patch={}), ("patch: M shop/a.txt expected, nothing changed",)),
        (
            replace(GOOD, patch={"shop/a.txt": "M", "b": "A"}),
            ("patch: A b is not expected",),
        ),
        (
            replace(GOOD, content=lambda path: "old\n"),
            ("patch: shop/a.txt holds 'old\\n', expected 'new\\n'",),
        ),
        (
            replace(GOOD, requests=[asked(0, "fault:status 429", body="a secret")]),
            (
                "request: the model was not sent 'the task'",
                "request: the model was sent 'a secret'",
                "request: none was answered with turn, after fault:status 429",
            ),
        ),
        (
            replace(GOOD, requests=[GOOD.requests[0], asked(0.2, "turn")]),
            ("request: tried again after 0.20 s, told to wait 1 s",),
        ),
        (
            replace(GOOD, requests=[GOOD.requests[0], asked(0.2, "side", -1), asked(2, "turn")]),
            (),
        ),
        (
            lane(warnings=["asked for permission X but the CLI applied Y"]),
            (
                "warning: none says '^some'",
                "warning: asked for permission X but the CLI applied Y",
            ),
        ),
        (replace(GOOD, orphans=["sleep 600"]), ("process: still running: sleep 600",)),
        (replace(GOOD, wrong=["events: another session"]), ("events: another session",)),
        (replace(GOOD, trouble="it did not end"), ("race: it did not end",)),
        (
            replace(GOOD, lane={}, hydra=4, stderr="error: no lane can\nstart"),
            ("race: none was started, hydra ended with 4: error: no lane can start",),
        ),
    ],
)
def test_a_difference_names_the_field_or_the_event(
    seen: LiveRun, sentences: tuple[str, ...]
) -> None:
    assert told(seen) == sentences


SAID = event("message", text="Done.")


def test_a_message_that_comes_twice_in_a_row_is_told_but_not_after_a_fault() -> None:
    item = expectation({}, "wanted")
    clean = [asked(0.0, "turn")]
    notice = event("progress/notice", text="in between")
    twice = LiveRun(lane=LANE, events=[EVENTS[0], EVENTS[3], SAID, notice, SAID], requests=clean)
    again = "events: message (text='Done.') comes twice"
    assert again in told(twice, item)
    assert again not in told(replace(twice, requests=GOOD.requests), item)
    documents = [SAID, EVENTS[1], SAID, event("message", text="More."), event("tool_call", id="2")]
    assert again not in told(replace(twice, events=documents), item)


def test_a_line_that_is_no_json_is_shown_from_what_was_kept(tmp_path: Path) -> None:
    raw = tmp_path / "raw.jsonl"
    raw.write_bytes(b'{"type":"a"}\nWelcome!\n')
    line = event("progress/malformed") | {"raw": {"offset": 13, "length": 9}}
    assert told(replace(GOOD, events=[line, line, *EVENTS], raw=raw)) == (
        "stream: 2 lines are no JSON, expected 0: 'Welcome!'",
    )


@pytest.mark.parametrize(
    ("line", "may"),
    [
        ("bash (72)", True),
        ("bash (72), bash (89) and 2 more", True),
        ("bash (72), server (89)", False),
        ("server (89)", False),
    ],
)
def test_what_codex_may_leave_at_its_end_is_bash_alone(line: str, may: bool) -> None:
    text = f"left running and ended by Hydra: {line}"
    seen = replace(GOOD, lane=LANE | {"warnings": ["some", text]})
    item = replace(WANTED, session=())
    told_of = differences(item, seen, reaches()["codex"])
    assert told_of == (() if may else (f"warning: {text}",))


def test_an_error_is_held_against_its_kind_its_reason_and_its_figures() -> None:
    data = {"status": "failed", "error": "AuthMissing/sign_in", "numbers": {"status": 401}}
    item = replace(WANTED, **{k: getattr(expectation(data, "w"), k) for k in data})
    good = failed("AuthMissing", "sign_in", numbers={"status": 401})
    assert told(good, item) == ()
    assert told(failed("AgentFailed", "network", "gone"), item) == (
        "error: kind is AgentFailed (gone), expected AuthMissing",
        "error: reason is network, expected sign_in",
        "error: numbers.status is missing, expected 401",
    )
    assert told(lane(status="failed"), item) == ("error: none, expected AuthMissing/sign_in",)


def test_a_refusal_may_be_what_is_expected() -> None:
    item = Expectation(refused="no switch", exit=4)
    refused = LiveRun(lane={}, hydra=4, stderr="error: it has no switch for that")
    assert told(refused, item) == ()
    assert told(replace(refused, stderr="error: x", hydra=3), item) == (
        "race: refused with 'error: x', expected 'no switch'",
        "exit: hydra ended with 3, expected 4",
    )
    assert told(GOOD, item)[0] == "race: it was started, expected it to be refused"


@pytest.mark.parametrize(
    ("value", "content", "same"),
    [
        ("a", "a", True),
        ("a", "ab", False),
        ("a*", "ab", True),
        ("*b", "ab", True),
        ("ab*", "ba", False),
        ("a*", "xa", False),
        ("a*c*e", "abcde", True),
        ("a*a", "a", False),
        ("*x*", "ab", False),
        ("ab*ba", "aba", False),
        ("*", 3, True),
        ("3", 3, False),
        (3, 3.0, True),
        (True, 1, False),
        (1, True, False),
        (True, True, True),
    ],
)
def test_values_are_alike(value: object, content: object, same: bool) -> None:
    assert like(value, content) is same


# the runner, as far as it needs no CLI


def test_a_case_says_whether_it_passed_was_skipped_or_failed() -> None:
    good = Observation(situation="edit", agent="claude", version="1", seconds=2.0)
    assert case(good).verdict is CaseVerdict.PASSED
    assert case(replace(good, differences=("x",))).verdict is CaseVerdict.FAILED
    skipped = case(replace(good, reason="not for it"))
    assert (skipped.verdict, skipped.reason) == (CaseVerdict.SKIPPED, "not for it")
    assert (skipped.suite, skipped.name, skipped.version) == ("live", "edit", "1")


def test_an_agent_without_a_way_to_the_server_is_not_tried_and_says_why(scratch: Path) -> None:
    cursor = registry.get("cursor-agent")
    observations: list[Observation] = []
    met = observe(
        [cursor],
        {"cursor-agent": Path("/bin/true")},
        only=["edit"],
        folder=scratch,
        progress=observations.append,
    )
    assert [
        (observation.agent, observation.situation, observation.reason) for observation in met
    ] == [("cursor-agent", "edit", UNREACHED)]
    assert observations == met


def test_a_program_that_is_no_agent_is_found_and_named(scratch: Path) -> None:
    program = scratch / "bin/claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'some other program 3.1'\n")
    program.chmod(0o755)
    (met,) = observe([registry.get("claude")], {"claude": program}, only=["edit"], folder=scratch)
    if met.reason:
        pytest.skip(met.reason)
    assert len(met.differences) == 1
    assert met.differences[0].startswith("race: none was started, hydra ended with 4:")
    assert "Claude Code" in met.differences[0]
    assert met.run.status == "not_started"


def test_only_agents_with_a_program_are_tried(scratch: Path) -> None:
    assert observe(registry.everyone(), {}, folder=scratch) == []

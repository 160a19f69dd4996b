"""An agent that has said it is done is done, whatever its process does then; and what one that
failed said last is in its sentence."""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hydra.adapters.claude import ClaudeStream
from hydra.adapters.usage_limits import reason_by_words, resets_at
from hydra.process.records import Notice
from hydra.race.agent_events import feed_clocks
from hydra.records.outcome import ExitStatus
from hydra.records.request import Limits
from tests.adapter_recordings import FIXTURES
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.processes import python, running, shell, token
from tests.support.supervised import Watched

QUICK = replace(Limits(), grace_int=0.2, grace_term=0.2)
RESULT: dict[str, Any] = {
    **{"type": "result", "subtype": "success", "is_error": False, "result": "all done"},
    **{"num_turns": 3, "total_cost_usd": 0.5, "session_id": "s"},
    "usage": {"input_tokens": 100, "output_tokens": 50},
}
SPURIOUS = {
    **{"type": "result", "subtype": "error_during_execution", "is_error": True, "num_turns": 0},
    **{"total_cost_usd": 0, "usage": {"input_tokens": 0, "output_tokens": 0}, "session_id": "s"},
    "errors": ["only prompt commands are supported in streaming mode"],
}
TURN_DONE = {"type": "turn.completed", "usage": {"input_tokens": 7, "output_tokens": 5}}
DEV = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "npm run dev"}}
STARTED = {"type": "system", "subtype": "task_started", "task_id": "b1", "tool_use_id": "t1"}
MOVED = {"type": "system", "subtype": "task_updated", "task_id": "b1", "session_id": "s"}
OUT = {"type": "tool_result", "tool_use_id": "t1", "content": "in background"}
CALL = {"type": "assistant", "message": {"role": "assistant", "content": [DEV]}, "session_id": "s"}
ANSWER = {"type": "user", "message": {"role": "user", "content": [OUT]}, "session_id": "s"}


def begun(is_background: bool) -> dict[str, Any]:
    more = {"description": "Start the server", "session_id": "s"}
    return {**STARTED, **more, "is_backgrounded": is_background}


SERVER = (CALL, begun(True), ANSWER)
LATE = (CALL, begun(False), {**MOVED, "patch": {"is_backgrounded": True}}, ANSWER)
"""A command that is put into the background once it has taken too long."""
WORK = fakes.edit("a.txt", "x\n")


def emitted(*lines: dict[str, Any]) -> list[fakes.Step]:
    return [fakes.emit(line) for line in lines]


AGENTS = ("-a", "claude", "-a", "codex", "-a", "cursor-agent", "--allow-experimental-adapters")
IDLE = {**RESULT, "num_turns": 1}


@pytest.mark.slow
def test_what_stays_after_the_closing_line_is_ended_and_the_lane_is_what_was_said(
    hydra: Hydra,
) -> None:
    """One waits for its server, one prints on and hears no SIGINT, one has closed its stdout."""
    hydra.extra["HYDRA_BACKGROUND_TIMEOUT"] = "4s"
    server = "import time; time.sleep(3600)"
    daemon = fakes.shell(
        "python3", "-c", f"import os; os.fork() or os.setsid() or exec({server!r})"
    )
    prints = [*emitted({"type": "heartbeat"}), fakes.stderr("up\n"), fakes.pause(0.2)]
    chatters = [fakes.ignore("SIGINT"), *emitted(TURN_DONE), fakes.repeat(999, *prints)]
    hydra.agent("claude", [WORK, *emitted(*SERVER, RESULT), fakes.hang()])
    hydra.agent("codex", [WORK, daemon, *chatters])
    hydra.agent("cursor-agent", [WORK, *emitted(IDLE), fakes.close_stdout(), fakes.hang()])
    race = hydra.race(*AGENTS, "--idle-timeout", "4s")
    lanes = {lane["lane"]: lane for lane in race.document["lanes"]}
    for lane in lanes.values():
        assert (lane["status"], lane["error"]) == ("completed", None), race.stderr
    assert lanes["claude"]["message"] == "all done"
    told = {name: "\n".join(lane["warnings"]) for name, lane in lanes.items()}
    waited = "it had finished and waited for npm run dev: ended at 4 s (limits.background)"
    assert waited in told["claude"]
    assert "left running and ended by Hydra: python3" in told["codex"]
    for name in ("codex", "cursor-agent"):
        assert "it had finished and did not exit: ended by Hydra" in told[name]
    # Said when it was said, once; what it waits for as well.
    for name in ("claude", "codex"):
        log = [line for line in race.stderr.splitlines() if f" {name} " in line]
        (done,) = (n for n, line in enumerate(log) if "says it is" in line)
        (stop,) = (n for n, line in enumerate(log) if "SIGINT" in line)
        assert done < stop
    assert "has finished; waits for npm run dev (at most 0:04)" in race.stderr
    assert running(str(hydra.scratch)) == []


@pytest.mark.slow
def test_the_limit_of_a_tool_has_its_own_name_and_number(hydra: Hydra) -> None:
    item = {"id": "i1", "type": "command_execution", "command": "sleep 9", "status": "in_progress"}
    hydra.extra["HYDRA_TOOL_TIMEOUT"] = "3s"
    hydra.agent("claude", [WORK, *emitted(*LATE, RESULT), fakes.hang()])
    hydra.agent("codex", [WORK, *emitted({"type": "item.started", "item": item}), fakes.hang()])
    race = hydra.race("-a", "claude", "-a", "codex")
    done, hung = race.lane("claude"), race.lane("codex")
    assert (done["status"], done["error"]) == ("completed", None)
    assert "waited for npm run dev: ended at 3 s (limits.tool)" in "\n".join(done["warnings"])
    error = hung["error"]
    assert (hung["status"], error["reason"], hung["patch"]["files"]) == ("timed_out", "tool", 1)
    assert (error["numbers"], "limits.tool" in error["hint"]) == ({"limit": 3}, True)
    assert "one tool call ran for over 3 s" in error["message"]


@pytest.mark.slow
def test_an_exit_and_an_error_after_a_closed_story_are_warnings(hydra: Hydra) -> None:
    hydra.agent("claude", [WORK, *emitted(RESULT, SPURIOUS), fakes.leave(1)])
    hydra.agent("codex", [WORK, *emitted(TURN_DONE), fakes.leave(1)])
    hydra.agent("cursor-agent", [*emitted(IDLE), fakes.leave(1)])
    race = hydra.race(*AGENTS)
    claude, codex, idle = (race.lane(name) for name in ("claude", "codex", "cursor-agent"))
    statuses = [lane["status"] for lane in (claude, codex, idle)]
    assert statuses == ["completed", "completed", "failed"]
    assert idle["error"]["reason"] == "exit_code"  # nothing was changed: there is no work to keep
    assert "it said it was done and exited with 1" in "\n".join(codex["warnings"])
    after = "it said it was done, and then ended in an error: only prompt commands are supported"
    assert after in "\n".join(claude["warnings"])
    assert (claude["usage"]["cost_usd"], claude["usage"]["input_tokens"]) == (0.5, 100)
    told = [e["data"].get("cost_usd", 0.5) for e in hydra.events() if e["kind"] == "usage"]
    assert set(told) == {0.5}


@pytest.mark.slow
def test_the_last_words_of_one_that_failed_are_in_its_sentence(hydra: Hydra) -> None:
    """A usage limit as plain text, as a message without a result, as a result without a word."""
    said = "You've hit your session limit \u00b7 resets Jan 2, 2100, 4:20am (Europe/Warsaw)"
    about = {"role": "assistant", "content": [{"type": "text", "text": said}]}
    hydra.agent("claude", [fakes.emit(f"{said}\n"), fakes.leave(1)])
    hydra.agent("cursor-agent", [*emitted({"type": "assistant", "message": about}), fakes.leave(1)])
    hydra.agent("codex", [fakes.emit("panicked at src/x.rs: no such device\n"), fakes.leave(1)])
    race = hydra.race(*AGENTS, "--retry", "2")
    for name in ("claude", "cursor-agent"):
        error = race.lane(name)["error"]
        assert (error["kind"], error["reason"]) == ("AgentFailed", "rate_limit"), name
        assert "hit your session limit" in error["message"]
        resets = datetime(2100, 1, 2, 3, 20, tzinfo=UTC).timestamp()
        assert error["numbers"]["resets_at"] == resets
        assert error["numbers"]["retry_after"] == pytest.approx(resets - time.time(), abs=60)
    assert "no such device" in race.lane("codex")["error"]["message"]
    # Not in vain: it resets later than the longest wait.
    retried = {e["lane"] for e in hydra.events() if e["kind"] == "lane_retrying"}
    assert not retried & {"claude", "cursor-agent"}


# --- the same, close to: processes without a race around them ------------------------------------


def closing(agent: Watched, *tools: str) -> None:
    """Once it says `done` it has finished, and has left `tools` open."""

    def hear(chunk: bytes) -> None:
        for word in chunk.split():
            if word == b"done":
                for name in tools:
                    agent.control.tool_opened(name, name)
                agent.control.closed()
            elif word == b"more":
                agent.control.resumed()
                agent.control.progress()

    agent.on_output = hear


async def test_one_that_goes_on_has_not_finished(scratch: Path) -> None:
    go = fakes.Fifo(scratch / "go")
    agent = Watched(shell(f"echo done; read x <{go.path}; echo more; exec sleep {token()}"))
    closing(agent)
    hear = agent.on_output

    def answer(chunk: bytes) -> None:
        hear(chunk)
        if b"done" in chunk:
            os.write(go.fd, b"on\n")

    agent.on_output = answer
    end = await agent.run(replace(QUICK, idle=1.5))
    go.close()
    assert bytes(agent.stdout) == b"done\nmore\n"
    assert (end.stopped, end.closed) == ("idle", False)


@pytest.mark.slow
async def test_a_tool_at_work_is_waited_for_up_to_the_ceiling() -> None:
    code = (
        "import os, time\n"
        "if not os.fork():\n"
        "    os.setsid()\n"
        "    while True: pass\n"
        "print('done', flush=True)\n"
        "time.sleep(3600)\n"
    )
    agent = Watched(python(code))
    closing(agent)
    end = await agent.run(replace(QUICK, idle=0.5, background=2.5))
    assert (end.stopped, end.closed) == ("background", True)
    assert end.seconds >= 3
    assert len(end.waited_for) == 1


async def test_what_it_says_while_it_is_being_ended_is_no_closing_line() -> None:
    agent = Watched(
        shell(f"trap 'echo done; exit 0' INT; echo up; while :; do sleep 0.05; done #{token()}")
    )
    closing(agent)

    def stop(notice: Notice) -> None:
        if notice.kind == "started":
            agent.control.stop("interrupt")

    agent.on_notice = stop
    end = await agent.run(replace(QUICK, grace_int=5))
    assert (end.stopped, end.closed) == ("interrupt", False)


# --- and what is read in streams and words --------------------------------------------------------


def test_a_turn_after_the_result_takes_it_back_and_the_next_result_closes_again() -> None:
    """The real one, 2.1.330: a task in the background wakes it; its model may then take minutes."""
    stream = FIXTURES / "claude" / "2.1.330" / "stream.background.jsonl"
    parser, agent = ClaudeStream(), Watched(("true",))
    seen = []
    for line in stream.read_bytes().splitlines():
        for event in parser.parse_line(line):
            feed_clocks(agent.control, event)
        seen.append((line.split(b'"subtype":"')[-1][:7], agent.control.closed_at is not None))
    told = [is_closed for _, is_closed in seen]
    first = told.index(True)
    woken = first + told[first:].index(False)
    assert b"init" in seen[woken][0]
    assert told[-1] is True


@pytest.mark.parametrize(
    ("last", "message"),
    [
        ({**SPURIOUS, "num_turns": 2}, "all done"),  # no word came before it
        ({**RESULT, "num_turns": 0, "result": ""}, "all done"),
        ({**SPURIOUS, "num_turns": 2, "terminal_reason": "aborted_tools"}, "all done"),
        ({**RESULT, "result": "and more"}, "and more"),
    ],
)
def test_what_comes_after_a_success(last: dict[str, Any], message: str) -> None:
    parser = ClaudeStream()
    words = {"type": "assistant", "message": {"content": [{"type": "text", "text": "hm"}]}}
    more = [words] if message == "and more" else []
    for line in (words, RESULT, *more, last):
        parser.parse_line(json.dumps(line).encode())
    (ending,) = parser.end(ExitStatus(code=1), {})
    assert (ending.kind, ending.data["text"]) == ("completed", message)


HOUR = 3600
NOON = datetime(2026, 3, 10, 12, 0, tzinfo=UTC).timestamp()  # a Tuesday


LIMITS: tuple[tuple[str, float | None], ...] = (
    ("You've hit your limit \u00b7 resets 3pm (UTC)", 3),
    ("You've hit your session limit \u00b7 resets 4:20am (Europe/Warsaw)", 15 + 1 / 3),
    ("You've hit your weekly limit \u00b7 resets Mar 12, 5am (UTC)", 41),
    ("Opus weekly limit reached \u2219 resets Fri 3pm (UTC)", 75),
    (f"Claude AI usage limit reached|{int(NOON) + 7200}", 2),
    ("You've hit your usage limit. try again in 5 days 22 hours 11 minutes.", 142 + 11 / 60),
    ("You've hit your usage limit. Try again at Mar 11th, 2026 4:52 PM UTC.", 28 + 52 / 60),
    ("Usage limit has been reached, resets at 2026-03-10T13:30:00Z", 1.5),
    ("You have reached your ChatGPT usage limit; retry after 1h30m", 1.5),
    ("You've hit your limit, resets Feb 31, 5am (UTC)", None),
    ("You've hit your limit, resets 5am (Nowhere/Land)", None),
)
WORDS = {
    "Credit balance is too low": "quota",
    "Selected model is at capacity. Please try a different model.": "overloaded",
    "I've hit a wall with the limits of this parser": "",
    "The function resets at 10:30 what the limit was": "",
}


@pytest.mark.parametrize(("text", "hours"), LIMITS)
def test_limits_are_known_by_words(text: str, hours: float | None) -> None:
    assert reason_by_words(text) == "rate_limit"
    moment = resets_at(text, NOON)
    assert (moment is None) is (hours is None)
    if moment is not None:
        assert (moment - NOON) / HOUR == pytest.approx(hours)
    assert {other: reason_by_words(other) for other in WORDS} == WORDS

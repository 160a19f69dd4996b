"""Spoiled lines of real agents through all that reads, records and shows a stream."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydra.adapters import codex, cursor, event_builders, failures, json_stream
from hydra.adapters.codex import CodexStream
from hydra.race import output
from hydra.records.store.sink import RawSink
from hydra.report import text
from tests.support import stream_cases, stream_corpus, stream_mutations
from tests.support.command import completed
from tests.support.stream_cases import Case
from tests.support.stream_lane import Lane
from tests.support.stream_storm import Storm, examined, shrunk
from tests.support.stream_watched import Endless, patience


@pytest.mark.slow
def test_twenty_thousand_lines(scratch: Path) -> None:
    """A short form of `python -m tests.support.stream_storm --lines 1000000`."""
    lines: list[str] = []
    storm = Storm(seed=6, say=lines.append)
    storm.run(20_000, scratch)
    assert storm.faults == []
    assert storm.lines >= 20_000
    assert storm.events > 5_000
    assert "0 faults" in lines[-1]


@pytest.mark.full
def test_a_hundred_and_fifty_thousand_lines_and_flat_memory() -> None:
    process = completed(
        [sys.executable, "-m", "tests.support.stream_storm", "--lines", "150000", "--seed", "7"],
        cwd=Path(__file__).parents[1],
        timeout=500,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    assert "0 faults" in process.stdout.splitlines()[-1]


def test_every_kind_of_line_is_in_it() -> None:
    """What the storm says it holds, it does: each agent, secrets, floods of ids, lines too long."""
    cases = [stream_cases.make(6, number) for number in range(450)]
    assert {case.agent for case in cases} == set(stream_corpus.AGENTS)
    sent = [case.stdout for case in cases]
    assert sum(b"made-up-secret" in content for content in sent) > 30
    assert (
        sum("".join(f"\\u{ord(c):04x}" for c in "made").encode() in content for content in sent)
        > 10
    )
    assert max(len(case.lines) for case in cases) > 1_000
    assert max(len(line) for case in cases for line in case.lines) > stream_cases.HUGE // 2
    for part in (b"\x00", b"\x1b]52;", b"\xc2\x9b2J", b"\xe2\x80\xae", b"\\ud800", b"NaN", b"\r"):
        assert any(part in content for content in sent), part
    assert len(stream_corpus.words()) > 40


def test_a_case_is_the_same_each_time() -> None:
    assert stream_cases.make(3, 7) == stream_cases.make(3, 7)
    assert stream_cases.make(3, 7) != stream_cases.make(3, 8)
    assert stream_cases.make(3, 7) != stream_cases.make(4, 7)
    assert stream_cases.make(3, 7, "codex").agent == "codex"


def test_a_faulty_stream_is_shrunk_to_the_line_that_has_the_fault() -> None:
    lines = tuple(b"line %d" % number for number in range(300))
    case = Case(agent="codex", lines=lines, stderr=b"x")
    short = shrunk(case, lambda case: b"line 77" in case.lines)
    assert (short.lines, short.stderr) == ((b"line 77",), b"")


def test_memory_that_grows_and_lines_that_cost_more_are_faults() -> None:
    storm = Storm(seed=1, lines=300_000)
    storm.memory, storm.objects = [40.0, 60.0, 41.0], [100_000, 110_000, 101_000]
    storm.rates = [8_000, 7_000, 6_000]
    assert list(storm._crept()) == []
    storm.memory[1], storm.objects[2], storm.rates[2] = 70.0, 130_000, 2_000
    assert [fault.split()[0] for fault in storm._crept()] == ["memory", "objects", "2,000"]


# What it must find if one guard is gone: each breaks one thing, and names the fault.


def _swallow(function: Callable[..., Any]) -> Callable[..., Any]:
    def write(self: RawSink, data: bytes) -> Any:
        return function(self, data.replace(b"text", b"txt", 1))

    return write


def _raise_at(function: Callable[..., Any]) -> Callable[..., Any]:
    def decode(line: bytes) -> Any:
        if b"\x00" in line:
            raise KeyError("oh")
        return function(line)

    return decode


def _twice(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, exit, files: [*function(self, exit, files), *self.finish(exit, files)]


GUARDS: dict[str, tuple[object, str, Callable[[Any], object], str]] = {
    "control bytes": (
        text,
        "_harmless",
        lambda document: lambda text, tab: iter(text),
        "plain lines",
    ),
    "redaction of events": (
        output,
        "_redacted",
        lambda document: lambda e, r: e,
        "a secret in the",
    ),
    "the raw file": (RawSink, "write", _swallow, "kept is not what was sent"),
    "an adapter's mistake": (json_stream, "decode", _raise_at, "the parser raised"),
    "one ending": (json_stream.JsonStream, "end", _twice, "2 endings"),
}


@pytest.mark.parametrize("guard", GUARDS)
def test_it_finds_a_guard_that_is_gone(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, guard: str
) -> None:
    holder, name, broken, fault = GUARDS[guard]
    monkeypatch.setattr(holder, name, broken(getattr(holder, name)))
    lane = Lane(scratch)
    for number in range(400):
        case = stream_cases.make(6, number)
        if any(fault in name for name in examined(case, lane, number)[1]):
            return
    pytest.fail(f"400 streams without {guard} had no such fault")


# What it found: a text of one word said again and again was searched from each of them to its end.

WORDS = {
    "codex error": (codex.trouble, "model "),
    "codex websocket": (codex.trouble, "unexpected status 500 "),
    "codex sandbox": (
        lambda line: CodexStream().take(
            {
                "type": "item.completed",
                "item": {
                    "type": "command_execution",
                    "id": "1",
                    "exit_code": 1,
                    "aggregated_output": line,
                },
            }
        ),
        "sandbox Landlock ",
    ),
    "cursor": (cursor._failure, "model "),
    "stderr": (lambda line: failures.usage_error(f"error: option '--{line}"), "a"),
    "command": (lambda said_: event_builders.command(f"/bin/bash -lc '{said_}"), "x "),
}


@pytest.mark.parametrize("what", WORDS)
def test_a_text_made_to_be_slow_is_not(what: str) -> None:
    """Each took from 10 s to hours; now it is well under one."""
    read, term = WORDS[what]
    try:
        with patience(5.0):
            read(term * (1_000_000 // len(term)))
    except Endless:
        pytest.fail(f"{what}: 1 MB took over 5 s")


def test_what_was_found_in_a_text_is_still_found_in_it() -> None:
    def reason(message: str) -> tuple[str, str]:
        seen = codex.trouble(message)
        return seen.kind, seen.reason

    socket = "unexpected status 403 Forbidden: no, url: wss://host/responses"
    assert reason(f"unexpected status 401 no, {socket}") == ("AgentFailed", "network")
    assert reason("the model `x`\ndoes not exist") == ("AgentFailed", "model")
    assert reason("remodel it: not found") == ("AgentFailed", "agent_error")
    assert reason("x" * 100_000 + " quota exceeded") == ("AgentFailed", "quota")
    assert cursor._failure("a\nThe model is unknown").data["reason"] == "model"
    event = failures.usage_error("error: option '--effort <level>' argument 'x' is invalid. y")
    assert event is not None
    assert event.data["message"] == "it does not take --effort x"


@pytest.mark.parametrize("quote", ["'", '"'])
def test_a_command_that_holds_a_file_is_shown_without_its_shell(quote: str) -> None:
    file = "cat > a.txt <<EOF\n" + "a line of it\n" * 5_000
    assert event_builders.command(f"/bin/bash -lc {quote}{file}{quote}").startswith("$ cat > a.txt")
    assert event_builders.command("bash -lc 'pytest -q'") == "$ pytest -q"


# Hypothesis draws from the same corpus, and finds the shortest stream by itself.


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Lines of any agent, each with the changes that are drawn for it, in any order."""
    agent = draw(st.sampled_from(stream_corpus.AGENTS))
    own = st.sampled_from(stream_corpus.lines(agent))
    any_line = st.one_of(
        own, own, own, *map(st.sampled_from, map(stream_corpus.lines, stream_corpus.AGENTS))
    )
    changes = st.lists(st.sampled_from(stream_mutations.MUTATIONS), max_size=3)
    documents = []
    for line, todo in draw(st.lists(st.tuples(any_line, changes), max_size=10)):
        for change in todo:
            line = change(Random(draw(st.integers(0, 2**16))), line)
        documents.append(line)
    like = stream_cases.make(0, draw(st.integers(0, 500)), agent)
    return dataclasses.replace(
        like, lines=tuple(documents), line_limit=draw(st.sampled_from((80, 1_000, 1 << 22)))
    )


@pytest.mark.slow
@settings(max_examples=80)
@given(data=st.data())
def test_any_spoiled_stream_is_read_kept_ended_once_and_shown(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    lane = Lane(tmp_path_factory.getbasetemp())
    _, faults = examined(data.draw(cases()), lane, data.draw(st.integers(0, 5)))
    assert faults == []

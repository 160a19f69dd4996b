"""Spoiled lines of real agents through all that reads, records and shows a stream."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hydra.adapters import codex, cursor, event_builders, failures
from hydra.adapters.codex import CodexStream
from tests.support import streams
from tests.support.streams import Endless, examined, patience


@pytest.mark.slow
@pytest.mark.parametrize("count", [300, pytest.param(3_000, marks=pytest.mark.full)])
def test_any_spoiled_stream_is_read_kept_ended_once_and_shown(scratch: Path, count: int) -> None:
    events, agents = 0, set()
    for number in range(count):
        case = streams.make(6, number)
        agents.add(case.agent)
        more, faults = examined(case, scratch)
        assert faults == [], (number, case.agent)
        events += more
    assert events > 15 * count
    assert agents == set(streams.AGENTS)


# What it found: a text of one word said again and again was searched from each of them to its end.


def sandboxed(text: str) -> object:
    item = {"type": "command_execution", "id": "1", "exit_code": 1, "aggregated_output": text}
    return CodexStream().take({"type": "item.completed", "item": item})


WORDS: dict[str, tuple[Callable[[str], object], str]] = {
    "codex error": (codex.trouble, "model "),
    "codex websocket": (codex.trouble, "unexpected status 500 "),
    "codex sandbox": (sandboxed, "sandbox Landlock "),
    "cursor": (cursor._failure, "model "),
    "stderr": (lambda line: failures.usage_error(f"error: option '--{line}"), "a"),
    "command": (lambda line: event_builders.command(f"/bin/bash -lc '{line}"), "x "),
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
    socket = "unexpected status 403 Forbidden: no, url: wss://host/responses"
    for message, reason in (
        (f"unexpected status 401 no, {socket}", "network"),
        ("the model `x`\ndoes not exist", "model"),
        ("remodel it: not found", "agent_error"),
        ("x" * 100_000 + " quota exceeded", "quota"),
    ):
        assert codex.trouble(message).data["reason"] == reason
    assert cursor._failure("a\nThe model is unknown").data["reason"] == "model"
    event = failures.usage_error("error: option '--effort <level>' argument 'x' is invalid. y")
    assert event is not None
    assert event.data["message"] == "it does not take --effort x"
    file = "cat > a.txt <<EOF\n" + "a line of it\n" * 5_000  # shown without its shell
    for quote in ("'", '"'):
        text = event_builders.command(f"/bin/bash -lc {quote}{file}{quote}")
        assert text.startswith("$ cat > a.txt")
    assert event_builders.command("bash -lc 'pytest -q'") == "$ pytest -q"

"""Agents that want a terminal: a program that refuses to run without one, and what it shows."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra.process.stdin_queue import StdinQueue
from hydra.process.vt import Stripper
from hydra.records.request import Limits
from tests.support.processes import MODES, Watched, python, running, shell, token

both = pytest.mark.parametrize("mode", MODES)
QUICK = replace(Limits(), grace_int=0.2, grace_term=0.2)

INSISTS = """
import os, sys
if not (os.isatty(0) and os.isatty(1)):
    sys.exit("this program needs a terminal")
size = os.get_terminal_size()
own = os.getsid(0) == os.getpid() == os.tcgetpgrp(0)
with open("/dev/tty", "w") as controlling:
    print("by /dev/tty", file=controlling)
print(size.columns, size.lines, own)
print("error", file=sys.stderr)
print(input(), "was said")
"""


def on_terminal(argv: tuple[str, ...], mode: str) -> tuple[Watched, StdinQueue]:
    queue = StdinQueue()
    return Watched(argv, mode, inlet=queue, terminal=True), queue


async def test_the_program_refuses_without_one() -> None:
    end = await Watched(python(INSISTS)).run(QUICK)
    assert end.exit.code == 1


@both
async def test_it_runs_with_one_of_its_own(mode: str) -> None:
    agent, queue = on_terminal(python(INSISTS), mode)
    queue.write(b"hello\n")
    end = await agent.run(QUICK)
    assert (end.exit.code, end.stopped) == (0, ""), agent.stderr
    # Nothing is echoed, its stderr is not the terminal's.
    assert bytes(agent.stdout) == b"by /dev/tty\r\n80 24 True\r\nhello was said\r\n"
    assert bytes(agent.stderr) == b"error\n"


@both
async def test_the_end_of_its_input_is_heard(mode: str) -> None:
    agent, queue = on_terminal(shell("cat; echo over"), mode)
    queue.write(b"no newline")
    queue.close()
    end = await agent.run(QUICK)
    assert (end.exit.code, end.stopped) == (0, "")
    assert bytes(agent.stdout) == b"no newlineover\r\n"


@both
async def test_all_of_its_output_comes_before_the_end(mode: str) -> None:
    # The terminal's buffer holds 4 KiB: what is in it when the last process goes is not lost.
    agent, _ = on_terminal(shell("yes line | head -n 20000"), mode)
    await agent.run(QUICK)
    assert agent.stdout.count(b"line\r\n") == 20000


@both
async def test_one_that_never_reads_is_ended_like_any_other(mode: str) -> None:
    mark = token()
    agent, queue = on_terminal(shell(f"trap '' HUP INT TERM; echo ready; sleep {mark}"), mode)
    queue.write(b"x\n" * 100_000)
    agent.on_output = lambda chunk: agent.control.stop("interrupt")
    end = await agent.run(QUICK)
    assert (end.stopped, end.exit.signal) == ("interrupt", 9)
    assert running(mark) == []


@pytest.mark.skipif(not Path("/usr/bin/script").exists(), reason="script(1) is not here")
async def test_script_nests_in_it() -> None:
    agent, queue = on_terminal(
        ("script", "-qec", "tty; test -t 0 && echo yes", "/dev/null"), "pid1"
    )
    end = await agent.run(QUICK)
    queue.close()
    assert end.exit.code == 0
    assert b"yes" in agent.stdout


# --- what it shows ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"plain \xc3\xa9 \xf0\x9f\x8e\x89", b"plain \xc3\xa9 \xf0\x9f\x8e\x89"),
        (b"\x1b[31mred\x1b[0m\x1b[2K\x1b[?25l", b"red"),
        (b"\x1b[1;2 qa\x1b[>4;2mb", b"ab"),
        (b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", b"ab"),
        (b"\x1bP1$r0m\x1b\\a\x1b_apc\x1b\\b\x1b^pm\x1b\\c\x1bXsos\x1b\\d", b"abcd"),
        (b"\x1b(Ba\x1b)0b\x1b%Gc\x1b#8d", b"abcd"),
        (b"\x1b=a\x1b7b\x1b8c\x1bMd\x1bce", b"abcde"),
        (b"\x1b[3\x1b[31mx", b"x"),
        (b"\x1b\x1b[mx\x1b", b"x"),
        (b"\x1b]0;never ended", b""),
        (b"\x1b[31\xc3\xa9", b"\xc3\xa9"),
        (b"a\x07b\x08c\x00d\x7fe\tf", b"abcde\tf"),
        (b"10%\r20%\r{}\r\r", b"{}"),
        (b"\x1b]0;x\x18a\x1b[1\x1ab", b"ab"),
    ],
)
def test_a_line_is_what_a_terminal_would_show(raw: bytes, shown: bytes) -> None:
    assert Stripper().line(raw) == shown


def test_no_sequence_swallows_the_next_line() -> None:
    stripper = Stripper()
    for begun in (b"\x1b", b"\x1b[31", b"\x1b]0;title", b"\x1bP", b"\x1b(", b"\x1b]0;a\x1b"):
        assert stripper.line(begun) == b""
        assert stripper.line(b"next") == b"next"


PIECES = st.sampled_from(
    [b"\x1b", b"[", b"]", b"P", b"\\", b"\x07", b"31", b";", b"m", b"(", b"B", b"\n", b"\r", b"x"]
)


@given(st.lists(PIECES, max_size=40), st.lists(st.integers(0, 40), max_size=8))
def test_it_does_not_matter_where_it_is_cut(pieces: list[bytes], cuts: list[int]) -> None:
    whole = b"".join(pieces)
    at = [0, *sorted(cut for cut in cuts if cut <= len(whole)), len(whole)]
    stripper = Stripper()
    parts = [stripper.feed(whole[a:b]) for a, b in pairwise(at)]
    assert b"".join(parts) == Stripper().feed(whole)
    assert whole.count(b"\n") == b"".join(parts).count(b"\n")


@pytest.mark.slow
@pytest.mark.parametrize("unit", [b"\x1b", b"\x1b[", b"\x1b]", b"\x1bP\x1b", b"\x1b[1;", b"\x1b("])
def test_it_takes_linear_time(unit: bytes) -> None:
    small, large = (_seconds(unit, n) for n in (100_000, 800_000))
    assert large < 40 * small + 0.2


def _seconds(unit: bytes, times: int) -> float:
    data = unit * times
    began = time.process_time()
    Stripper().feed(data)
    return time.process_time() - began

"""Lines from bytes: exact, in linear time, in bounded memory."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra.process.lines import LineBlock, LineFramer

LONG = LineBlock(b"xxxxx\n", oversized=True)


def frame(chunks: list[bytes], limit: int = 100) -> list[LineBlock]:
    framer = LineFramer(limit)
    return [block for chunk in chunks for block in framer.feed(chunk)] + framer.close()


@pytest.mark.parametrize(
    ("chunks", "limit", "blocks"),
    [
        # At a newline alone, and lines that come together stay together.
        (["a\u2028b\rc\x0bd\nnext\r\nrest"], 100, ["a\u2028b\rc\x0bd\nnext\r\n", "rest"]),
        (["one\ntwo\nth", "ree\n"], 100, ["one\ntwo\n", "three\n"]),
        (["one\ntw", "o"], 100, ["one\n", "two"]),
        ([], 100, []),
        (["\n\n"], 100, ["\n\n"]),
        (["xx", "xx", "\n"], 4, ["xxxx\n"]),  # of exactly the limit
        (["xx", "xxx\ny\n"], 4, [LONG, "y\n"]),
    ],
)
def test_lines_are_cut_exactly(
    chunks: list[str], limit: int, blocks: list[str | LineBlock]
) -> None:
    expected = [LineBlock(row.encode()) if isinstance(row, str) else row for row in blocks]
    assert frame([chunk.encode() for chunk in chunks], limit) == expected


def test_pieces_of_a_long_line_come_at_once() -> None:
    framer = LineFramer(4)
    assert framer.feed(b"abcdef") == [LineBlock(b"abcdef", oversized=True, last=False)]
    assert framer.feed(b"gh") == [LineBlock(b"gh", oversized=True, last=False)]
    assert framer.feed(b"i\nok\n") == [LineBlock(b"i\n", oversized=True), LineBlock(b"ok\n")]
    assert frame([b"abcdef"], limit=4)[-1] == LineBlock(b"", oversized=True)


@given(st.lists(st.binary(max_size=12).map(lambda part: part.replace(b"z", b"\n"))))
def test_any_cut_gives_back_the_exact_bytes(chunks: list[bytes]) -> None:
    blocks = frame(chunks, limit=5)
    assert b"".join(block.data for block in blocks) == b"".join(chunks)
    whole = [block.data for block in blocks if not block.oversized]
    assert all(data.endswith(b"\n") for data in whole[:-1])
    open_lines = [block for block in blocks if not block.last]
    assert all(block.oversized and b"\n" not in block.data for block in open_lines)


def test_64_mb_without_a_newline_costs_little() -> None:
    tracemalloc.start()
    best = min(_seconds() for _ in range(3))  # what a hypervisor takes away is counted, too
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 * 1024**2
    assert best < 1.0


def _seconds() -> float:
    framer = LineFramer(4 * 1024**2)
    before = time.thread_time()  # of the processor, whoever else wants it
    size = sum(len(block.data) for _ in range(1024) for block in framer.feed(b"x" * 65536))
    size += sum(len(block.data) for block in framer.close())
    assert size == 64 * 1024**2
    return time.thread_time() - before

"""Lines from bytes: exact, in linear time, in bounded memory."""

from __future__ import annotations

import time
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from hydra.process.lines import LineBlock, LineFramer


def frame(chunks: list[bytes], limit: int = 100) -> list[LineBlock]:
    framer = LineFramer(limit)
    return [block for chunk in chunks for block in framer.feed(chunk)] + framer.close()


def test_blocks_end_on_newline_only() -> None:
    text = "a\u2028b\rc\x0bd\n".encode() + b"next\r\n"
    assert frame([text + b"rest"]) == [LineBlock(text), LineBlock(b"rest")]


def test_lines_that_come_together_stay_together() -> None:
    assert frame([b"one\ntwo\nth", b"ree\n"]) == [LineBlock(b"one\ntwo\n"), LineBlock(b"three\n")]


def test_last_unterminated_line_is_kept() -> None:
    assert frame([b"one\ntw", b"o"]) == [LineBlock(b"one\n"), LineBlock(b"two")]


def test_nothing_is_made_of_nothing() -> None:
    assert frame([]) == []
    assert frame([b"one\n"]) == [LineBlock(b"one\n")]
    assert frame([b"\n\n"]) == [LineBlock(b"\n\n")]


def test_a_line_of_exactly_the_limit_is_whole() -> None:
    assert frame([b"xx", b"xx", b"\n"], limit=4) == [LineBlock(b"xxxx\n")]
    assert frame([b"xx", b"xxx\ny\n"], limit=4) == [
        LineBlock(b"xxxxx\n", oversized=True),
        LineBlock(b"y\n"),
    ]


def test_pieces_of_a_long_line_come_at_once() -> None:
    framer = LineFramer(4)
    assert framer.feed(b"abcdef") == [LineBlock(b"abcdef", oversized=True, last=False)]
    assert framer.feed(b"gh") == [LineBlock(b"gh", oversized=True, last=False)]
    assert framer.feed(b"i\nok\n") == [LineBlock(b"i\n", oversized=True), LineBlock(b"ok\n")]
    assert framer.feed(b"short\n") == [LineBlock(b"short\n")]


def test_a_long_line_that_ends_with_its_stream() -> None:
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
    chunk = b"x" * 65536
    before = time.thread_time()  # of the processor, whoever else wants it
    size = sum(len(block.data) for _ in range(1024) for block in framer.feed(chunk))
    size += sum(len(block.data) for block in framer.close())
    spent = time.thread_time() - before
    assert size == 64 * 1024**2
    return spent

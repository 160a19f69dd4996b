"""Reading what test runners print: recordings of the real ones, and damage done to them."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hydra.checks.record import CheckResult, CheckStatus, details, read
from hydra.checks.results import Status, Tests
from hydra.checks.text_parsers.lines import cleaned, each_line, shortened
from hydra.checks.text_parsers.output import found_no_tests, read_text
from hydra.records.request import Check
from tests.check_recordings import FIXTURES

RECORDINGS = sorted(path for path in FIXTURES.glob("*/*.txt") if path.parent.name != "samples")
PYTESTS = sorted(path.name for path in FIXTURES.glob("pytest-*"))


def by_id(tests: Tests) -> dict[str, Status]:
    return dict(tests.by_id)


def test_pytest_killed_before_its_summary_keeps_what_it_named() -> None:
    whole = (FIXTURES / PYTESTS[-1] / "verbose.txt").read_bytes()
    tests = read_text(whole[: whole.index(b"tests/test_cart.py::test_opens")])
    assert tests is not None
    assert tests.passed == 8
    assert tests.remarks == ("pytest's output ends without its summary",)


def test_vitest_2_1_1_has_two_spaces_before_what_a_file_counts() -> None:
    plain = (FIXTURES / "vitest-3.2.7" / "plain.txt").read_bytes()
    assert read_text(plain.replace(b".js (", b".js  (")) == read_text(plain)


def test_two_languages_in_one_output_are_added_up() -> None:
    text = (FIXTURES / PYTESTS[-1] / "verbose.txt").read_bytes()
    text += (FIXTURES / "cargo-1.95.0" / "plain.txt").read_bytes()
    text += (FIXTURES / "vitest-3.2.7" / "plain.txt").read_bytes()
    tests = read_text(text)
    assert tests is not None
    assert (tests.passed, tests.failed, tests.skipped) == (8 + 5 + 6, 5 + 3 + 2, 2 + 1 + 2)
    assert tests.unnamed == {"passed"}


def test_colour_and_carriage_returns_and_the_same_once_more_change_nothing() -> None:
    for path in RECORDINGS:
        data = path.read_bytes()
        dressed = b"".join(
            b"\x1b[2K\x1b[1;32m" + line + b"\x1b]8;;http://x\x07\x1b[0m\r\n"
            for line in data.split(b"\n")
        )
        once, twice = read_text(data), read_text(data + b"\n" + data)
        assert read_text(dressed) == once, path
        assert (once and once.by_id) == (twice and twice.by_id), path


@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(RECORDINGS), st.randoms(use_true_random=False), st.data())
def test_damage_never_raises_and_never_makes_a_pass_out_of_a_failure(
    path: Path, dice: random.Random, data: st.DataObject
) -> None:
    whole = path.read_bytes()
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    tests = read_text(cut)
    failed = {name for name, text in by_id(read_or_none(whole)).items() if text == "failed"}
    if tests is not None and path.parent.name.startswith(("pytest", "unittest", "go-")):
        assert not {name for name in failed if tests.by_id.get(name) == "passed"} - {
            "tests/test_cart.py::test_closes"
        }  # its teardown came later
    mutated = bytearray(whole)
    for _ in range(dice.randrange(1, 30)):
        at = dice.randrange(len(mutated) + 1)
        mutated[at : at + dice.randrange(4)] = dice.randbytes(dice.randrange(4))
    read_text(bytes(mutated))
    found_no_tests(bytes(mutated), dice.choice([None, 0, 1, 5]))


def read_or_none(data: bytes) -> Tests:
    return read_text(data) or Tests(source="text", cases=())


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_read(data: bytes) -> None:
    read_text(data)
    assert b"\r" not in cleaned(data)


def test_the_middle_of_a_flood_is_left_out_and_its_ends_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hydra.checks.text_parsers.lines.LINES", 1000)
    head = b"=== test session starts ===\nt.py::a PASSED [ 50%]\n"
    tail = b"\nt.py::b FAILED [100%]\n=== 1 failed, 1 passed in 0.10s ===\n"
    flood = b"x y\n" * 200_000
    text, gap = shortened(head + flood + tail)
    assert len(text) < len(flood)
    assert 0 < gap <= 200_000
    tests = read_text(head + flood + tail)
    assert tests is not None
    assert by_id(tests) == {"t.py::a": "passed", "t.py::b": "failed"}
    assert tests.remarks == (f"{gap:,} lines in the middle of the output were not looked at",)


def test_lines_are_whole_over_chunks() -> None:
    data = b"\n".join(b"%d" % number + b"x" * (number % 300) for number in range(3000))
    assert [line.encode() for line in each_line(data)] == data.split(b"\n")
    assert list(each_line(b"a\n" + b"y" * 5000 + b"\nb")) == ["a", "b"]


@pytest.mark.full
@pytest.mark.parametrize(
    "piece",
    [
        b"\n",
        b"a\n",
        b" \n",
        b"\x1b[0",
        b"\x1b]",
        b"tests/a.py::t[x PASSED ] PASSED PASSED\n",
        b"a::b[" + b"] PASS" * 600 + b"\n",
        b"1 passed, " * 300 + b"\n",
        b"a (b.c) ... " * 300 + b"\n",
        b"test a" + b" - b (line 3)" * 300 + b"\n",
        b"a::b[" + b"] PASSED (" * 400 + b"\n",
        b"[gw0] [  6%] PASSED a" + b" " * 4000 + b"b\n",
        b"Ran 1 test in 0.1s\nFAILED (" + b"a " * 2000 + b")\n",
        b"FAIL a.b" + b".c (1 ms)" * 400 + b"\n",
        b"FAIL a.b\n    \xe2\x9c\x93 a" + b" (1 ms)" * 500 + b"x\n",
        b"Tests: " + b" " * 4000 + b"\n",
        b" " * 4000 + b"\n",
        b'{"Action":' + b"[" * 4000 + b"\n",
        b"> a@1.0.0 t\n> b@1.0.0 t\n",
        b"a t$ b\na t: ok\n",
        b"  a\n",
        b"  \xe2\x9c\x94 a\n",
        b"  \xe2\x9c\x98 [fail]: " + b"a " * 1900 + b"\n",
        b"\xe2\x9c\x94 a" + b" (0.1ms) # a" * 300 + b"\n",
        b"  " * 60 + b"\xe2\x96\xb6 a\n",
        b"bun test v1\n(pass) a" + b" [1ms]" * 600 + b"x\n",
        b"running 1 test from a\n" + b" a ... ok" * 400 + b" (\n",
    ],
)
def test_16_mib_of_anything_are_read_in_linear_time(piece: bytes) -> None:
    flood = (piece * ((16 << 20) // len(piece) + 1))[: 16 << 20]
    began = time.process_time()
    read_text(flood)
    assert time.process_time() - began < 30  # quadratic in a line's length: over 75 s


def test_a_file_is_counted_unless_two_lines_do() -> None:
    plain = (FIXTURES / "vitest-3.2.7" / "plain.txt").read_bytes()
    tests = read_text(plain)
    assert tests is not None
    assert tests.files == {"src/cart.test.js": (4, 2, 2), "src/price.test.js": (2, 0, 0)}
    row = " \u2713 src/price.test.js (9 tests) 2ms\n".encode()
    twice = read_text(
        plain.replace(" \u2713 src/price".encode(), row + " \u2713 src/price".encode())
    )
    assert twice is not None
    assert list(twice.files) == ["src/cart.test.js"]
    result = CheckResult(check=Check("unit", "x"), status=CheckStatus.FAILED, tests=tests)
    assert read(details(result)).tests == tests

"""Reading what test runners print, recordings of the real ones and damage done to them; two runs
held against each other.
"""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hydra.checks import results
from hydra.checks.comparison import compare
from hydra.checks.record import CheckResult, CheckStatus, details, document, read
from hydra.checks.regressions import compare_to_baseline
from hydra.checks.results import Comparison, GatheredTests, ResultCounts, Status, TestCase, Tests
from hydra.checks.text_parsers.lines import each_line, shortened
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


def recording(name: str) -> bytes:
    return (FIXTURES / f"{name}.txt").read_bytes()


def read_whole(output: bytes) -> Tests:
    tests = read_text(output, ["/lane/shop"])
    assert tests is not None
    return tests


def test_packages_that_run_at_once_may_come_in_any_order() -> None:
    whole = recording("pnpm-9.15.9/recursive")
    lines = whole.decode().splitlines()
    announced, rest = lines[:3], sorted(lines[3:], key=lambda line: line.startswith("packages/a"))
    assert read_whole("\r\n".join([*announced, *rest]).encode()).by_id == read_whole(whole).by_id


def test_runners_one_after_another_between_npm_s_own_lines() -> None:
    names = ("mocha-12.0.3/spec", "node-test-24.21.0/spec", "ava-7.0.0/plain")
    parts = [recording(name) for name in names]
    head = b"\n> shop@1.0.0 test\n> npm run each\n\n\n> shop@1.0.0 each\n> node each.js\n\n"
    tail = b"\nnpm notice\nnpm notice New minor version of npm available! 11.19.1 -> 11.21.2\n"
    tests = read_whole(head + b"\n".join(parts) + tail)
    apart = [item for part in parts for item in read_whole(part).by_id.items()]
    assert tests.by_id == dict(apart) | {id: end for id, end in apart if end == "failed"}


FAKES = {
    "mocha-12.0.3/spec": "  \u2714 opens\n  cart\n    \u2714 removes\n",
    "node-test-24.21.0/spec": "\u2714 closes (0.1ms)\n\u25b6 cart\n  \u2714 removes (0.1ms)\n",
    "node-test-20.20.2/tap": "ok 1 - closes\n",
    "ava-7.0.0/plain": "  \u2714 cart \u203a removes\n",
    "ava-3.15.0/plain": "  \u2714 cart \u203a removes\n",
    "bun-1.4.5/plain": "(pass) cart > removes [0.1ms]\n",
    "deno-2.9.6/plain": "removes ... ok (1ms)\n",
}


@pytest.mark.parametrize("name", FAKES)
def test_what_a_patch_prints_makes_no_pass_of_a_failure(name: str) -> None:
    """Wherever it stands between the runner's lines."""
    lines = recording(name).decode().split("\n")
    whole = read_whole(recording(name))
    failing = {id for id, end in whole.by_id.items() if end == "failed"}
    script = "> other@1.0.0 test\n"
    for at in range(0, len(lines), 1 + len(lines) // 60):
        text = "\n".join([*lines[:at], script if at % 3 else FAKES[name], *lines[at:]])
        tests = read_text(text.encode(), ["/lane/shop"])
        if tests is None:
            continue
        gone = failing - {id for id, end in tests.by_id.items() if end == "failed"}
        compared = compare(whole, tests)
        assert compared is not None
        assert not {*compared.fixed} & failing, (at, text)
        # A name that was taken from a failure is a test that is missing.
        assert not gone or not compared.breaks_nothing or tests.failed >= whole.failed, (at, gone)


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("mocha-12.0.3/spec", "    1) removes"),
        ("node-test-24.21.0/spec", "\u2716 closes ("),
        ("node-test-20.20.2/tap", "not ok 3 - closes"),
        ("ava-7.0.0/plain", "  \u2718 [fail]: cart \u203a removes"),
        ("ava-3.15.0/plain", "  \u2716 cart \u203a removes"),
        ("bun-1.4.5/plain", "(fail) cart > removes"),
        ("deno-2.9.6/plain", "removes ... \x1b[0m\x1b[31mFAILED"),
    ],
)
def test_a_runner_s_own_total_holds_where_a_failure_is_hidden(name: str, hidden: str) -> None:
    """As by a word in its place, that a test prints without a newline."""
    whole = recording(name).decode()
    assert hidden in whole
    tests = read_whole(whole.replace(hidden, "word", 1).encode())
    before = read_whole(whole.encode())
    assert tests.failed == before.failed
    named_again = tests.by_id == before.by_id  # mocha lists its failures at the end
    assert named_again or "failed" in tests.unnamed


STATUSES: dict[str, Status] = {"p": "passed", "f": "failed", "s": "skipped"}


def test_of_two_statuses_the_worse_stands_and_too_many_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(results, "CASES", 2)
    gathered = GatheredTests()
    for name, status in (("a", "p"), ("a", "s"), ("b", "f"), ("b", "p"), ("c", "p"), ("a", "p")):
        gathered.add(name, STATUSES[status])
    assert gathered.statuses == {"a": "skipped", "b": "failed"}
    assert gathered.remarks() == ("1 results beyond the first 2 tests were left out",)


names = st.sampled_from(["a", "a::b", "a::b::c", "d/e.py", "d/e.py::f", "g", "h.i", "h"])
whole = st.dictionaries(names, st.sampled_from(list(STATUSES.values()))).map(
    lambda texts: Tests("junit", tuple(TestCase(name, how) for name, how in texts.items()))
)
partial = whole.map(
    lambda tests: Tests(
        "text",
        tuple(case for case in tests.cases if case.status == "failed"),
        counts=ResultCounts(tests.passed, tests.failed, tests.skipped),
        unnamed=frozenset({"passed", "skipped"}),
    )
)
runs = whole | partial


@given(runs, runs, st.none() | runs, st.none() | runs)
def test_no_id_is_in_two_lists_and_fixed_is_earned(
    base: Tests, now: Tests, base_again: Tests | None, again: Tests | None
) -> None:
    comparison = compare(base, now, base_again=base_again, again=again)
    if comparison is None:
        return
    lists = [getattr(comparison, f) for f in comparison.__struct_fields__ if f != "breaks_nothing"]
    listed = [name for names in lists for name in names]
    assert len(listed) == len(set(listed))
    for name in comparison.fixed:
        assert base.by_id[name] == "failed"
        inside = [how for other, how in now.by_id.items() if other.startswith(name)]
        assert "passed" in inside
        assert now.by_id.get(name, "passed") == "passed"
        assert again is None or again.by_id.get(name) != "failed"
    if comparison.breaks_nothing:
        passing = {name for name, how in base.by_id.items() if how == "passed"}
        assert not passing & {
            *comparison.broken,
            *comparison.vanished,
            *comparison.skipped,
            *comparison.unknown,
        }


@given(runs)
def test_a_run_against_itself_has_no_news(tests: Tests) -> None:
    comparison = compare(tests, tests, base_again=tests, again=tests)
    failing = tuple(name for name, how in tests.by_id.items() if how == "failed")
    assert comparison == Comparison(still_failing=failing)


def test_long_lists_are_cut_in_a_document_and_whole_in_the_file_and_come_back_from_it() -> None:
    many = Tests("junit", tuple(TestCase(f"t{number}", "failed") for number in range(150)))
    unit, output = Check("unit", "pytest"), "checks/1/x/unit.txt"
    red = CheckResult(check=unit, status=CheckStatus.FAILED, tests=many, exit_code=1, output=output)
    judged = compare_to_baseline(red, red)
    data: Any = document(judged)
    assert data["comparison"]["counts"]["still_failing"] == 150
    assert len(data["comparison"]["still_failing"]) == len(data["tests"]["failing"]) == 100
    back = read(details(judged))
    assert back.tests is not None
    assert back.tests.cases == many.cases
    assert (back.status, back.exit_code, back.output) == (CheckStatus.FAILED, 1, output)

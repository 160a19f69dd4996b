"""Reading what test runners print: recordings of the real ones, and damage done to them."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hydra.checks.results import Status, Tests
from hydra.checks.text_parsers.lines import cleaned, each_line, shortened
from hydra.checks.text_parsers.output import found_no_tests, read_text
from tests.check_recordings import FIXTURES
from tests.support import check_expectations as expected
from tests.support.check_expectations import counts, only

RECORDINGS = sorted(path for path in FIXTURES.glob("*/*.txt") if path.parent.name != "samples")
PYTESTS = sorted(path.name for path in FIXTURES.glob("pytest-*"))
UNITTESTS = sorted(path.name for path in FIXTURES.glob("unittest-*"))
JESTS = sorted(path.name for path in FIXTURES.glob("jest-*"))
VITESTS = sorted(path.name for path in FIXTURES.glob("vitest-*"))


def read(folder: str, name: str) -> Tests:
    tests = read_text((FIXTURES / folder / f"{name}.txt").read_bytes())
    assert tests is not None
    assert tests.source == "text"
    return tests


def by_id(tests: Tests) -> dict[str, Status]:
    return dict(tests.by_id)


def exit_code(path: Path) -> int:
    code = json.loads(path.with_name("exits.json").read_text())[path.stem]
    assert isinstance(code, int)
    return code


def test_there_are_recordings_of_every_tool() -> None:
    assert len(PYTESTS) == 4
    assert len(UNITTESTS) == 3
    assert len(JESTS) == 2
    assert len(VITESTS) == 3
    assert len(RECORDINGS) > 80


@pytest.mark.parametrize("version", PYTESTS)
@pytest.mark.parametrize("name", ["verbose", "xdist", "talking"])
def test_pytest_names_every_test(version: str, name: str) -> None:
    tests = read(version, name)
    assert by_id(tests) == expected.PYTEST
    assert counts(tests) == (8, 5, 2)
    assert not tests.unnamed
    assert not tests.remarks


@pytest.mark.parametrize("version", PYTESTS)
@pytest.mark.parametrize("name", ["plain", "q", "xunit1"])
def test_pytest_names_failures_only_and_counts_the_rest(version: str, name: str) -> None:
    tests = read(version, name)
    assert by_id(tests) == only("failed", expected.PYTEST)
    # One of the nine passed and then failed in its teardown: the text does not tell which.
    assert counts(tests) == (9, 5, 2)
    assert tests.unnamed == {"passed", "skipped"}


@pytest.mark.parametrize("version", PYTESTS)
def test_pytest_lists_all_but_skips_with_ra_and_what_tests_printed_is_not_believed(
    version: str,
) -> None:
    tests = read(version, "all")
    named = dict(expected.PYTEST)
    del named["tests/test_cart.py::test_pays"]
    assert by_id(tests) == named
    assert counts(tests) == (8, 5, 2)
    assert tests.unnamed == {"skipped"}


@pytest.mark.parametrize("version", PYTESTS)
def test_pytest_names_a_file_that_cannot_be_collected(version: str) -> None:
    assert by_id(read(version, "broken")) == expected.UNCOLLECTED
    assert by_id(read(version, "broken-on")) == expected.PYTEST | expected.UNCOLLECTED


def test_pytest_killed_before_its_summary_keeps_what_it_named() -> None:
    whole = (FIXTURES / PYTESTS[-1] / "verbose.txt").read_bytes()
    tests = read_text(whole[: whole.index(b"tests/test_cart.py::test_opens")])
    assert tests is not None
    assert tests.passed == 8
    assert tests.remarks == ("pytest's output ends without its summary",)


def test_pytest_rerun_that_passes_is_flaky() -> None:
    tests = read_text(
        b"=== test session starts ===\nt.py::a RERUN [ 50%]\nt.py::a PASSED [ 50%]\n"
        b"t.py::b RERUN [100%]\nt.py::b FAILED [100%]\n"
        b"=== 1 failed, 1 passed, 2 rerun in 0.10s ===\n"
    )
    assert tests is not None
    assert tests.flaky == ("t.py::a",)
    assert by_id(tests) == {"t.py::a": "passed", "t.py::b": "failed"}


@pytest.mark.parametrize("version", UNITTESTS)
def test_unittest(version: str) -> None:
    tests = read(version, "verbose")
    assert by_id(tests) == expected.UNITTEST
    assert counts(tests) == (2, 5, 2)
    assert not tests.unnamed
    broken = read(version, "broken")
    assert by_id(broken) == expected.UNITTEST | {"tests.test_broken": "failed"}


WARNS = "/shop/serve.py:24: ResourceWarning: unclosed <socket fd=4>\n  server.accept()[0].send()\n"


@pytest.mark.parametrize("failing", [False, True])
def test_unittest_on_whose_lines_another_thread_writes(failing: bool) -> None:
    """A warning comes between a name and its end, behind that, and among the closing lines."""
    lines = [
        f"test_a (t.T.test_a) ... ok{WARNS}",
        f"test_b (t.T.test_b) ... {WARNS}ok",
        f"test_c (t.T.test_c) ... {WARNS}ok{WARNS}",
        f"test_d (t.T.test_d){WARNS} ... ok",
        f"test_e (t.T.test_e){WARNS} ... ok{WARNS}",
        "test_f (t.T.test_f) ... skipped 'no'",
    ]
    end = f"OK (skipped=1){WARNS}"
    if failing:
        lines += [f"test_g (t.T.test_g) ... FAIL{WARNS}", "FAIL: test_g (t.T.test_g)"]
        end = f"FAILED (failures=1, skipped=1){WARNS}"
    ran = f"Ran {len(lines) - failing} tests in 0.006s{WARNS}"
    tests = read_text("\n".join([*lines, ran, "", end, ""]).encode())
    assert tests is not None
    ends = dict.fromkeys([f"t.T.test_{name}" for name in "abcde"], "passed")
    ends |= {"t.T.test_f": "skipped"} | ({"t.T.test_g": "failed"} if failing else {})
    assert by_id(tests) == ends
    assert not tests.unnamed


def test_unittest_names_what_it_runs_and_not_what_code_logs() -> None:
    lines = [
        "test_a (t.T.test_a) ... Reading (app.toml)",
        "Loaded (app.toml)",
        "ok",
        "test_b (t.T.test_b)",
        "What it is about ... ok",
    ]
    tests = read_text("\n".join([*lines, "", "Ran 2 tests in 0.1s", "", "OK", ""]).encode())
    assert tests is not None
    assert by_id(tests) == {"t.T.test_a": "passed", "t.T.test_b": "passed"}


def test_unittest_says_nothing_of_a_name_that_counts_leave_open() -> None:
    """One of two was skipped, and which does not stand there."""
    lines = [f"test_{name} (t.T.test_{name}) ... {WARNS}" for name in "ab"]
    tests = read_text("\n".join([*lines, "Ran 2 tests in 0.1s", "", "OK (skipped=1)", ""]).encode())
    assert tests is not None
    assert by_id(tests) == {}
    assert tests.unnamed == {"passed", "skipped"}


@pytest.mark.parametrize("version", UNITTESTS)
def test_unittest_without_v_names_failures(version: str) -> None:
    tests = read(version, "short")
    named = only("failed", expected.UNITTEST)
    if version == "unittest-3.9.18":  # it counts an unexpected success and does not name it
        del named["tests.test_cart.Cart.test_refunds_by_luck"]
        assert "failed" in tests.unnamed
    assert by_id(tests) == named
    assert counts(tests) == (2, 5, 2)
    assert {"passed", "skipped"} <= tests.unnamed


def test_cargo() -> None:
    assert by_id(read("cargo-1.95.0", "plain")) == expected.CARGO
    assert by_id(read("cargo-1.95.0", "first")) == expected.CARGO_LIBRARY
    assert by_id(read("cargo-1.95.0", "nocapture")) == expected.CARGO_LIBRARY
    assert not read("cargo-1.95.0", "plain").unnamed


def test_cargo_quiet_names_failures_without_their_binary() -> None:
    tests = read("cargo-1.95.0", "quiet")
    assert by_id(tests) == dict.fromkeys(("tests::removes", "rounds", "src/lib.rs - add"), "failed")
    assert counts(tests) == (5, 3, 1)
    assert tests.unnamed == {"passed", "skipped"}


def test_cargo_that_cannot_build_names_no_test() -> None:
    path = FIXTURES / "cargo-1.95.0" / "unbuilt.txt"
    assert read_text(path.read_bytes()) is None
    assert not found_no_tests(path.read_bytes(), exit_code(path))


def test_a_test_binary_that_dies_has_failed_as_a_whole() -> None:
    tests = read_text(
        b"     Running unittests src/lib.rs (target/debug/deps/shop-0123456789abcdef)\n\n"
        b"running 3 tests\ntest a ... ok\n"
        b"error: test failed, to rerun pass `--lib`\n\nCaused by:\n"
        b"  process didn't exit successfully (signal: 6, SIGABRT: process abort signal)\n"
    )
    assert tests is not None
    assert by_id(tests) == {"shop src/lib.rs::a": "passed", "shop src/lib.rs": "failed"}
    assert tests.remarks


def test_nextest() -> None:
    assert by_id(read("cargo-nextest-0.9.148", "plain")) == expected.NEXTEST
    flaky = read("cargo-nextest-0.9.148", "flaky")
    assert by_id(flaky) == expected.NEXTEST | {"shop::total::sometimes": "passed"}
    assert flaky.flaky == ("shop::total::sometimes",)


def test_go() -> None:
    every = expected.GO_CART | expected.GO_OTHERS
    verbose = read("go-1.19.8", "verbose")
    assert by_id(verbose) == every | {expected.GO_TALKS: "passed"}
    assert not verbose.unnamed
    # This go's own -json loses the result that follows a word without a newline.
    assert by_id(read("go-1.19.8", "json")) == every
    names = read("gotestsum-1.8.2", "names")
    assert by_id(names) == expected.GO_CART | {expected.GO_TALKS: "passed"}


def test_go_without_v_names_failures_and_packages() -> None:
    tests = read("go-1.19.8", "plain")
    assert by_id(tests) == only("failed", expected.GO_CART) | {
        "example.com/shop/broken": "failed",
        "example.com/shop/price": "passed",
    }
    assert tests.unnamed == {"passed", "skipped"}
    assert by_id(read("go-1.19.8", "good")) == {"example.com/shop/price": "passed"}


@pytest.mark.parametrize("version", JESTS)
def test_jest(version: str) -> None:
    for name in ("verbose", "file-colour"):
        tests = read(version, name)
        assert by_id(tests) == expected.JEST, name
        assert counts(tests) == (6, 2, 2)
        assert not tests.unnamed
    assert by_id(read(version, "one")) == expected.PRICE


@pytest.mark.parametrize("version", JESTS)
def test_jest_names_failures_and_files_by_default(version: str) -> None:
    tests = read(version, "plain")
    named = only("failed", expected.JEST) | {"src/price.test.js": "passed"}
    assert by_id(tests) == named
    assert counts(tests) == (6, 2, 2)
    assert tests.unnamed == {"passed", "skipped"}
    broken = read(version, "broken")
    assert by_id(broken) == named | expected.BAD_SUITE
    assert counts(broken) == (6, 3, 2)


def test_vitest() -> None:
    verbose = read("vitest-3.2.7", "verbose")
    assert by_id(verbose) == expected.VITEST_CART | expected.PRICE
    assert not verbose.unnamed
    for name in ("plain", "colour"):
        tests = read("vitest-3.2.7", name)
        assert by_id(tests) == expected.VITEST_CART | {"src/price.test.js": "passed"}
        assert counts(tests) == (6, 2, 2)
        assert tests.unnamed == {"passed"}
    broken = read("vitest-3.2.7", "broken")
    assert broken.by_id["bad/broken.test.js"] == "failed"
    assert counts(broken) == (6, 3, 2)


def test_vitest_2_1_1_has_two_spaces_before_what_a_file_counts() -> None:
    plain = (FIXTURES / "vitest-3.2.7" / "plain.txt").read_bytes()
    assert read_text(plain.replace(b".js (", b".js  (")) == read_text(plain)


@pytest.mark.parametrize("version", VITESTS)
def test_a_title_of_vitests_that_ends_in_a_time_stays_whole(version: str) -> None:
    for name in ("titles", "titles-colour"):
        named = by_id(read(version, name))
        unsaid = "src/parse.test.js::parse > waits 5ms"  # by vitest 2
        assert named | {unsaid: "skipped"} == expected.VITEST_TITLES, name
    default = read(version, "titles-default")
    named = {id: end for id, end in by_id(default).items() if end != "skipped"}
    assert named.items() <= expected.VITEST_TITLES.items()
    assert only("failed", named) == only("failed", expected.VITEST_TITLES)
    assert counts(default) == (8, 1, 2)


def test_two_languages_in_one_output_are_added_up() -> None:
    text = (FIXTURES / PYTESTS[-1] / "verbose.txt").read_bytes()
    text += (FIXTURES / "cargo-1.95.0" / "plain.txt").read_bytes()
    text += (FIXTURES / "vitest-3.2.7" / "plain.txt").read_bytes()
    tests = read_text(text)
    assert tests is not None
    assert counts(tests) == (8 + 5 + 6, 5 + 3 + 2, 2 + 1 + 2)
    assert tests.unnamed == {"passed"}


def test_no_tests_is_told_from_every_other_ending() -> None:
    names = {
        f"{path.parent.name}/{path.stem}"
        for path in RECORDINGS
        if found_no_tests(path.read_bytes(), exit_code(path))
    }
    empty = {"empty", "empty-q", "deselected", "nomatch"}
    assert names == {f"{p.parent.name}/{p.stem}" for p in RECORDINGS if p.stem in empty}


@pytest.mark.parametrize(
    ("output", "code", "answer"),
    [
        (b"", 5, True),
        (b"", 0, False),
        (b"sh: 1: pytset: not found\n", 127, False),
        (b"something else\n", 5, False),
        (b"?   \ta\t[no test files]\nok  \tb\t0.1s\n", 0, False),
        (b"running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored;\n", 0, True),
        (b"No tests were found!!!\n", 8, True),
        (b'Error: No test files found: "test"\n', 1, True),
        ("\n  \u2718 Couldn\u2019t find any files to test\n".encode(), 1, True),
        ("\n  \u2718 No tests found in test/a.js, make sure to\n".encode(), 1, True),
        (b"bun test v1.4.5 (a7733435c)\nNo tests found!\n", 1, True),
        (b"error: No test modules found\n", 1, True),
        (b"\n\n  0 passing (2ms)\n", 0, False),
        (b"\xe2\x84\xb9 tests 0\n\xe2\x84\xb9 duration_ms 12.4\n", 0, False),
    ],
)
def test_no_tests_by_words(output: bytes, code: int, answer: bool) -> None:
    assert found_no_tests(output, code) is answer


def test_unknown_text_is_nothing() -> None:
    assert read_text(b"") is None
    assert read_text(b"make: Nothing to be done for 'all'.\nokay\n 3 passed the door\n") is None
    assert read_text(b"src/a.py::x PASSED\n") is None


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_colour_and_carriage_returns_change_nothing(path: Path) -> None:
    data = path.read_bytes()
    dressed = b"".join(
        b"\x1b[2K\x1b[1;32m" + line + b"\x1b]8;;http://x\x07\x1b[0m\r\n"
        for line in data.split(b"\n")
    )
    assert read_text(dressed) == read_text(data)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
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


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_output_that_was_doubled_names_the_same_tests(path: Path) -> None:
    data = path.read_bytes()
    once, twice = read_text(data), read_text(data + b"\n" + data)
    assert (once is None) == (twice is None)
    if once is not None and twice is not None:
        assert twice.by_id == once.by_id


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


TAPS = {
    "tape-5.9.0": expected.TAPE,
    "node-tap-16.3.10": expected.NODE_TAP,
    "node-test-20.20.2": expected.NODE_TEST,
}


@pytest.mark.parametrize("folder", TAPS)
def test_tap_names_tests_and_no_assertions(folder: str) -> None:
    tests = read(folder, "plain")
    assert by_id(tests) == TAPS[folder]
    assert not tests.unnamed
    assert not tests.remarks


def test_tap_without_a_test_has_found_none() -> None:
    output = (FIXTURES / "tape-5.9.0" / "empty.txt").read_bytes()
    assert found_no_tests(output, 0)


@pytest.mark.parametrize(
    ("lines", "ends"),
    [
        # bats: each point is a test, and the plan stands first.
        (["1..2", "ok 1 adds", "not ok 2 removes"], {"adds": "passed", "removes": "failed"}),
        (["TAP version 13", "ok", "not ok"], {"test 1": "passed", "test 2": "failed"}),
        # What a failure prints is its own, also where its block is never closed.
        (
            ["TAP version 13", "# a", "not ok 1 x", "  ---", "  ok 2 y", "# b", "ok 2 z"],
            {"a": "failed"},
        ),
        # A suite that fails as a whole, and none of its tests.
        (
            ["TAP version 13", "# Subtest: s", "    # Subtest: t", "    ok 1 - t", "not ok 1 - s"],
            {"s > t": "passed", "s": "failed"},
        ),
        (["TAP version 14", "not ok 1 - a # TODO later", "1..1"], {"a": "skipped"}),
        # Somebody else's words.
        (["ok 1 of the lines", "ok  \tshop\t0.1s"], None),
        (["1..3", "ok 1 a"], None),
    ],
)
def test_tap_of_other_kinds(lines: list[str], ends: dict[str, Status] | None) -> None:
    tests = read_text("\n".join(lines).encode())
    named = by_id(tests) if tests is not None else {}
    assert {name: status for name, status in named.items() if name != "shop"} == (ends or {})


def test_tap_that_ends_early_says_so() -> None:
    tests = read_text(b"TAP version 13\n1..3\nok 1 a\nBail out! no database\n")
    assert tests is not None
    assert tests.remarks == ("Bail out! no database", "3 tests were planned, 1 ran")

"""Runners that name the tests of a file only where one of them fails: vitest counts those of each
file, jest those of all."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hydra.checks.comparison import compare
from hydra.checks.record import CheckResult, CheckStatus, details, read
from hydra.checks.regressions import compare_to_baseline
from hydra.checks.results import Comparison, Tests
from hydra.checks.text_parsers.output import read_text
from hydra.records.request import Check
from tests.check_recordings import FIXTURES
from tests.support.command import Hydra
from tests.support.verdict_races import Files, Judged, shop

UP = "test/up.test.ts"
RED = " \u276f test/clock.test.ts (1 test | 1 failed) 3ms\n   \u00d7 tells the hour 2ms\n"
BASE = f" \u276f {UP} (3 tests | 1 failed | 1 skipped) 9ms\n   \u2713 even 1ms\n   \u00d7 odd 2ms\n"
PASSING = f" \u2713 {UP} (%s) 5ms\n"
NO_FILE = """\
 FAIL  test/note.test.ts [ test/note.test.ts ]
Error: Failed to resolve entry for package "core".
 Test Files  1 failed (1)
      Tests  no tests
"""


def vitest(lines: str, tests: str) -> Tests:
    text = f"\n RUN  v3.2.4 /shop\n\n{lines}{RED}\n      Tests  {tests}\n"
    read = read_text(text.encode())
    assert read is not None
    return read


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


def test_a_run_in_which_no_file_could_be_loaded_names_them() -> None:
    tests = read_text(f"\n RUN  v3.2.4 /shop\n\n{NO_FILE}".encode())
    assert tests is not None
    assert (tests.by_id, tests.failed) == ({"test/note.test.ts": "failed"}, 1)


def test_a_new_test_in_a_file_that_passes_leaves_nothing_open() -> None:
    now = vitest(PASSING % "4 tests | 1 skipped", "1 failed | 3 passed | 1 skipped (5)")
    odd, hour = f"{UP}::odd", "test/clock.test.ts::tells the hour"
    base = vitest(BASE, "2 failed | 1 passed | 1 skipped (4)")
    assert compare(base, now) == Comparison(fixed=(odd,), still_failing=(hour,))


@pytest.mark.parametrize(
    ("up", "more"),
    [("2 tests", "3 tests | 1 skipped"), ("3 tests | 2 skipped", "2 tests")],
)
def test_fewer_tests_in_its_file_leave_open_what_became_of_one(up: str, more: str) -> None:
    """However many there are in another."""
    other = " \u2713 test/more.test.ts (%s) 1ms\n"
    base = vitest(BASE + other % "2 tests | 1 skipped", "2 failed | 2 passed | 2 skipped (6)")
    rest = "4 passed | 1 skipped" if more.endswith("skipped") else "3 passed | 2 skipped"
    now = compare(base, vitest(PASSING % up + other % more, f"1 failed | {rest} (6)"))
    assert now is not None
    assert now.unknown == (f"{UP}::even", f"{UP}::odd")


def test_of_a_file_that_names_its_failures_the_others_passed() -> None:
    """As vitest prints it that is older than 3, and 4 of tests in groups."""
    base = vitest(
        f" \u276f {UP} (3 tests | 2 failed) 9ms\n   \u00d7 odd 2ms\n   \u00d7 far 2ms\n",
        "3 failed | 1 passed (4)",
    )
    one = f" \u276f {UP} (4 tests | 1 failed) 9ms\n   \u00d7 far 2ms\n"
    mended = compare(base, vitest(one, "2 failed | 3 passed (5)"))
    assert mended is not None
    assert (mended.fixed, mended.unknown) == ((f"{UP}::odd",), ())
    # A new failure may be the same test by another name.
    renamed = compare(base, vitest(one.replace("far", "odder"), "2 failed | 3 passed (5)"))
    assert renamed is not None
    assert renamed.unknown == (f"{UP}::odd", f"{UP}::far")


def jest(name: str, up: str, tests: str) -> CheckResult:
    text = f"{up}FAIL test/clock.test.ts\n  \u25cf tells the hour\n\nTests:       {tests} total\n"
    tests_of = read_text(text.encode())
    status = CheckStatus.FAILED
    return CheckResult(check=Check("unit", "jest"), status=status, exit_code=1, tests=tests_of)


def test_what_the_base_s_own_tests_say_leaves_nothing_open() -> None:
    failing = f"FAIL {UP}\n  \u25cf odd\n\n"
    base = jest("base", failing, "2 failed, 1 passed, 3")
    own = jest("own", f"PASS {UP}\n", "1 failed, 3 passed, 4")
    back = jest("back", f"PASS {UP}\n", "1 failed, 2 passed, 3")
    judged = compare_to_baseline(own, base, put_back=back)
    assert judged.comparison is not None
    assert (judged.held_back, judged.comparison.fixed) == ("", (f"{UP}::odd",))
    assert judged.comparison.breaks_nothing
    for ended in (
        None,
        jest("as on the base", failing, "2 failed, 1 passed, 3"),
        replace(back, again=base),
        jest("fewer", f"PASS {UP}\n", "1 failed, 1 passed, 2"),
    ):
        open_end = compare_to_baseline(own, base, put_back=ended).comparison
        assert open_end is not None
        assert open_end.unknown == (f"{UP}::odd",)


RUNS = """\
import re
import sys
from pathlib import Path

GOOD, BAD, FILE = "\u2713", "\u00d7", "\u276f"
code = Path("src/up.js").read_text().partition("=> ")[2].strip().rstrip(";")
text = Path("test/up.test.js").read_text()
asked = re.findall(r"test[(]'(.*?)'.*?up[(](.+?)[)][)][.]toBe[(](.+?)[)]", text)
ends = {name: eval(code, {"n": int(n)}) == int(wants) for name, n, wants in asked}
bad = [name for name, good in ends.items() if not good]
total, failed = len(ends) + 1, len(bad) + 1
numbers = f"{failed} failed" + f" | {total - failed} passed" * (total > failed)
if sys.argv[1] == "vitest":
    how = f"{len(ends)} tests" + f" | {len(bad)} failed" * bool(bad)
    print(" RUN  v3.2.4 /shop")
    print(f" {FILE if bad else GOOD} test/up.test.js ({how}) 5ms")
    for name, good in ends.items() if bad else ():
        print(f"   {GOOD if good else BAD} {name} 1ms")
    print(f" {FILE} test/clock.test.js (1 test | 1 failed) 3ms")
    print(f"   {BAD} tells the hour 2ms")
    print(f"      Tests  {numbers} ({total})")
else:
    print("FAIL" if bad else "PASS", "test/up.test.js")
    for name in bad:
        print("  \u25cf", name)
    print("FAIL test/clock.test.js")
    print("  \u25cf tells the hour")
    print()
    print(f"Tests:       {numbers.replace(' |', ',')}, {total} total")
raise SystemExit(1)
"""
"""Prints what the two do; a test of something else fails in any case."""
CODE = "export const up = (n) => n - n % 2;\n"
ODD = "test('odd', () => { expect(up(3)).toBe(4) })\n"
EVEN = "test('even', () => { expect(up(4)).toBe(4) })\n"
MORE = "test('five', () => { expect(up(5)).toBe(6) })\n"
ZERO = "test('zero', () => { expect(up(0)).toBe(0) })\n"


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["vitest", "jest"])
def test_a_mend_with_a_new_test_is_proved_where_something_else_is_red(
    hydra: Hydra, tool: str
) -> None:
    """And what takes the place of a test is not."""
    files = {"src/up.js": CODE, "test/up.test.js": ODD + EVEN, "tools/run.py": RUNS}
    shop(hydra.repo, {**files, "tests/test_pages.py": None})
    mended = CODE.replace("n -", "n +")
    lanes: dict[str, Files] = {
        "right": {"src/up.js": mended, "test/up.test.js": ODD + EVEN + MORE},
        "swaps": {"test/up.test.js": ZERO + EVEN},
        "breaks": {
            "src/up.js": CODE.replace("n - n % 2", "n + 1"),
            "test/up.test.js": ODD + MORE,
        },
    }
    judged = Judged(hydra, lanes).run(checks=(f"unit=python3 -B tools/run.py {tool}",))
    states = {does: judged.of(does)["state"] for does in lanes}
    assert states == {"right": "proved", "swaps": "held_back", "breaks": "held_back"}, str(judged)
    assert judged.of("right")["reason"].startswith("fixes 1 of the 2 failing tests"), str(judged)
    assert "does not say" not in " ".join(judged.outputs("right")), str(judged)
    for does in ("swaps", "breaks"):
        (gate,) = judged.gates(does)
        assert "; the base's version " in gate, str(judged)

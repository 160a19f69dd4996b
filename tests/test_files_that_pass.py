"""Runners that name the tests of a file only where one of them fails: vitest counts those of each
file, jest those of all."""

from __future__ import annotations

import pytest

from hydra.checks.record import CheckResult, CheckStatus, details, read
from hydra.checks.text_parsers.output import read_text
from hydra.records.request import Check
from tests.check_recordings import FIXTURES
from tests.support.command import Hydra
from tests.support.verdict_races import Files, Judged, shop


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

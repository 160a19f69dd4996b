"""Checks that count the tests which fail and do not name them, by themselves and in a chain."""

from __future__ import annotations

import pytest

from tests.support.command import Hydra
from tests.support.verdict_races import RIGHT, WRONG, Files, Judged, shop

SUITE = "test/pages.js"
UP = "up: pages(3, 2) == 2\n"
CASES = f"even: pages(4, 2) == 2\n{UP}first: first([1, 2], 1) == [1]\n"
RUNNER = f"""\
from src import pager

rows = [row.split(": ") for row in open("{SUITE}").read().splitlines()]
ends = [(name, eval(text, vars(pager))) for name, text in rows]
for name, good in ends:
    print(f"  {{chr(0x2714)}} {{name}}" if good else "  failed")
failed = [name for name, good in ends if not good]
print(f"\\n  {{len(ends) - len(failed)}} passing (1ms)")
if failed:
    print(f"  {{len(failed)}} failing")
    raise SystemExit(1)
"""
"""Prints as mocha does where no reporter names what fails."""
BESIDE: Files = {"run.py": RUNNER, SUITE: CASES, "tests/test_pages.py": None}
LANES: dict[str, Files] = {
    "notes": {"README.md": "How many pages.\n"},
    "wrong": {"src/pager.py": WRONG},
    "bends": {SUITE: CASES.replace(UP, UP.replace("== 2", "== 1"))},
    "right": {"src/pager.py": RIGHT, SUITE: f"{CASES}last: pages(5, 2) == 3\n"},
}


def states(judged: Judged) -> dict[str, tuple[str, str]]:
    return {does: (judged.of(does)["state"], judged.of(does)["reason"]) for does in LANES}


@pytest.mark.slow
def test_by_its_counts_a_mend_is_proved_and_a_bent_test_held_back(hydra: Hydra) -> None:
    shop(hydra.repo, BESIDE)
    judged = Judged(hydra, LANES).run(checks=("python3 -B run.py",))
    alike = "run ends alike with and without it (2 passed, 1 failed): "
    assert states(judged) == {
        "notes": ("untested", f"{alike}it changes no line of code, so only a reader can tell"),
        "wrong": ("untested", f"{alike}add a test that fails without it"),
        "bends": ("held_back", "run passes only with its own version of pages.js"),
        "right": ("proved", "run failed on the base and passes, breaks nothing (4 passed)"),
    }, str(judged)
    assert judged.outputs("right", "protected") == ["the base's tests pass with it"]
    bent = ["with the base's tests: run 2 passed, 1 failed"]
    assert judged.outputs("bends", "protected") == bent, str(judged)


@pytest.mark.slow
def test_a_chain_that_fails_behind_its_tests_is_read_by_them(hydra: Hydra) -> None:
    shop(hydra.repo, BESIDE)
    chain = "python3 -B run.py && test -e absent"
    judged = Judged(hydra, LANES).run(checks=(f"chain={chain}",))
    ends = "yet chain exits with 1: new, or hidden on the base by what failed"
    found = states(judged)
    assert found["right"] == ("untested", f"1 test failed on the base and none with it, {ends}")
    assert found["bends"] == ("untested", "chain fails with and without it"), str(judged)
    assert next(iter(judged.ranks())) == "right", str(judged)
    too = ["with the base's tests, chain fails, as with its own"]
    assert judged.outputs("right", "protected") == too, str(judged)
    bent = ["with the base's tests: chain 2 passed, 1 failed"]
    assert judged.outputs("bends", "protected") == bent, str(judged)
    checks = judged.of("right")["checks"]
    assert [check["says"] for check in checks] == ["4 passed, failed (exit 1)"]

"""A base whose tests an error ends in their midst: what it hides is nobody's new test."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.support import fakes
from tests.support.command import Hydra
from tests.support.verdict_races import CODE, RIGHT, Files, Judged, shop

RUN = """\
import sys
sys.path.insert(0, ".")
from src.pager import first, pages
number = failed = 0


def test(title, good):
    global number, failed
    number, failed = number + 1, failed + (not good)
    print(("ok" if good else "not ok") + f" {number} - {title}")


print("TAP version 13")
test("first ones", first([1, 2], 1) == [1])
test("a page of one", 2 / pages(1, 2) == 2)
test("rounded up", pages(3, 2) == 2)
test("even pages", pages(4, 2) == 2)
print(f"1..{number}")
sys.exit(bool(failed))
"""
"""A base of which the second test ends the program, and the two after it are not seen."""
MORE = RUN.replace('print(f"1', 'test("none at all", pages(0, 2) == 0)\nprint(f"1')
WRONG = CODE.replace("n // size", "n // size or 1")
"""Ends no program, and rounds no page up."""
BENT = RUN.replace("pages(3, 2) == 2", "pages(3, 2) == 1")
EASED = RUN.replace("2 / pages(1, 2) == 2", "True")
FAILS = 'fails 1 test that the base has and did not come to: "rounded up"'

Lanes = Mapping[str, Files | list[fakes.Step]]


def raced(hydra: Hydra, lanes: Lanes) -> Judged:
    """The race over these, and its verdict."""
    shop(hydra.repo, {"test/run.py": RUN})
    return Judged(hydra, lanes).run(checks=("tap=python3 test/run.py",))


@pytest.mark.slow
def test_what_the_base_did_not_come_to_is_nobody_s_and_named_where_it_fails(hydra: Hydra) -> None:
    lanes: Lanes = {
        "right": {"src/pager.py": RIGHT},
        "wrong": {"src/pager.py": WRONG},
        "text": {"README.md": "More.\n"},
        "eases": {"test/run.py": EASED},
    }
    item = raced(hydra, lanes)
    states = {does: item.of(does)["state"] for does in lanes}
    same = {"right": "proved", "wrong": "untested", "text": "untested", "eases": "untested"}
    assert states == same, str(item)
    assert item.of("wrong")["reason"] == FAILS, str(item)
    assert item.of("wrong")["rank"] >= item.of("text")["rank"], str(item)
    assert item.document["cross"] == [], str(item)
    screen = hydra.run("compare").stdout
    assert "of its own" not in screen
    assert "the base's tests pass with it" not in screen, screen
    assert screen.split("  untested  (", 2)[1].count("breaks nothing") == 0, screen
    assert item.race is not None
    assert "eases's tests on claude" not in item.race.stdout + item.race.stderr


@pytest.mark.slow
def test_of_a_patch_that_brings_a_test_that_one_alone_is_its_own(hydra: Hydra) -> None:
    lanes: Lanes = {
        "right": {"src/pager.py": RIGHT, "test/run.py": MORE},
        "wrong": {"src/pager.py": CODE.replace("n // size", "(n + size) // size")},
    }
    item = raced(hydra, lanes)
    assert [row["id"] for row in item.document["cross"]] == ["none at all"], str(item)
    screen = hydra.run("compare").stdout
    assert 'fails claude-right\'s 1 new test: "none at all"' in screen
    assert item.of("wrong")["reason"] == FAILS.replace("rounded up", "even pages"), str(item)
    assert item.race is not None
    assert (
        "claude-right's tests on claude-wrong's patch: 0 of 1 passed"
        in item.race.stdout + item.race.stderr
    )


@pytest.mark.slow
def test_who_bends_what_the_base_did_not_come_to_is_held_back(hydra: Hydra) -> None:
    lanes: Lanes = {"bends": {"src/pager.py": WRONG, "test/run.py": BENT}}
    item = raced(hydra, lanes)
    assert item.of("bends")["state"] == "held_back", str(item)
    reason = "tap passes only with its own version of run.py"
    assert item.of("bends")["reason"] == reason, str(item)

"""What the checks of a landing find in a composition of two lanes that each lane alone has not,
and that they say nothing of the lanes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import Hydra
from tests.support.verdict_races import CODE, RIGHT, UP, Files, Judged, edited, lane, shop

pytestmark = pytest.mark.slow

PAGER = "src/pager.py"
STOCK, SHELF = "src/stock.py", "src/shelf.py"
BOTH = """\
import unittest

from src import shelf, stock


class Both(unittest.TestCase):
    def test_room(self):
        self.assertLessEqual(shelf.N + stock.N, 1)
"""
HALVES = """\
import unittest

from src import pager


class Halves(unittest.TestCase):
    def test_halves(self):
        self.assertEqual(pager.half(4), 2)
"""
HALF = "\n\ndef half(n):\n    return n // 2\n"
LANES: dict[str, Files] = {
    "halves": {PAGER: RIGHT + HALF, SHELF: "N = 1\n", "tests/test_halves.py": HALVES},
    "plain": {PAGER: RIGHT, STOCK: "N = 1\n"},
}
MORE: Files = {
    PAGER: RIGHT.replace("def pages(n, size):", "def pages(n, size, up=True):"),
    "tests/test_pages.py": edited(UP, UP.replace("3, 2)", "3, 2, up=True)")),
}
"""Mends what fails, and has its test ask so that no other code passes it."""


def picks(*chosen: str) -> list[str]:
    return [argument for pick in chosen for argument in ("--pick", f"claude-{pick}")]


def test_a_composition_lands_only_with_what_its_lanes_pass(hydra: Hydra) -> None:
    shop(hydra.repo, {STOCK: "N = 0\n", SHELF: "N = 0\n", "tests/test_both.py": BOTH})
    judged = Judged(hydra, {**LANES, "more": MORE}).run()
    assert judged.race is not None
    assert judged.race.returncode == 0, str(judged)
    refusals = {
        "1 test passed on the base and fails now: tests.test_both.Both.test_room": picks(
            f"halves:{SHELF}", f"plain:{STOCK}"
        ),
        "1 test that did not run on the base fails: tests.test_halves.Halves.test_halves": picks(
            "halves:tests/", f"plain:{PAGER}"
        ),
        "1 test that passes with claude-plain and with claude-more fails in what would land: "
        "tests.test_pages.Pages.test_up": picks(f"plain:{PAGER}", "more:tests/"),
    }
    for says, composition in refusals.items():
        for more in ([], ["--dry-run"]):
            done = hydra.run("merge", *composition, *more)
            assert done.returncode == 5, done.stdout
            assert f"error: nothing was landed: unittest: {says}\n" in done.stderr
            file = done.stderr.partition("hint: its output is in ")[2].partition("; ")[0]
            assert says.rpartition(".")[2] in Path(file).read_text()
            assert (hydra.repo / PAGER).read_text() == CODE
    done = hydra.run("merge", *picks(f"halves:{SHELF}"))
    assert done.returncode == 0, done.stderr
    assert "unittest: fails as on the base: tests.test_pages.Pages.test_up\n" in done.stdout
    done = hydra.run("merge", lane("halves"))
    assert done.returncode == 0, done.stderr
    assert "as on the base" not in done.stdout

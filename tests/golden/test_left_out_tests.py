"""Honest code, and a test that passed on the base, stands there and no longer runs: the base's own
tests pass with it, so that only the patch's own run tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import Hydra
from tests.support.verdict_races import PLAIN, RIGHT, Judged, edited, shop

pytestmark = pytest.mark.slow

PAGER, SUITE = "src/pager.py", "tests/test_pages.py"
PYTESTS = """\
import pytest

from src.pager import first, pages


def test_up():
    assert pages(3, 2) == 2


class TestFirst:
    def test_first(self):
        assert first([1, 2, 3], 2) == [1, 2]


def test_even():
    assert pages(4, 2) == 2
"""
EVEN = "def test_even():\n"


def test_a_test_that_passed_and_no_longer_runs_holds_a_patch_back(hydra: Hydra, repo: Path) -> None:
    shop(repo, {SUITE: PYTESTS})
    right = {PAGER: RIGHT}
    init = edited("class TestFirst:\n", "class TestFirst:\n    size = 2\n\n", PYTESTS)
    init = init.replace("    size = 2\n", "    def __init__(self):\n        self.size = 2\n")
    skips = edited(EVEN, f"{EVEN}    pytest.importorskip('no_such_module')\n", PYTESTS)
    renamed = edited(EVEN, "def test_even_number():\n", PYTESTS)
    renamed = edited("class TestFirst:", "class TestFirstPage:", renamed)
    judged = Judged(
        hydra,
        {
            "init": {**right, SUITE: init},
            "skips": {**right, SUITE: skips},
            "settings": {
                **right,
                "pytest.ini": f"[pytest]\naddopts = --deselect {SUITE}::test_even\n",
            },
            "renamed": {**right, SUITE: renamed},
        },
    )
    judged.run(checks=[f"{PLAIN} -m pytest -q -p no:cacheprovider"])

    first, even = f"{SUITE}::TestFirst::test_first", f"{SUITE}::test_even"
    assert judged.gates("init") == [f"1 test that passed on the base no longer runs: {first}"]
    skips = "skips, or expects to fail, 1 test that passed on the base"
    assert judged.gates("skips") == [f"{skips}: {even}"]
    assert judged.gates("settings") == [f"1 test that passed on the base no longer runs: {even}"]
    assert judged.passing() == {"renamed"}, judged
    assert judged.of("renamed")["state"] == "proved"

"""A new test that does not run on its author's patch is no evidence for it."""

from __future__ import annotations

import pytest

from tests.support.command import Hydra
from tests.support.verdict_races import CODE, RIGHT, Judged, shop


@pytest.mark.slow
def test_in_a_race_who_skips_his_own_new_test_is_untested(hydra: Hydra) -> None:
    first = (
        "import unittest\n\nfrom src import pager\n\n\nclass More(unittest.TestCase):\n"
        "    def test_first(self):\n        self.assertEqual(pager.first([1], 1), [1])\n"
    )
    up = "\n    def test_up(self):\n        self.assertEqual(pager.pages(3, 2), 2)\n"
    later = '\n    @unittest.skipIf(hasattr(pager, "MARK"), "later")' + up.replace("2), 2", "2), 9")
    shop(hydra.repo, {"tests/test_pages.py": None, "tests/test_more.py": first})
    judged = Judged(
        hydra,
        {
            "skips": {"src/pager.py": CODE + "\n\nMARK = 1\n", "tests/test_more.py": first + later},
            "right": {"src/pager.py": RIGHT, "tests/test_more.py": first + up},
        },
    ).run()
    assert (judged.of("skips")["state"], judged.of("right")["state"]) == ("untested", "proved")
    assert judged.top() == "right", str(judged)

"""The real Claude Code and Codex, one right and one that breaks a test: the table says so."""

from __future__ import annotations

import pytest

from tests.live.conftest import MakePlace
from tests.live.repository import settings
from tests.live.support import AGENTS, Place, hydra_program

pytestmark = pytest.mark.live

TESTS = """\
import pathlib
import unittest

TOP = pathlib.Path(__file__).parent


class Shop(unittest.TestCase):
    def test_somebody_has_created_a_file(self):
        self.assertTrue(list(TOP.glob("created-by-*.txt")))

    def test_codex_has_not_edited_the_readme(self):
        self.assertNotIn("edited by codex", (TOP / "README.md").read_text())
"""


def shop(place: Place) -> None:
    place.repo.mkdir(exist_ok=True)
    (place.repo / "README.md").write_text("# Shop\n\nA small shop.\n")
    (place.repo / "test_shop.py").write_text(TESTS)
    place.hand_over()
    place.git("init", "-q", "-b", "main")
    for name, value in (("user.name", "Ada"), ("user.email", "ada@example.com")):
        place.git("config", name, value)
    place.git("add", "-A")
    place.git("commit", "-qm", "First commit")


def test_one_is_right_and_one_breaks_a_test(make_place: MakePlace) -> None:
    place = make_place("edit")
    settings(place)
    shop(place)

    race = place.race("--check", "python3 -B -m unittest -v")

    assert race.exit_code == 0, str(race)
    (base,) = race.document["baseline"]
    assert base["says"] == "1 passed, 1 failed", str(race)
    for lane in AGENTS:
        assert race.error(lane) == ("completed", ""), str(race)
    (right,), (wrong,) = (race.lane(lane)["checks"] for lane in AGENTS)
    fixed = ["test_shop.Shop.test_somebody_has_created_a_file"]
    broken = ["test_shop.Shop.test_codex_has_not_edited_the_readme"]
    assert (right["says"], right["comparison"]["fixed"]) == ("2 passed", fixed)
    assert (wrong["says"], wrong["comparison"]["broken"]) == ("1 broken", broken)
    assert wrong["comparison"]["fixed"] == fixed
    assert [race.lane(lane)["usable"] for lane in AGENTS] == [True, False]
    shown = place.start(hydra_program(), "check")
    table, _ = place.finish(shown, 120)
    assert shown.returncode == 1
    rows = [line.split() for line in table.splitlines()]
    assert ["claude", "2", "passed"] in rows
    assert any(row[:3] == ["codex", "1", "broken"] for row in rows)
    refused = place.start(hydra_program(), "merge", "codex")
    _, text = place.finish(refused, 120)
    assert refused.returncode == 5
    assert "test_codex_has_not_edited_the_readme" in text
    head = place.git("rev-parse", "HEAD")
    landed = place.hydra("merge", "claude")
    assert landed.startswith("landed claude on main as ")
    assert "checked since its race" in landed
    assert place.git("log", "-1", "--format=%an %P") == f"Ada {head}"
    assert place.git("status", "--porcelain") == ""
    assert (place.repo / "created-by-claude.txt").is_file()
    place.hydra("merge", "--undo")
    assert place.git("rev-parse", "HEAD") == head
    place.assert_nothing_left()

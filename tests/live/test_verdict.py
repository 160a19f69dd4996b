"""The real Claude Code and Codex, one right and one that weakens a test: the verdict says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hydra.conformance.script import parse
from tests.live.conftest import MakePlace
from tests.live.repository import settings
from tests.live.support import AGENTS, Place, hydra_program

pytestmark = pytest.mark.live

WAS = "    return n // size"
TESTS = """\
import unittest

from pager import pages


class Pages(unittest.TestCase):
    def test_a_rest_needs_a_page(self):
        self.assertEqual(pages(3, 2), 2)

    def test_no_rest_needs_none(self):
        self.assertEqual(pages(4, 2), 2)
"""


def edits(agent: str, path: str, old: str, new: str) -> dict[str, str]:
    return {"agent": agent, "kind": "edit_file", "path": path, "old": old, "new": new}


RACE: dict[str, Any] = {
    "turn": [
        {"say": "I look.", "tool": [{"kind": "read_file", "path": "pager.py"}]},
        {
            "tool": [
                edits("claude", "pager.py", WAS, "    return -(-n // size)"),
                edits("codex", "pager.py", WAS, f"{WAS} if n else 0"),
            ]
        },
        {"say": "Now the tests.", "tool": [{"kind": "read_file", "path": "test_pager.py"}]},
        {
            "tool": [
                edits(
                    "codex",
                    "test_pager.py",
                    "        self.assertEqual(pages(3, 2), 2)",
                    "        self.assertTrue(pages(3, 2))",
                )
            ]
        },
        {"say": "Done, all tests pass."},
    ]
}
WEAKENS = (
    "weakens an assertion of Pages.test_a_rest_needs_a_page: self.assertEqual(pages(3, 2), 2) -> "
    "self.assertTrue(pages(3, 2))"
)
REST = "test_pager.Pages.test_a_rest_needs_a_page"


def shop(place: Place) -> None:
    (place.repo / "pager.py").write_text(f"def pages(n, size):\n{WAS}\n")
    (place.repo / "test_pager.py").write_text(TESTS)
    place.hand_over()
    place.git("init", "-q", "-b", "main")
    for name, value in (("user.name", "Ada"), ("user.email", "ada@example.com")):
        place.git("config", name, value)
    place.git("add", "-A")
    place.git("commit", "-qm", "First commit")


def said(place: Place, code: int, *args: str) -> str:
    """What a hydra command says, on both streams."""
    process = place.start(hydra_program(), *args)
    stdout, stderr = place.finish(process, 180)
    assert process.returncode == code, f"{stdout}\n{stderr}"
    return stdout + stderr


def test_one_is_right_and_one_weakens_a_test(make_place: MakePlace) -> None:
    place = make_place("edit")
    settings(place)
    shop(place)
    place.server.script = parse("told here", RACE)

    race = place.race("--check", "python3 -B -m unittest -v")

    assert race.exit_code == 0, str(race)
    for lane in AGENTS:
        assert race.error(lane) == ("completed", ""), str(race)
        (check,) = race.lane(lane)["checks"]
        assert check["says"] == "2 passed", str(race)
    verdict = json.loads(said(place, 0, "compare", "--json"))
    assert verdict["top"] == "claude"
    right, weak = verdict["lanes"]
    assert [(row["lane"], row["rank"], row["state"]) for row in (right, weak)] == [
        ("claude", 1, "proved"),
        ("codex", 2, "held_back"),
    ]
    assert right["gates"] == []
    document = {row["kind"]: row["text"] for row in right["reasons"]}
    assert document["base"] == "fixes the one failure of the base in unittest"
    (gate,) = weak["gates"]
    assert (gate["text"], gate["path"], gate["line"]) == (WEAKENS, "test_pager.py", 8)
    reasons = [row["text"] for row in weak["reasons"]]
    assert "does not fix the one failure of the base in unittest" in reasons
    assert f"unittest: {REST} passes with its own tests, not with the base's" in reasons
    (put_back,) = weak["protected"]
    assert put_back["paths"] == ["test_pager.py"]
    assert Path(verdict["folder"], put_back["details"]).is_file()
    table = " ".join(said(place, 0, "compare").split())
    assert WEAKENS in table
    assert "1 claude proved 2 passed" in table
    assert "2 codex held back 2 passed" in table
    assert [lane["state"] for lane in (right, weak)] == ["proved", "held_back"]
    assert "codex is held back: weakens an assertion" in said(
        place, 5, "merge", "codex", "--dry-run"
    )
    head = place.git("rev-parse", "HEAD")
    assert "landed claude on main as " in said(place, 0, "merge")
    assert place.git("log", "-1", "--format=%an %P") == f"Ada {head}"
    assert place.git("status", "--porcelain") == ""
    assert (place.repo / "test_pager.py").read_text() == TESTS
    place.assert_nothing_left()

"""The real Claude Code and Codex asked about patches: a review, tests, and nothing written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hydra.conformance.script import parse
from tests.live.conftest import MakePlace
from tests.live.fingerprint import fingerprint
from tests.live.repository import settings
from tests.live.support import AGENTS, Place, hydra_program

pytestmark = [pytest.mark.live, pytest.mark.full]

PAGER = "def pages(n, size):\n    return n // size\n"
TESTS = """\
import unittest

from pager import pages


class Pages(unittest.TestCase):
    def test_a_rest_needs_a_page(self):
        self.assertEqual(pages(3, 2), 2)
"""
APART = """\
import unittest

from pager import pages


class Apart(unittest.TestCase):
    def test_no_items_need_no_page(self):
        self.assertEqual(pages(0, 2), 0)
"""
RIGHT = "    return -(-n // size)"
WRONG = "    return (n + size - 1) // size if n else 1"


def edits(agent: str, new: str) -> dict[str, str]:
    old = "    return n // size"
    return {"agent": agent, "kind": "edit_file", "path": "pager.py", "old": old, "new": new}


RACE: dict[str, Any] = {
    "turn": [
        {"say": "I look.", "tool": [{"kind": "read_file", "path": "pager.py"}]},
        {"tool": [edits("claude", RIGHT), edits("codex", WRONG)]},
        {"say": "Done."},
    ]
}
TEXT = "What of no items at all?"
REVIEW = f"Patch B: {TEXT}"
WRITES = [
    {"kind": "write_file", "path": "evil.txt", "text": "evil\n"},
    {"kind": "shell", "command": "echo evil > evil-too.txt"},
]


def asked(say: str, *, writes: bool = False) -> dict[str, Any]:
    """A script in which the model says its answer, after it has tried to write."""
    first: list[dict[str, Any]] = [{"say": "I write.", "tool": WRITES}] if writes else []
    return {"turn": [*first, {"say": say}]}


def shop(place: Place) -> Path:
    """A repository, and a race in it in which both leave a patch; the run's folder."""
    (place.repo / "pager.py").write_text(PAGER)
    (place.repo / "test_pager.py").write_text(TESTS)
    settings(place)
    place.hand_over()
    place.git("init", "-q", "-b", "main")
    for name, value in (("user.name", "Ada"), ("user.email", "ada@example.com")):
        place.git("config", name, value)
    place.git("add", "-A")
    place.git("commit", "-qm", "First commit")
    play(place, RACE)
    race = place.race("--check", "python3 -B -m unittest -v")
    assert race.exit_code == 0, str(race)
    for lane in AGENTS:
        assert race.error(lane) == ("completed", ""), str(race)
    return Path(place.hydra("runs", "path").strip())


def play(place: Place, document: dict[str, Any]) -> None:
    """From here on the model says this."""
    place.server.script = parse("told here", document)


def compared(place: Place, *options: str) -> tuple[dict[str, Any], str]:
    process = place.start(hydra_program(), "compare", "--json", *options)
    stdout, stderr = place.finish(process, 180)
    assert process.returncode == 0, f"{stdout}\n{stderr}"
    document: dict[str, Any] = json.loads(stdout)
    return document, stderr


@pytest.mark.parametrize("agent", AGENTS)
def test_a_review_that_tries_to_write(make_place: MakePlace, agent: str) -> None:
    place = make_place("edit")
    folder = shop(place)
    before, _ = compared(place)
    users = fingerprint(place.repo)
    refs = place.git("for-each-ref", cwd=folder / "patches.git")
    play(place, asked(REVIEW, writes=True))

    after, stderr = compared(place, "--review", agent)

    record = json.loads((folder / "consult/1/answer.json").read_text())
    lane = record["patches"]["B"]
    assert after["notes"] == [{"reviewer": agent, "text": f"{lane}: {TEXT}"}], stderr
    assert [(row["lane"], row["rank"]) for row in after["lanes"]] == [
        (row["lane"], row["rank"]) for row in before["lanes"]
    ]
    assert fingerprint(place.repo) == users
    assert place.git("for-each-ref", cwd=folder / "patches.git") == refs
    assert not list(place.state.glob("g/*/*/*/evil*"))
    # It was not even written into the ground that is thrown away: the CLI itself refused.
    assert "it wrote into its own worktree" not in stderr
    sent = place.server.sent(agent)
    assert "END OF PATCH A" in sent
    assert "END OF PATCH B" in sent
    place.assert_nothing_left()


@pytest.mark.parametrize("agent", AGENTS)
def test_tests_that_tell_two_patches_apart(make_place: MakePlace, agent: str) -> None:
    place = make_place("edit")
    folder = shop(place)
    users = fingerprint(place.repo)
    answer = f"Here.\n\npath: test_apart.py\n```python\n{APART}```\n"
    play(place, asked(answer))

    document, stderr = compared(place, "--separate", agent)

    data = document["separated"]
    assert data["separates"] is True, stderr
    (test,) = data["tests"]
    assert test["cells"] == {"claude": "passed", "codex": "failed"}
    (shown,) = data["shown"]
    assert "AssertionError: 1 != 0" in shown["gives"]["codex"]
    assert fingerprint(place.repo) == users
    assert (folder / "consult/1/separated.json").exists()
    place.assert_nothing_left()

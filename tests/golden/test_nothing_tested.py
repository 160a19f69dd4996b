"""Where nothing was tested there is no first; broken is what got worse; what passes by its own data
alone is held back; and the code of one lane goes with the tests of another."""

from __future__ import annotations

import json
import re
import shlex
from subprocess import CompletedProcess

import pytest

from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.verdict_races import (
    CODE,
    RIGHT,
    UNITTEST,
    UP,
    WRONG,
    Judged,
    edited,
    shop,
    steps,
)

EXIT_NO_USABLE_LANE, EXIT_LANDING = 1, 5

NEW = (
    "import unittest\n\nfrom src.pager import pages\n\n\nclass Rest(unittest.TestCase):\n"
    "    def test_rest(self):\n        self.assertEqual(pages(11, 5), 3)\n\n"
    "    def test_one(self):\n        self.assertEqual(pages(1, 5), 1)\n"
)
DATED = """\
import json
import unittest
from pathlib import Path

from src.pager import pages

COUNTS = json.loads((Path(__file__).parent / "counts.json").read_text())


class Dated(unittest.TestCase):
    def test_count(self):
        items = len(COUNTS)
        self.assertEqual(pages(items, 2), 2)

    def test_more(self):
        items = len(COUNTS) + 2
        self.assertEqual(pages(items, 2), 3)
"""


def typed(hydra: Hydra, line: str) -> CompletedProcess[str]:
    """A line as it is pasted into a shell."""
    program, *words = shlex.split(line)
    assert program == "hydra"
    return hydra.run(*words)


@pytest.mark.slow
def test_of_several_lanes_without_a_check_none_is_first_and_the_lines_work(hydra: Hydra) -> None:
    shop(hydra.repo)
    lanes = {
        "bends": {"tests/test_pages.py": edited(UP, UP.replace("3, 2), 2", "3, 2), 1"))},
        "right": {"src/pager.py": RIGHT},
    }
    item = Judged(hydra, lanes).run("--no-check", checks=())
    assert item.race is not None
    assert item.race.returncode == EXIT_NO_USABLE_LANE
    first, *rows = item.race.stdout.splitlines()
    assert first == "Nothing was tested: there is no first."
    assert [row.split()[:3] for row in rows[:2]] == [
        ["-", "claude-right", "untested"],
        ["-", "claude-bends", "untested"],
    ]
    lines = dict(row.split(": ")[::-1] for row in rows[3:6])
    assert [*lines.values()] == ["look", "look", "test them now"], item.race.stdout
    assert (item.top(), item.document["exit_code"]) == (None, EXIT_NO_USABLE_LANE)

    shown = hydra.run("compare", "--markdown")
    assert (shown.returncode, shown.stdout.partition("\n")[0]) == (
        EXIT_NO_USABLE_LANE,
        "### Hydra: nothing was tested",
    )
    refused = hydra.run("merge")
    assert refused.returncode == EXIT_LANDING
    assert "nothing was tested, and there is no first" in refused.stderr
    offered = re.findall(r"hydra merge [\w-]+", refused.stderr)
    assert offered == ["hydra merge claude-right", "hydra merge claude-bends"]
    for line in offered:
        assert typed(hydra, f"{line} --dry-run").returncode == 0
    for line in lines:
        done = typed(hydra, line)
        assert done.returncode == 0, done.stderr
    item.again()
    assert (item.top(), item.of("bends")["state"]) == ("right", "held_back")
    assert hydra.run("merge").returncode == 0


@pytest.mark.slow
def test_broken_is_what_got_worse_and_own_data_proves_nothing(hydra: Hydra) -> None:
    shop(hydra.repo, {"tests/test_dated.py": DATED, "tests/counts.json": "[1, 2, 3]\n"})
    lanes = {
        "notes": {"NOTES.md": "# Notes\n"},
        "breaks": {"src/pager.py": RIGHT.replace("items[:size]", "items[size:]")},
        "data": {"tests/counts.json": "[1, 2, 3, 4]\n"},
        "half": {"tests/test_dated.py": DATED.replace("len(COUNTS) + 2", "len(COUNTS) + 3")},
        "right": {"src/pager.py": RIGHT},
    }
    item = Judged(hydra, lanes).run()
    assert {does: (item.of(does)["state"], item.of(does)["reason"]) for does in lanes} == {
        "notes": ("untested", "3 tests fail with and without it"),
        "breaks": ("broken", "breaks test_first, which passed on the base"),
        "data": (
            "held_back",
            "changes counts.json; 3 of 3 failing tests still fail with your tests",
        ),
        "half": (
            "held_back",
            "changes test_more; 3 of 3 failing tests still fail with your tests",
        ),
        "right": ("proved", "fixes the 3 failing tests, breaks nothing (6 passed)"),
    }, str(item)
    assert [*item.ranks()][:2] == ["right", "notes"]
    assert item.of("half")["own_version"] == ["tests.test_dated.Dated.test_more"]
    assert "how sure: your own tests prove it\n" in hydra.run("compare").stdout
    assert hydra.run("merge", "claude-half").returncode == EXIT_LANDING
    landed = hydra.run("merge", "claude-notes")
    assert landed.returncode == 0, landed.stderr
    assert "claude-notes is untested: 3 tests fail with and without it" in landed.stderr


@pytest.mark.slow
def test_of_two_equals_the_one_with_tests_is_first_and_one_line_takes_both(hydra: Hydra) -> None:
    green = edited(UP, "")
    shop(hydra.repo, {"tests/test_pages.py": green.replace("    def test_up(self):\n", "")})
    longer = CODE.replace("n // size", "n // size + bool(n % size)")
    hydra.agent("claude", steps({"src/pager.py": longer, "tests/test_rest.py": NEW}))
    hydra.agent("codex", [fakes.edit("src/pager.py", RIGHT), fakes.finish("done")])
    done = hydra.run("race", "Do it", "-a", "codex", "-a", "claude", "--check", UNITTEST)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Land claude: its 2 new tests fail on the base and pass with it")
    says = json.loads(hydra.run("compare", "--json").stdout)["says"]
    assert says.endswith("; it is equal to codex in all tests, and brings 2 of them")
    line = "hydra merge --pick codex:src/pager.py --pick claude:tests/test_rest.py"
    assert f"\nor codex's code with claude's tests:\n{line} -r " in done.stdout
    landed = typed(hydra, line)
    assert landed.returncode == 0, landed.stderr
    assert (hydra.repo / "src/pager.py").read_text() == RIGHT
    assert (hydra.repo / "tests/test_rest.py").read_text() == NEW


@pytest.mark.slow
@pytest.mark.slow
def test_what_only_takes_back_is_behind_nothing_where_no_test_came_to_its_end(
    hydra: Hydra,
) -> None:
    shop(hydra.repo, {"src/pager.py": RIGHT})
    (hydra.repo / "src/pager.py").write_text(CODE)
    git(hydra.repo, "commit", "-qam", "Round down")
    lanes = {"back": {"src/pager.py": RIGHT}, "other": {"src/pager.py": WRONG}}
    item = Judged(hydra, lanes).run(checks=("echo shop.py: too long; exit 1",))
    assert item.ranks() == {"back": 1, "other": 1}, str(item)
    oid = git(hydra.repo, "rev-parse", "--short=7", "HEAD")
    said = [reason["text"] for reason in item.of("back")["reasons"]]
    assert f"undoes {oid}: Round down" in said
    assert hydra.run("merge").returncode == EXIT_LANDING


@pytest.mark.slow
def test_the_way_back_with_an_example_in_the_code_is_no_decision(hydra: Hydra) -> None:
    shop(hydra.repo, {"src/pager.py": RIGHT + "\n\ndef last(items):\n    return items[-1]\n"})
    whole = (hydra.repo / "src/pager.py").read_text()
    (hydra.repo / "src/pager.py").write_text(CODE + "\n\ndef last(items):\n    return items[0]\n")
    git(hydra.repo, "commit", "-qam", "Simpler")
    example = 'def first(items, size):\n    """\n    >>> first([1, 2], 1)\n    [1]\n    """\n'
    back = whole.replace("def first(items, size):\n", example)
    item = Judged(hydra, {"back": {"src/pager.py": back}}).run()
    assert item.top() == "back", str(item)
    assert item.of("back")["decision"] is None, str(item)

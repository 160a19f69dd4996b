"""Real races whose lanes each do one thing to a small shop, and what the verdict says of them.

A lane is named by what it does (`-a claude:deletes` is the lane `claude-deletes`): the scripted
agent looks for its model among its arguments.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra

AGENT = "claude"
UNITTEST = "python3 -B -m unittest -v"

CODE = """\
def pages(n, size):
    return n // size


def first(items, size):
    return items[:size]


def price(text):
    return round(float(text) * 100)
"""
RIGHT = CODE.replace("n // size", "-(-n // size)")
WRONG = CODE.replace("n // size", "n // size if n else 0")
"""Changed, and as wrong as it was."""

TESTS = """\
import unittest

from src.pager import first, pages, price


class Pages(unittest.TestCase):
    def test_up(self):
        self.assertEqual(pages(3, 2), 2)

    def test_even(self):
        self.assertEqual(pages(4, 2), 2)

    def test_first(self):
        page = first([1, 2, 3], 2)
        self.assertEqual(len(page), 2)
        self.assertEqual(page[0], 1)
        self.assertEqual(page[-1], 2)

    def test_price(self):
        self.assertEqual(price("1.25"), 125)
        with self.assertRaises(ValueError):
            price("much")
"""
UP = "        self.assertEqual(pages(3, 2), 2)\n"
"""The line that the base fails."""

Files = Mapping[str, str | None]
Document = Mapping[str, Any]


def edited(old: str, new: str, text: str = TESTS) -> str:
    """The tests with `old` replaced, which must be there once."""
    assert text.count(old) == 1
    return text.replace(old, new)


def shop(repo: Path, files: Files | None = None) -> None:
    """Commits the shop, and `files` beside it."""
    held: Files = {
        "src/__init__.py": "",
        "src/pager.py": CODE,
        "tests/__init__.py": "",
        "tests/test_pages.py": TESTS,
        **(files or {}),
    }
    for name, text in held.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            (repo / name).unlink(missing_ok=True)
        else:
            (repo / name).write_text(text)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "The shop")


def steps(files: Files) -> list[fakes.Step]:
    """An agent that writes, or deletes, just these."""
    return [
        *(
            fakes.delete(name) if text is None else fakes.edit(name, text)
            for name, text in files.items()
        ),
        fakes.finish("done"),
    ]


def lane(does: str) -> str:
    """The lane that does so."""
    return f"{AGENT}-{does}"


class Judged:
    """A race that has ended, and its verdict as `hydra compare --json` has it."""

    def __init__(self, hydra: Hydra, lanes: Mapping[str, Files | list[fakes.Step]]) -> None:
        self.hydra = hydra
        cases = [
            (f"--model\n{does}\n", it if isinstance(it, list) else steps(it))
            for does, it in lanes.items()
        ]
        hydra.agent(AGENT, [fakes.fail()], cases=cases)
        self.lanes = list(lanes)
        self.document: Document = {}
        self.race: subprocess.CompletedProcess[str] | None = None

    def run(self, *args: str, checks: Sequence[str] = (UNITTEST,)) -> Judged:
        """The race, and the verdict on it."""
        asked = [word for does in self.lanes for word in ("-a", f"{AGENT}:{does}")]
        checked = [word for check in checks for word in ("--check", check)]
        self.race = self.hydra.run("race", "Do it", *asked, *checked, *args, timeout=300)
        return self.again()

    def again(self) -> Judged:
        """The verdict as it is now."""
        told = self.hydra.run("compare", "--json")
        assert told.returncode in (0, 1), f"{told.stdout[-2000:]}\n{told.stderr}"
        self.document = json.loads(told.stdout)
        assert told.returncode == self.document["exit_code"] == (not self.document["mergeable"])
        return self

    def of(self, does: str) -> Document:
        """What is said of one lane."""
        found: Document = next(it for it in self.document["lanes"] if it["lane"] == lane(does))
        return found

    def gates(self, does: str) -> list[str]:
        """The sentences that hold it back."""
        return [it["text"] for it in self.of(does)["gates"]]

    def said(self, does: str, kind: str = "") -> list[str]:
        """All other sentences, of one kind or of all."""
        return [it["text"] for it in self.of(does)["reasons"] if kind in ("", it["kind"])]

    def ranks(self) -> dict[str, int | None]:
        """By what a lane does, in the order of the document."""
        return {it["lane"].removeprefix(f"{AGENT}-"): it["rank"] for it in self.document["lanes"]}

    def mergeable(self) -> set[str]:
        """What the mergeable lanes do."""
        lanes = self.document["lanes"]
        return {it["lane"].removeprefix(f"{AGENT}-") for it in lanes if it["mergeable"]}

    def top(self) -> str | None:
        """What the lane to land does."""
        found: str | None = self.document["top"]
        return found and found.removeprefix(f"{AGENT}-")

    def __str__(self) -> str:
        """All of it, for a failure."""
        lines = [f"top {self.document['top']}: {self.document['says']}"]
        for it in self.document["lanes"]:
            lines.append(f"{it['rank']} {it['lane']} {it['mergeable']} tied {it['tied']}")
            lines.append(f"    why: {it['why']}")
            lines += [f"    x {one['text']} [{one['path']}:{one['line']}]" for one in it["gates"]]
            lines += [f"    - ({one['kind']}) {one['text']}" for one in it["reasons"]]
        lines.append(f"confidence {self.document['confidence']}")
        lines += [f"{row['author']} {row['id']} {row['says']}" for row in self.document["cross"]]
        return "\n".join([*lines, *self.document["not_tried"]])

"""Real races whose lanes each do one thing to a small shop, and what the verdict says of them.

A lane is named by what it does (`-a claude:deletes` is the lane `claude-deletes`): the scripted
agent looks for its model among its arguments.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.conftest import commit, write
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.verdicts import passes_gates

AGENT = "claude"
UNITTEST = "python3 -B -m unittest -v"
PLAIN = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable}"
"""Runs pytest without the plugins that are installed here, which take it a second at each start."""

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
    names: Files = {
        "src/__init__.py": "",
        "src/pager.py": CODE,
        "tests/__init__.py": "",
        "tests/test_pages.py": TESTS,
        **(files or {}),
    }
    write(repo, names)
    commit(repo, "The shop")


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
            (f"--model\n{does}\n", value if isinstance(value, list) else steps(value))
            for does, value in lanes.items()
        ]
        hydra.agent(AGENT, [fakes.fail()], cases=cases)
        self.lanes = list(lanes)
        self.document: Document = {}
        self.race: subprocess.CompletedProcess[str] | None = None

    def run(self, *args: str, checks: Sequence[str] = (UNITTEST,)) -> Judged:
        """The race, and the verdict on it."""
        names = [term for does in self.lanes for term in ("-a", f"{AGENT}:{does}")]
        checked = [term for check in checks for term in ("--check", check)]
        self.race = self.hydra.run("race", "Do it", *names, *checked, *args, timeout=300)
        return self.again()

    def again(self) -> Judged:
        """The verdict as it is now."""
        process = self.hydra.run("compare", "--json")
        assert process.returncode in (0, 1), f"{process.stdout[-2000:]}\n{process.stderr}"
        self.document = json.loads(process.stdout)
        assert process.returncode == self.document["exit_code"]
        return self

    def of(self, does: str) -> Document:
        """What is said of one lane."""
        document: Document = next(
            row for row in self.document["lanes"] if row["lane"] == lane(does)
        )
        return document

    def gates(self, does: str) -> list[str]:
        """The sentences that hold it back."""
        return [row["text"] for row in self.of(does)["gates"]]

    def outputs(self, does: str, kind: str = "") -> list[str]:
        """All other sentences, of one kind or of all."""
        return [row["text"] for row in self.of(does)["reasons"] if kind in ("", row["kind"])]

    def ranks(self) -> dict[str, int | None]:
        """By what a lane does, in the order of the document."""
        return {
            row["lane"].removeprefix(f"{AGENT}-"): row["rank"] for row in self.document["lanes"]
        }

    def passing(self) -> set[str]:
        """What the lanes do that pass their gates."""
        lanes = self.document["lanes"]
        return {row["lane"].removeprefix(f"{AGENT}-") for row in lanes if passes_gates(row)}

    def top(self) -> str | None:
        """What the lane to land does."""
        text: str | None = self.document["top"]
        return text and text.removeprefix(f"{AGENT}-")

    def __str__(self) -> str:
        """All of it, for a failure."""
        lines = [f"top {self.document['top']}: {self.document['says']}"]
        for document in self.document["lanes"]:
            head = f"{document['rank']} {document['lane']} {document['state']}"
            lines.append(f"{head} tied {document['tied']}")
            lines.append(f"    why: {document['why']}")
            lines += [
                f"    x {row['text']} [{row['path']}:{row['line']}]" for row in document["gates"]
            ]
            lines += [f"    - ({row['kind']}) {row['text']}" for row in document["reasons"]]
        lines.append(f"confidence {self.document['confidence']}")
        lines += [f"{row['author']} {row['id']} {row['says']}" for row in self.document["cross"]]
        return "\n".join([*lines, *self.document["not_tried"]])

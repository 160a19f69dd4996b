"""The run of a page as a person meets it: four lanes on a pager, with patches and a verdict."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import commit, write
from tests.support.landings import Shelf
from tests.support.pages import (
    Files,
    PageRun,
    commit_files,
    document,
    steps,
    verdict,
    write_events,
)

PAGER = '''"""Pages of a list."""


def page(items, number, size=10):
    """The items of page `number`; the first is 1."""
    start = size * (number - 1)
    return items[start : start + size - 1]


def pages(items, size=10):
    """How many pages there are."""
    return len(items) // size


def footer(items, number, size=10):
    """A line such as `page 2 of 7`."""
    return "page %d of %d" % (number, pages(items, size))
'''


TESTS = """import unittest

from pager import page, pages

ITEMS = list(range(1, 26))


class Pages(unittest.TestCase):
    def test_first_page(self):
        self.assertEqual(page(ITEMS, 1), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])

    def test_last_page_is_short(self):
        self.assertEqual(page(ITEMS, 3), [21, 22, 23, 24, 25])

    def test_count(self):
        self.assertEqual(pages(ITEMS), 3)
"""
_NEW_TEST = """
    def test_every_item_is_on_some_page(self):
        found = [item for number in (1, 2, 3) for item in page(ITEMS, number)]
        self.assertEqual(found, ITEMS)
"""
_FIX = ("start + size - 1]", "start + size]")
_COUNT = ("return len(items) // size", "return -(-len(items) // size)")
_COUNT_LONG = (
    "    return len(items) // size",
    "    full, rest = divmod(len(items), size)\n    return full + bool(rest)",
)


def small(repo: Path, scratch: Path) -> PageRun:
    """Four lanes on the pager: two that mend it, one that weakens a test, one that timed out."""
    write(repo, {"src/pager.py": PAGER, "tests/test_pager.py": TESTS, "docs/usage.md": "# Usage\n"})
    commit(repo, "A pager")
    mended = PAGER.replace(*_FIX)
    lanes: dict[str, Files] = {
        "codex": {
            "src/pager.py": mended.replace(*_COUNT),
            "tests/test_pager.py": TESTS + _NEW_TEST,
        },
        "claude": {
            "src/pager.py": mended.replace(*_COUNT_LONG).replace(
                '"page %d of %d" % (number, pages(items, size))',
                'f"page {number} of {pages(items, size)}"',
            ),
            "tests/test_pager.py": TESTS + _NEW_TEST.replace("some_page", "a_page"),
            "docs/usage.md": "# Usage\n\n`page(items, 2)` is the second page.\n",
            "CHANGELOG.md": "- Pages are whole again.\n",
        },
        "codex-2": {"src/pager.py": mended},
        "cursor-agent": {
            "tests/test_pager.py": TESTS.replace(", 10])", "])").replace("23, 24, 25]", "23, 24]")
        },
    }
    shelf = Shelf.of(repo, scratch)
    for name, files in lanes.items():
        commit_files(shelf, name, files)
    write_events(shelf, steps(list(lanes)))
    return PageRun(shelf, verdict(shelf, **document("page_small")))

"""The run of a page as a person meets it: four lanes on a pager, with patches and a verdict."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import git
from tests.support.landings import Shelf
from tests.support.pages import (
    Document,
    Files,
    PageRun,
    check,
    commit_files,
    comparison,
    lane,
    patch,
    reason,
    steps,
    tested,
    usage,
    verdict,
    write,
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
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "A pager")
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
    return PageRun(shelf, _small_document(shelf))


T = "tests/test_pager.py::Pages::"


def _small_document(shelf: Shelf) -> Document:
    failing = [f"{T}test_first_page", f"{T}test_last_page_is_short", f"{T}test_count"]
    both = [f"{T}test_every_item_is_on_some_page", f"{T}test_every_item_is_on_a_page"]
    lanes = [
        lane(
            "codex",
            1,
            label="Codex",
            model="gpt-5.5",
            why="fixes all three failures; smallest; its new test passes on claude's patch too",
            reasons=[
                reason(
                    "base",
                    "fixes 3 of the 3 tests that fail on the base",
                    "checks/1/codex/pytest.json",
                ),
                reason(
                    "cross",
                    "passes the new test of claude",
                    "checks/1/trials/claude-on-codex/pytest.json",
                ),
                reason(
                    "protected",
                    "passes the base's own tests",
                    "checks/1/trials/codex-protected/pytest.json",
                ),
                reason(
                    "agreement", "changes page and pages, as claude does", "", "src/pager.py", 7
                ),
                reason("size", "+5 -2 in 2 files: the smallest that is mergeable"),
            ],
            chance=0.93,
            checks=[
                check(
                    "passed",
                    "4 passed",
                    details="checks/1/codex/pytest.json",
                    tests=tested(4, 0),
                    comparison=comparison(fixed=failing, new=both[:1]),
                )
            ],
            protected=[
                {
                    "check": "pytest",
                    "status": "passed",
                    "says": "3 passed",
                    "details": "checks/1/trials/codex-protected/pytest.json",
                    "paths": ["tests/test_pager.py"],
                    "configuration": False,
                }
            ],
            patch=patch(2, 6, 2),
            usage=usage(21_900, 960),
            seconds=72.4,
            message="`page` no longer loses the last item, and `pages` rounds up.\n\n"
            "All tests pass, with one that looks for every item.",
        ),
        lane(
            "claude",
            2,
            label="Claude Code",
            model="opus",
            why="fixes all three failures; touches 2 files that no other lane touched",
            reasons=[
                reason(
                    "base",
                    "fixes 3 of the 3 tests that fail on the base",
                    "checks/1/claude/pytest.json",
                ),
                reason(
                    "cross",
                    "passes the new test of codex",
                    "checks/1/trials/codex-on-claude/pytest.json",
                ),
                reason(
                    "scope",
                    "rewrites footer, which the task does not ask for",
                    "",
                    "src/pager.py",
                    18,
                ),
                reason(
                    "scope",
                    "touches CHANGELOG.md and docs/usage.md, which no other lane touched",
                    "",
                    "CHANGELOG.md",
                ),
            ],
            chance=0.93,
            checks=[
                check(
                    "passed",
                    "4 passed",
                    details="checks/1/claude/pytest.json",
                    tests=tested(4, 0),
                    comparison=comparison(fixed=failing, new=both[1:]),
                )
            ],
            patch=patch(4, 12, 4),
            usage=usage(17_400, 830, 0.1434),
            seconds=58.0,
            message="Fixed the slice and the count, and said so in the changelog.",
        ),
        lane(
            "codex-2",
            3,
            mergeable=False,
            state="held_back",
            label="Codex",
            status="timed_out",
            why="idle for 10:00; its patch is kept and fixes 2 of 3 failures",
            gates=[
                reason(
                    "incomplete",
                    "it was ended after 10:00 without progress",
                    "lanes/codex-2/raw.jsonl",
                ),
                reason("base", "test_count still fails", "checks/1/codex-2/pytest.json"),
            ],
            chance=0.21,
            checks=[
                check(
                    "failed",
                    "1 still failing",
                    details="checks/1/codex-2/pytest.json",
                    tests=tested(2, 1),
                    comparison=comparison(fixed=failing[:2], still_failing=failing[2:]),
                )
            ],
            patch=patch(1, 1, 1),
            usage=usage(3_100),
            seconds=600.0,
        ),
        lane(
            "cursor-agent",
            4,
            mergeable=False,
            state="held_back",
            label="Cursor Agent",
            why="makes the tests pass by changing what they expect",
            gates=[
                reason(
                    "tests",
                    "changes the expected value of 2 assertions of test_first_page and "
                    "test_last_page_is_short",
                    "",
                    "tests/test_pager.py",
                    10,
                ),
                reason(
                    "protected",
                    "with the base's tests, 3 of 3 fail",
                    "checks/1/trials/cursor-agent-protected/pytest.json",
                ),
            ],
            reasons=[
                reason(
                    "cross",
                    "fails the new tests of codex and claude",
                    "checks/1/trials/codex-on-cursor-agent/pytest.json",
                )
            ],
            chance=0.02,
            checks=[
                check(
                    "failed",
                    "1 still failing",
                    details="checks/1/cursor-agent/pytest.json",
                    tests=tested(2, 1),
                    comparison=comparison(fixed=failing[:2], still_failing=failing[2:]),
                )
            ],
            own_version=failing[:2],
            protected=[
                {
                    "check": "pytest",
                    "status": "failed",
                    "says": "3 failed",
                    "details": "checks/1/trials/cursor-agent-protected/pytest.json",
                    "paths": ["tests/test_pager.py"],
                    "configuration": False,
                }
            ],
            patch={**patch(1, 2, 2), "remarks": []},
            usage=usage(9_300, 310),
            seconds=31.0,
            message="All tests pass now.",
        ),
    ]
    cells = {"codex": "passed", "claude": "passed", "codex-2": "passed", "cursor-agent": "failed"}
    files = {name: f"checks/1/trials/{name}.json" for name in cells}
    return verdict(
        shelf,
        lanes,
        title="Fix the off-by-one in pager.py",
        says="codex: fixes all three failures with the smallest whole change, and its new test "
        "passes on claude's patch too.",
        confidence={
            "word": "high",
            "share": 0.87,
            "why": "two lanes of two agents agree, and each passes the other's new test",
        },
        baseline=[
            check(
                "failed",
                "3 failed",
                details="checks/1/_base/pytest.json",
                tests={**tested(0, 3), "failing": failing},
            )
        ],
        cross=[
            {
                "id": both[0],
                "author": "codex",
                "check": "pytest",
                "base": "failed",
                "cells": {**cells, "codex": "own"},
                "weighs": True,
                "says": "",
                "files": files,
            },
            {
                "id": both[1],
                "author": "claude",
                "check": "pytest",
                "base": "failed",
                "cells": {**cells, "claude": "own", "codex-2": "not tried"},
                "weighs": True,
                "says": "",
                "files": files,
            },
            {
                "id": f"{T}test_module_imports",
                "author": "claude",
                "check": "pytest",
                "base": "passed",
                "cells": {**cells, "claude": "own", "cursor-agent": "passed"},
                "weighs": False,
                "says": "passes on the base",
                "files": files,
            },
        ],
        groups=[{"kind": "alike", "lanes": ["codex", "claude"]}],
        shared=[
            {"path": "src/pager.py", "name": "page", "lanes": ["codex", "claude", "codex-2"]},
            {"path": "src/pager.py", "name": "pages", "lanes": ["codex", "claude"]},
        ],
        not_tried=["claude's new test was not tried on codex-2: the limit of 40 runs was reached"],
        notes=[
            {"reviewer": "codex", "text": "claude: footer need not change for this task"},
        ],
    )

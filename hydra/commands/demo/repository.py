"""The small real repository of `hydra demo`: a pager with an off-by-one and a failing test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hydra.git import runner

TASK = "Fix pager.py: the last item of every full page is missing.\npython3 -m unittest must pass."
"""Its first line is a title, and a commit's subject, as it stands: none of it is cut."""

SLICE = "    first = (number - 1) * size\n    return items[first : first + size - 1]\n"
"""The two lines that are wrong: a page ends one item early."""

FIRST_PAGE = "self.assertEqual(page(ITEMS, 1), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])"
"""The assertion that fails at the base."""

FILES: Mapping[str, str] = {
    "README.md": """\
# pager

Cuts a list into pages of ten.

    >>> from pager import page
    >>> page(list(range(1, 26)), 3)
    [21, 22, 23, 24, 25]

Run the tests with `python3 -m unittest`. One of them fails: somebody ought to look into it.
""",
    ".gitignore": "__pycache__/\n",
    "pager.py": f'''\
"""Cuts a list into pages, which are counted from 1."""


def page(items, number, size=10):
    """The items on page `number`."""
{SLICE}

def pages(items, size=10):
    """How many pages there are."""
    return -(-len(items) // size)
''',
    "test_pager.py": f"""\
import unittest

from pager import page, pages

ITEMS = list(range(1, 26))


class PagerTest(unittest.TestCase):
    def test_a_full_page_has_ten_items(self):
        {FIRST_PAGE}

    def test_the_last_page_has_the_rest(self):
        self.assertEqual(page(ITEMS, 3), [21, 22, 23, 24, 25])

    def test_the_number_of_pages(self):
        self.assertEqual(pages(ITEMS), 3)


if __name__ == "__main__":
    unittest.main()
""",
}
"""Path to content, as committed."""

_IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_AUTHOR_DATE": "2026-01-05T09:00:00+00:00",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
    "GIT_COMMITTER_DATE": "2026-01-05T09:00:00+00:00",
}

_LANDS = {"user.name": "You", "user.email": "you@localhost"}
"""Who lands there: nothing of the user's is read, and git may know no name of theirs."""


def make(root: Path) -> str:
    """Makes the repository at `root`, a path that is free; its one commit, always the same."""
    root.mkdir(parents=True)
    for path, content in FILES.items():
        (root / path).write_text(content, encoding="utf-8", newline="\n")
    _git(root, "init", "--quiet", "--initial-branch=main", "--template=", "--object-format=sha1")
    _git(root, "add", "--all")
    for name, value in _LANDS.items():
        _git(root, "config", name, value)
    _git(root, "commit", "--quiet", "--message=A pager, and a test that fails")
    return _git(root, "rev-parse", "HEAD")


def _git(root: Path, *args: str) -> str:
    # isolated: the user's settings (templates, line ends, filters) would make another commit.
    return runner.run(*args, cwd=root, isolated=True, extra_env=_IDENTITY).line

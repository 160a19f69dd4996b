"""Tables in docs/ that name tests name tests that are there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
DOCS = TESTS.parent / "docs"
PAGES = ("annex/faults.md", "why/trust.md", "reference/recovery.md")
_NAME = re.compile(
    r"(?:tests/)?(?:(test_\w+\.py)::)?(?<![\w/])(test_\w+)(?![\w.])(?:\[([^\]`]+)\])?"
)
_FILE = re.compile(r"\btest_\w+\.py\b")


@cache
def functions_of(path: Path) -> frozenset[str]:
    """The test functions of a file."""
    tree = ast.parse(path.read_text())
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in tree.body if isinstance(node, kinds))


def all_tests() -> frozenset[str]:
    return frozenset().union(*(functions_of(path) for path in TESTS.glob("**/test_*.py")))


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_every_test_that_a_table_names_is_there(page: str) -> None:
    text = (DOCS / page).read_text()
    assert all((TESTS / name).is_file() for name in _FILE.findall(text)), page
    named = [match for match in _NAME.finditer(text) if f"{match[2]}.py" not in match[0]]
    assert named or page == "reference/recovery.md"
    for match in named:
        file, name, _ = match.groups()
        names = functions_of(TESTS / file) if file else all_tests()
        assert name in names, f"{page} names {match[0]}, which is not there"


def test_every_row_of_the_table_of_faults_is_shown_or_comes_with_landing() -> None:
    lines = (DOCS / "annex" / "faults.md").read_text().splitlines()
    rows = {}
    for line in lines:
        if match := re.match(r"\| (\d+) \|", line):
            rows[int(match[1])] = line
    assert list(rows) == list(range(1, 57))
    for line in rows.values():
        assert "test_" in line.rsplit("|", 2)[-2] or "comes with landing" in line, line


def test_every_row_that_agents_act_in_one_race_stands_in_the_table() -> None:
    from tests.support.rows import rows

    text = (DOCS / "annex" / "faults.md").read_text()
    for name in rows("python", Path("/r"), Path("/s")):
        number = name.partition("-")[0]
        line = re.search(rf"^\| {number} \|.*$", text, re.MULTILINE)
        assert line is not None, name
        assert "test_a_row" in line[0], name

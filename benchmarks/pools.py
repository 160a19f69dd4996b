"""Pools of candidates and tests, as `python -m benchmarks.selection FILE` reads them.

One line of JSON is one draw of one task:
{"task", "candidates": [{"id", "correct", "count"?, "lines"?}],
 "tests": [{"id", "author": index of a candidate or null, "count"?}],
 "passes": [[0|1, ...], a row for each candidate]}
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.ranking.selection import Test


class BadPool(Exception):
    """A file that cannot be scored: what is wrong, and in which line."""


@dataclass(frozen=True, slots=True)
class Pool:
    """One draw of one task. `correct` is for scoring alone: no rule is shown it."""

    task: str
    correct: tuple[bool, ...]
    counts: tuple[int, ...]
    tests: tuple[Test, ...]

    @property
    def rows(self) -> list[tuple[bool | None, ...]]:
        """How the tests ended on each candidate."""
        if not self.tests:
            return [()] * len(self.counts)
        return list(zip(*(test.results for test in self.tests), strict=True))

    def without(self, author: int) -> Pool:
        """The same without the tests of one candidate."""
        item = tuple(test for test in self.tests if test.author != author)
        return Pool(self.task, self.correct, self.counts, item)


def read(path: Path) -> list[Pool]:
    """All pools of a file, in its order; empty lines are passed over.

    Raises:
        BadPool: with the line's number, where one is not a pool; where there is none.
        OSError: where the file cannot be read.
    """
    pools = list(_lines(path))
    if not pools:
        raise BadPool(f"{path}: no pool in it")
    return pools


def _lines(path: Path) -> Iterator[Pool]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                yield pool(json.loads(line))
            except BadPool as error:
                raise BadPool(f"{path}, line {number}: {error}") from None
            except RecursionError:
                raise BadPool(f"{path}, line {number}: not JSON: nested too deep") from None
            except ValueError as error:
                raise BadPool(f"{path}, line {number}: not JSON: {error}") from None


def pool(entry: Any) -> Pool:
    """One line's object as a pool.

    Raises:
        BadPool: in a clause that names the key.
    """
    if not isinstance(entry, dict):
        raise BadPool("an object is wanted")
    task = entry.get("task")
    if isinstance(task, bool) or not isinstance(task, str | int):
        raise BadPool('"task" must be a name')
    candidates = _objects(entry, "candidates")
    if not candidates:
        raise BadPool('"candidates" is empty')
    tests = _objects(entry, "tests")
    rows = _rows(entry.get("passes"), len(candidates), len(tests))
    correct = []
    for number, candidate in enumerate(candidates):
        right = candidate.get("correct")
        if right not in (True, False, 0, 1):
            raise BadPool(f'"correct" of candidate {number} must be true or false')
        correct.append(bool(right))
    counts = tuple(_count(item, f"candidate {n}") for n, item in enumerate(candidates))
    columns = zip(*rows, strict=True) if tests else ()
    return Pool(
        str(task),
        tuple(correct),
        counts,
        tuple(
            Test(_author(test, number, len(candidates)), column, _count(test, f"test {number}"))
            for number, (test, column) in enumerate(zip(tests, columns, strict=True))
        ),
    )


def _objects(entry: dict[str, Any], key: str) -> list[dict[str, Any]]:
    item = entry.get(key)
    if not isinstance(item, list) or not all(isinstance(item, dict) for item in item):
        raise BadPool(f'"{key}" must be a list of objects')
    return item


def _rows(item: Any, candidates: int, tests: int) -> list[tuple[bool, ...]]:
    if not isinstance(item, list) or len(item) != candidates:
        raise BadPool(f'"passes" must have a row for each of the {candidates} candidates')
    for number, row in enumerate(item):
        if not isinstance(row, list) or len(row) != tests:
            entry = f"{len(row)} entries" if isinstance(row, list) else "no list"
            raise BadPool(f'row {number} of "passes" has {entry} for {tests} tests')
        if any(isinstance(cell, float) or cell not in (0, 1) for cell in row):
            raise BadPool(f'row {number} of "passes" has an entry that is neither 0 nor 1')
    return [tuple(map(bool, row)) for row in item]


def _author(test: dict[str, Any], number: int, candidates: int) -> int | None:
    author = test.get("author")
    if author is None:
        return None
    if isinstance(author, bool) or not isinstance(author, int) or not 0 <= author < candidates:
        raise BadPool(
            f'"author" of test {number} must be null or the index of one of {candidates} candidates'
        )
    return author


def _count(item: dict[str, Any], name: str) -> int:
    count = item.get("count", 1)
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise BadPool(f'"count" of {name} must be a whole number from 1')
    return count

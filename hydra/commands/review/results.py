"""What a model's tests came to on the base and on each group's patch: which of them count."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from hydra.checks.results import Tests
from hydra.text import joined, were

Cell = Literal["passed", "failed", "flaky", "not run"]

ROWS = 200
"""Tests of one answer that are looked at."""


class Twice(Struct, frozen=True):
    """One check on one tree, run twice. None: that run has no tests that can be read."""

    first: Tests | None = None
    again: Tests | None = None

    def of(self, id: str) -> Cell:
        """How a test ended: `flaky` unless both runs say the same."""
        if self.first is None or self.again is None:
            return "not run"
        ends = {self.first.by_id.get(id), self.again.by_id.get(id)}
        if id in self.first.flaky or id in self.again.flaky or ends >= {"passed", "failed"}:
            return "flaky"
        if ends == {"passed"}:
            return "passed"
        return "failed" if ends == {"failed"} else "not run"


class ResultRow(Struct, frozen=True, kw_only=True):
    """One test. `cells` goes by group's letter; `why` says in a clause why it does not count."""

    id: str
    check: str
    base: Cell
    cells: Mapping[str, Cell]
    why: str = ""

    @property
    def counts(self) -> bool:
        """Whether it tells groups apart."""
        return not self.why


def rows(
    check: str,
    base: Twice,
    groups: Mapping[str, Twice],
    names: Collection[str],
    untried: Sequence[str] = (),
) -> tuple[ResultRow, ...]:
    """A row for each test that the new files brought; `names` are the ids that were there without
    them, on the base or on any patch; `untried` names those worth telling apart that are not in
    `groups`. Without any of these nothing is known of a test, and there is no row."""
    if not groups:
        return ()
    seen = [tests for run in (base, *groups.values()) for tests in (run.first, run.again) if tests]
    new = dict.fromkeys(case.id for tests in seen for case in tests.cases if case.id not in names)
    return tuple(_row(check, id, base, groups, untried) for id in list(new)[:ROWS])


def _row(
    check: str, id: str, base: Twice, groups: Mapping[str, Twice], untried: Sequence[str]
) -> ResultRow:
    on_base = base.of(id)
    cells = {letter: run.of(id) for letter, run in groups.items()}
    why = _why(on_base, list(cells.values()), untried)
    return ResultRow(id=id, check=check, base=on_base, cells=cells, why=why)


def _why(base: Cell, cells: Sequence[Cell], untried: Sequence[str]) -> str:
    if "flaky" in (base, *cells):
        return "it does not end the same in every run"
    if base == "not run":
        return "it does not run on the base"
    if "not run" in cells:
        return "it does not run on every patch"
    if len(set(cells)) > 1:
        return ""
    ends = f"it {'passes' if cells[0] == 'passed' else 'fails'} on every patch that was tried"
    if not untried:
        return ends
    # Another may end otherwise: the test may be right, and all of these wrong.
    return f"unknown: {ends}, and {joined(untried)} {were(untried)} not"

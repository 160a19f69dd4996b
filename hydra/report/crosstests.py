"""Each lane's new tests on every other lane's patch: as words where they fit, else as signs."""

from __future__ import annotations

from collections.abc import Sequence

from hydra.ranking.model import CrossTest, Verdict
from hydra.report.table import Cell, Column, StyledText, table
from hydra.report.text import clean, cut_middle, gist, width, wrapped
from hydra.text import plural

SHOWN = 20
"""Tests that are listed, those that tell patches apart first; with more, the others are counted."""

SIGNS = {"passed": "+", "failed": "x", "not run": ".", "not tried": "?"}
"""A cell in one character."""

_STYLES = {"passed": "good", "failed": "bad"}
_NAME = 24
"""Cells that a test's name has at the least."""


def weighty_first(verdict: Verdict) -> list[CrossTest]:
    """The rows of the matrix, those that say nothing of the lanes last."""
    return sorted(verdict.cross, key=lambda row: not row.weighs)


def lanes_in(verdict: Verdict, rows: Sequence[CrossTest]) -> list[str]:
    """The lanes that these were tried on."""
    return [lane.lane for lane in verdict.lanes if any(lane.lane in row.cells for row in rows)]


def cross_tests(verdict: Verdict, cells: int | None, color: bool) -> list[str]:
    """The matrix under its title, and how it is to be read; [] where there is none."""
    rows = weighty_first(verdict)
    lanes = lanes_in(verdict, rows)
    if not rows:
        return []
    room = 10_000 if cells is None else max(_NAME, cells // 3)
    longest = max(width(clean(row.id)) for row in rows[:SHOWN])
    answer = _as_words(lanes, cells, min(room, longest))
    lines = ["new tests, each on every patch"]
    columns = [
        Column("test"),
        Column("by", least=6),
        Column("base"),
        *(Column(clean(lane) if answer else str(n)) for n, lane in enumerate(lanes, 1)),
        Column("", wraps=True, least=20),
    ]
    shown = [_row(row, lanes, room, answer=answer) for row in rows[:SHOWN]]
    lines += table(shown, columns, cells, color)
    if len(rows) > SHOWN:
        lines.append(f"  and {plural(len(rows) - SHOWN, 'more test')}: --json has them all")
    if not answer:
        named = ", ".join(f"{n} {clean(lane)}" for n, lane in enumerate(lanes, 1))
        signs = ", ".join(f"{sign} {line}" for line, sign in SIGNS.items())
        lines += [f"  {part}" for name in (named, signs) for part in wrapped(name, cells, 2)]
    return lines


def _as_words(lanes: Sequence[str], cells: int | None, name: int) -> bool:
    if cells is None:
        return True
    needed = 2 + name + 2 + 8 + 2 + len("not tried")
    needed += sum(2 + max(width(clean(lane)), len("not tried")) for lane in lanes)
    return needed <= cells


def _row(row: CrossTest, lanes: Sequence[str], room: int, *, answer: bool) -> list[Cell]:
    return [
        cut_middle(clean(row.id), room),
        gist(row.author, 40),
        _cell(row.base, answer=answer),
        *(_cell(row.cells.get(lane, "not run"), answer=answer) for lane in lanes),
        "" if row.weighs else gist(row.says),
    ]


def _cell(line: str, *, answer: bool) -> Cell:
    end = "passed" if line == "own" else line  # whose test it is stands beside it
    return StyledText(end if answer else SIGNS.get(end, "?"), _STYLES.get(end, ""))

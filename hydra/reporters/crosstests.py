"""Each lane's new tests on every other lane's patch: as words where they fit, else as signs."""

from __future__ import annotations

from collections.abc import Sequence

from hydra.reporters.fields import Data, record, records, text
from hydra.reporters.table import Cell, Column, Styled, table
from hydra.reporters.text import clean, cut, gist, plural, width
from hydra.reporters.wrapping import wrapped

SHOWN = 20
"""Tests that are listed, those that tell patches apart first; with more, the others are counted."""

SIGNS = {"passed": "+", "failed": "x", "not run": ".", "not tried": "?"}
"""A cell in one character."""

_STYLES = {"passed": "good", "failed": "bad"}
_NAME = 24
"""Cells that a test's name keeps before words give way to signs."""


def weighty_first(verdict: Data) -> list[Data]:
    """The rows of the matrix, those that say nothing of the lanes last."""
    return sorted(records(verdict, "cross"), key=lambda row: row.get("weighs") is not True)


def cross_tests(verdict: Data, cells: int | None, color: bool) -> list[str]:
    """The matrix under its title, and how it is to be read; [] where there is none."""
    rows = weighty_first(verdict)
    lanes = [text(lane, "lane") for lane in records(verdict, "lanes") if _is_in(lane, rows)]
    if not rows:
        return []
    words = _as_words(lanes, cells)
    lines = ["new tests, each on every patch"]
    columns = [
        Column("test", least=_NAME),
        Column("by", least=6),
        Column("base"),
        *(Column(clean(lane) if words else str(n)) for n, lane in enumerate(lanes, 1)),
        Column("", wraps=True, least=20),
    ]
    room = 10_000 if cells is None else max(_NAME, cells // 3)
    shown = [_row(row, lanes, room, words=words) for row in rows[:SHOWN]]
    lines += table(shown, columns, cells, color)
    if len(rows) > SHOWN:
        lines.append(f"  and {plural(len(rows) - SHOWN, 'more test')}: --json has them all")
    if not words:
        named = ", ".join(f"{n} {clean(lane)}" for n, lane in enumerate(lanes, 1))
        signs = ", ".join(f"{sign} {said}" for said, sign in SIGNS.items())
        lines += [line for one in (named, signs) for line in _indented(one, cells)]
    return lines


def _indented(said: str, cells: int | None) -> list[str]:
    return [f"  {part}" for part in wrapped(said, cells, 2)]


def _is_in(lane: Data, rows: Sequence[Data]) -> bool:
    name = text(lane, "lane")
    return any(name in record(row, "cells") for row in rows)


def _as_words(lanes: Sequence[str], cells: int | None) -> bool:
    if cells is None:
        return True
    needed = 2 + _NAME + 2 + 8 + 2 + len("not tried")
    needed += sum(2 + max(width(clean(lane)), len("not tried")) for lane in lanes)
    return needed <= cells


def _row(row: Data, lanes: Sequence[str], room: int, *, words: bool) -> list[Cell]:
    held = record(row, "cells")
    return [
        _end_of(gist(text(row, "id")), room),
        gist(text(row, "author"), 40),
        _cell(text(row, "base"), words=words),
        *(_cell(text(held, lane, "not run"), words=words) for lane in lanes),
        "" if row.get("weighs") is True else gist(text(row, "says")),
    ]


def _end_of(name: str, room: int) -> str:
    """A test is told by how its id ends."""
    return cut(name[::-1], room)[::-1]


def _cell(said: str, *, words: bool) -> Cell:
    end = "passed" if said == "own" else said  # whose test it is stands beside it
    return Styled(end if words else SIGNS.get(end, "?"), _STYLES.get(end, ""))

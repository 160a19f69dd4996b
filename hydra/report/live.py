"""The live table: one row a lane, repainted in place when something changed or a second passed.

The cursor is never hidden and automatic wrapping is off only within one write, so a Hydra that
is killed leaves the terminal as it was. Each repaint is one write of only the lines that differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import zip_longest

from hydra.records.events import Event
from hydra.report import text
from hydra.report.board import STATE_STYLES, Board, BoardRow, step
from hydra.report.phrases import LOUD, describe, opening
from hydra.report.style import paint
from hydra.report.table import Column, StyledText, table
from hydra.text import plural

PAINT_EVERY = 0.1
"""Seconds between repaints at the least; what comes in between is painted by the next `tick`."""

_COLUMNS = (
    Column("lane", least=8),
    Column("state", floor=9),
    Column("last", least=34, grows=True),
    # Known only when the patch is taken, so the first to make room for what goes on now.
    Column("files", right=True, optional=3),
    Column("tokens", right=True, optional=1),
    Column("cost", right=True, floor=6, optional=2),
    Column("time", right=True, floor=5),
)
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"
_CLEAR_LINE, _CLEAR_BELOW = "\x1b[K", "\x1b[J"
_STYLE = re.compile(r"\x1b\[[0-9]*m")


class LiveTable:
    """Draws on the terminal behind `write`. `size` gives its columns and lines, read anew each
    time. Call `tick` a few times a second; it writes nothing when there is nothing to write.
    """

    def __init__(
        self,
        write: Callable[[str], None],
        size: Callable[[], tuple[int, int]],
        color: bool,
    ) -> None:
        self._write = write
        self._size = size
        self._color = color
        self._board = Board()
        self._now = 0.0
        self._above: list[tuple[str, str]] = []
        self._painted: list[str] = []
        self._painted_at = (0, 0)
        self._last_paint = -1.0
        self._stale = False

    def event(self, event: Event) -> None:
        """Takes one event in; paints at once unless the last paint was just now."""
        before = self._board
        self._board = step(before, event)
        self._now = max(self._now, event.mono)
        if event.kind == "run_started":
            for line in opening(event):
                self.note(line)
        elif event.kind in LOUD:
            who = f"{text.clean(event.lane)}: " if event.lane else ""
            self.note(who + describe(event), "warn")
        self._stale = self._stale or self._board is not before
        if self._stale and self._now - self._last_paint >= PAINT_EVERY:
            self._paint()

    def note(self, line: str, style: str = "") -> None:
        """Prints one line above the table, where it stays."""
        self._above.append((text.clean(line), style))
        self._stale = True

    def tick(self, mono: float) -> None:
        """The time is `mono` seconds since the race began: repaints what changed with it."""
        self._now = max(self._now, mono)
        ticked = int(self._now) != int(self._last_paint) and not self._board.ended
        due = self._now - self._last_paint >= PAINT_EVERY
        if (self._stale and due) or (ticked and self._board.rows):
            self._paint()

    def close(self) -> None:
        """Paints the last state and leaves it standing, with the cursor on the line below."""
        if self._stale:
            self._paint()
        self._painted = []

    def _paint(self) -> None:
        size = self._size()
        columns, lines = size[0] or 80, size[1] or 24  # a serial line does not know
        body = self._lines(columns, lines)
        if self._above or size != self._painted_at:
            news = self._go_up(columns) + _CLEAR_BELOW + self._notes(columns) + _whole(body)
        elif body != self._painted:
            news = self._go_up(columns) + _differences(self._painted, body)
        else:
            news = ""
        if news:
            self._write(_NO_WRAP + news + _WRAP)
        self._above = []
        self._painted = body
        self._painted_at = size
        self._last_paint = self._now
        self._stale = False

    def _go_up(self, columns: int) -> str:
        # A terminal that got narrower has folded the old lines: they take more lines now.
        widths = (text.width(_STYLE.sub("", line)) for line in self._painted)
        rows = sum(max(-(-cells // max(columns, 1)), 1) for cells in widths)
        return f"\r\x1b[{rows}A" if rows else "\r"

    def _notes(self, columns: int) -> str:
        return "".join(
            paint(part, style, self._color) + "\r\n"
            for line, style in self._above
            for part in text.wrap(line, max(columns - 1, 1))
        )

    def _lines(self, columns: int, lines: int) -> list[str]:
        if not self._board.rows:
            return []
        room = max(columns - 1, 1)
        base = [
            paint(text.cut(text.clean(f"  base  {name}  {line}"), room), "dim", self._color)
            for name, line in self._board.baseline[: max(lines // 4, 1)]
        ]
        if clock := self._clock():
            base.append(paint(text.cut(f"  {clock}", room), "dim", self._color))
        # A blank line, the header and the line the cursor waits on take three.
        rows, hidden = _fitting(list(self._board.rows.values()), max(lines - 3 - len(base), 1))
        body = ["", *base, *table([self._cells(row) for row in rows], _COLUMNS, room, self._color)]
        if hidden:
            body.append(paint(text.cut(f"  and {_summed(hidden)}", room), "dim", self._color))
        return body

    def _clock(self) -> str:
        """How long the race takes, once a lane's own time stands still; and what is tried now."""
        doing = f", trying {self._board.trial}" if self._board.trial else ""
        rows = self._board.rows.values()
        if not doing and all(row.remaining is None and not row.ended for row in rows):
            return ""
        return f"race {text.duration(self._now)}{doing}"

    def _cells(self, row: BoardRow) -> list[str | StyledText]:
        state, last = row.view(self._now, self._board.limits)
        return [
            row.lane,
            StyledText(state, STATE_STYLES.get(state, "busy")),
            last,
            "-" if row.files is None else str(row.files),
            text.tokens(row.tokens),
            text.cost(row.cost),
            StyledText(text.duration(row.elapsed(self._now) or 0.0)),
        ]


def _whole(lines: list[str]) -> str:
    return "".join(f"{line}{_CLEAR_LINE}\r\n" for line in lines)


def _differences(old: list[str], new: list[str]) -> str:
    """Moves over the lines that stayed and rewrites the others."""
    pairs = zip_longest(old[: len(new)], new)
    out = "".join("\r\n" if was == line else f"{line}{_CLEAR_LINE}\r\n" for was, line in pairs)
    return out + (_CLEAR_BELOW if len(old) > len(new) else "")


def _fitting(rows: list[BoardRow], room: int) -> tuple[list[BoardRow], list[BoardRow]]:
    """(rows shown, rows summed up): those at work stay, in the race's order."""
    if len(rows) <= room:
        return rows, []
    order = sorted(range(len(rows)), key=lambda i: (_idle_rank(rows[i]), i))
    shown = set(order[: max(room - 1, 0)])
    picked = [row for i, row in enumerate(rows) if i in shown]
    return picked, [row for i, row in enumerate(rows) if i not in shown]


def _idle_rank(row: BoardRow) -> int:
    return 2 if row.ended else 1 if row.since is None else 0


def _summed(rows: list[BoardRow]) -> str:
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.state] = counts.get(row.state, 0) + 1
    states = ", ".join(f"{count} {state}" for state, count in counts.items())
    return f"{plural(len(rows), 'more lane')}: {states}"

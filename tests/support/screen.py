"""A tiny terminal: what the live table's bytes leave on a screen. Refuses what it does not know."""

from __future__ import annotations

import re

from hydra.report.text import width

_TOKEN = re.compile(r"\x1b\[(\??[0-9;]*)([A-Za-z])|(\r)|(\n)|([^\x1b\r\n]+)", re.DOTALL)


class Screen:
    """Rows of text and a cursor; lines that scroll off at the top go to `history`."""

    def __init__(self, columns: int, lines: int) -> None:
        self.columns, self.lines = columns, lines
        self.rows = [""]
        self.history: list[str] = []
        self.row = self.column = 0
        self.wraps = True
        self.writes = 0

    def write(self, text: str) -> None:
        self.writes += 1
        end = 0
        for match in _TOKEN.finditer(text):
            assert match.start() == end, f"unknown bytes {text[end : match.start()]!r}"
            end = match.end()
            self._take(match)
        assert end == len(text), f"unknown bytes {text[end:]!r}"

    def _take(self, match: re.Match[str]) -> None:
        if match[2]:
            self._control(match[1], match[2])
        elif match[3]:
            self.column = 0
        elif match[4]:
            self._down()
        else:
            assert match[5].isprintable(), f"raw control in {match[5]!r}"
            self._put(match[5])

    def _control(self, number: str, final: str) -> None:
        if final == "A":
            self.row = max(self.row - int(number), 0)
        elif final == "K":
            self.rows[self.row] = self.rows[self.row][: self.column]
        elif final == "J":
            self.rows[self.row] = self.rows[self.row][: self.column]
            del self.rows[self.row + 1 :]
        elif final in "hl" and number == "?7":
            self.wraps = final == "h"
        else:
            assert final == "m", f"unknown sequence {number}{final}"

    def _down(self) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append("")
        if self.row == self.lines:
            self.history.append(self.rows.pop(0))
            self.row -= 1

    def _put(self, text: str) -> None:
        line = self.rows[self.row].ljust(self.column)
        assert not self.wraps, "text with wrapping on"
        assert self.column + width(text) <= self.columns, f"too wide: {text!r}"
        self.rows[self.row] = line[: self.column] + text + line[self.column + len(text) :]
        self.column += len(text)

    def picture(self) -> str:
        """The screen's lines, without trailing blanks."""
        return "\n".join(row.rstrip() for row in self.rows).rstrip("\n")

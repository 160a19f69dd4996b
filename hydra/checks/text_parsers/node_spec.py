"""The text of `node --test` by its spec reporter: Node's choice from 23 on, and on a terminal."""

from __future__ import annotations

import re

from hydra.checks.results import STATUSES, ResultCounts, Status
from hydra.checks.text_parsers.lines import INDENT
from hydra.checks.text_parsers.tally import OpenGroup, RunResults, Tally, counted, lost_results

_MARKS: dict[str, Status] = {
    "\u2714": "passed",
    "\u2716": "failed",
    "\ufe63": "skipped",
    "\u26a0": "skipped",
    "\u25b6": "passed",
}
# Whole milliseconds are of a title: node's own times have a point.
_ROW = re.compile(
    rf"( {{0,{INDENT}}})([\u2714\u2716\ufe63\u26a0\u25b6]) (.+?)( \(\d+\.\d+ms\)(?: # .*)?)?$"
)
_TOTAL = re.compile(r"\u2139 (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) (\d{1,9})")
_PLACE = re.compile(r"test at \S.*:\d+:\d+$")


class NodeSpec:
    """Takes its lines one by one; ids are those of node's TAP."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.forget()

    def forget(self) -> None:
        """What has come so far was another's."""
        self._run = RunResults()
        self._open: list[OpenGroup] = []
        self._totals: dict[str, int] = {}
        self._listing = self._after_place = False

    @property
    def is_open(self) -> bool:
        """Whether results are there, and no totals."""
        return any(self._run.rows.values()) or bool(self._open)

    def feed(self, line: str) -> bool:
        """One line; whether it closes a run."""
        if line[0] == "\u2139" and (total := _TOTAL.match(line)):
            self._totals[total[1]] = int(total[2])
            return total[1] == "duration_ms" and self._close()
        if line[0] == "\u2716" and line.startswith("\u2716 failing tests:"):
            self._listing = True
        elif self._listing:
            self._told_again(line)
        elif line.lstrip(" ")[:1] in _MARKS:
            self._row(line)
        return False

    def _told_again(self, line: str) -> None:
        """A line of the closing list: each failure behind its place, and its details indented."""
        if line[0] in _MARKS and not self._after_place:
            self._listing = False
            self._row(line)
        self._after_place = _PLACE.match(line) is not None

    def _row(self, line: str) -> None:
        if not (row := _ROW.match(line)):
            return
        indent, name = len(row[1]), row[3]
        while self._open and self._open[-1].indent > indent:
            self._open.pop()
        ends = bool(self._open) and (self._open[-1].indent, self._open[-1].name) == (indent, name)
        if row[4] is None:
            if row[2] == "\u25b6":
                self._open = [group for group in self._open if group.indent < indent]
                self._open.append(OpenGroup(indent, name))
            return
        status: Status = "skipped" if " # " in row[4] else _MARKS[row[2]]
        if ends:
            self._end(status)
            return
        while self._open and self._open[-1].indent >= indent:
            self._open.pop()
        self._add(name, status)

    def _end(self, status: Status) -> None:
        """A group's end. It is a test only where none is in it, or where it alone fails."""
        group = self._open.pop()
        self._run.rows[status] += 1
        if not group.inside or (status == "failed" and "failed" not in group.inside):
            self._add(group.name, status, rows=0)

    def _add(self, name: str, status: Status, *, rows: int = 1) -> None:
        for group in self._open:
            group.inside.add(status)
        path = " > ".join((*(group.name for group in self._open), name))
        self._run.add(path, status, rows=rows)

    def _close(self) -> bool:
        count_of = self._totals.get
        failed = count_of("fail", 0) + count_of("cancelled", 0)
        rows = self._run.rows
        named, results = (
            counted(self._run.names).failed,
            count_of("tests", 0) + count_of("suites", 0),
        )
        lost = lost_results(sum(rows.values()), results, named, failed)
        totals = (rows[status] + count for status, count in zip(STATUSES, lost, strict=True))
        self._run.close(self.tally, ResultCounts(*totals))
        self.forget()
        return True

    def close(self) -> None:
        """Nothing more comes: what has no totals was not node's."""

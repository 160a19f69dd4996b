"""The text of `deno test`."""

from __future__ import annotations

import re

from hydra.checks.results import ResultCounts, Status
from hydra.checks.text_parsers.lines import INDENT
from hydra.checks.text_parsers.tally import OpenGroup, RunResults, Tally

_BEGUN = re.compile(r"running \d+ tests? from (?:\./)?(\S.*)$")
_ROW = re.compile(rf"( {{0,{INDENT}}})(\S.*) \.\.\. (ok|FAILED|ignored|cancelled)(?: \(.*\))?$")
_OPENS = re.compile(rf"( {{0,{INDENT}}})(\S.*) \.\.\.$")
_UNLOADED = re.compile(r"Uncaught error from (?:\./)?(\S+) FAILED$")
_TOTALS = re.compile(
    r"(?:ok|FAILED) \| (\d{1,9}) passed(?: \(.*?\))? \| (\d{1,9}) failed(?: \(.*?\))?"
    r"(?: \| (\d{1,9}) ignored)?"
)
_STATUS: dict[str, Status] = {"ok": "passed", "ignored": "skipped"}


class Deno:
    """Takes deno's lines one by one. A step is a test; what has steps is one if it alone fails."""

    starts = ""

    def __init__(self) -> None:
        self.tally = Tally()
        self._run = RunResults()
        self._file = ""
        self._open: list[OpenGroup] = []
        self._quoting = False

    @property
    def is_open(self) -> bool:
        """Whether a run has begun and not ended."""
        return bool(self._file)

    def feed(self, line: str) -> None:
        """One line."""
        if line.startswith("running ") and (begun := _BEGUN.match(line)):
            self._file, self._open, self._quoting = begun[1], [], False
        elif unloaded := _UNLOADED.match(line):
            self._run.add(unloaded[1], "failed")
        elif not self._file:
            return
        elif line.startswith("-----"):
            self._quoting = line.endswith(" output -------") or (
                self._quoting and not line.endswith(" output end -----")
            )
        elif line.startswith(("ok | ", "FAILED | ")) and (totals := _TOTALS.match(line)):
            self._close(totals)
        elif not self._quoting:
            self._test(line)

    def _test(self, line: str) -> None:
        if row := _ROW.match(line):
            self._end(len(row[1]), row[2], _STATUS.get(row[3], "failed"))
        elif opens := _OPENS.match(line):
            self._leave(len(opens[1]))
            self._open.append(OpenGroup(len(opens[1]), opens[2]))

    def _leave(self, indent: int) -> None:
        while self._open and self._open[-1].indent >= indent:
            self._open.pop()

    def _end(self, indent: int, name: str, status: Status) -> None:
        while self._open and self._open[-1].indent > indent:
            self._open.pop()
        inside: set[Status] = set()
        if self._open and (self._open[-1].indent, self._open[-1].name) == (indent, name):
            inside = self._open[-1].inside
        self._leave(indent)
        alone = not inside or (status == "failed" and "failed" not in inside)
        for group in self._open:
            group.inside.add(status)
        if alone:
            path = " > ".join((*(group.name for group in self._open), name))
            self._run.add(f"{self._file}::{path}", status, rows=0)
        self._run.rows[status] += not indent  # its totals count no steps

    def _close(self, totals: re.Match[str]) -> None:
        counted = ResultCounts(*(int(number or 0) for number in totals.groups()))
        self._run.close(self.tally, counted)
        self._run, self._file, self._open, self._quoting = RunResults(), "", [], False

    def done(self) -> Tally:
        """What was found; without a closing line it was not deno."""
        return self.tally

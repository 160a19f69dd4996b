"""The text of ava's default reporter."""

from __future__ import annotations

import re

from hydra.checks.results import ResultCounts, Status
from hydra.checks.text_parsers.tally import RunResults, Tally

_ROW = re.compile(r"  ([\u2714\u2718\u2716\u221a\u00d7-]) (?:\[([a-z ]+)\]:? )?(\S.*)$")
_TIME = re.compile(r" \((?:\d+m )?\d+(?:\.\d+)?m?s\)$")
_FILE = re.compile(r"(?:No tests found in )?(\S+\.\w+)(?:, make sure| exited |$)")
_TOTAL = re.compile(
    r"  (\d{1,9}) (?:tests? (passed|failed|skipped|todo)|(known) failures?"
    r"|(uncaught) exceptions?|(unhandled) rejections?)$"
)
_RULE = "  \u2500"
_FAIL = "[fail]: "
_TITLE_WORDS = 64
"""Of a title that its error's words follow."""


class Ava:
    """Takes its lines one by one. It names files, without their ending, where there are several."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.forget()

    def forget(self) -> None:
        """What has come so far was another's."""
        self._run = RunResults()
        self._failing: list[str] = []
        self._titles: set[str] = set()
        self._ruled = self._has_endings = False
        self._totals: dict[str, int] = {}

    @property
    def is_open(self) -> bool:
        """Whether results are there, and no totals."""
        return bool(self._run.names or self._failing) and not self._totals

    def feed(self, line: str) -> bool:
        """One line; whether it closes a run."""
        if line[:2] != "  ":
            return False
        if self._ruled and (total := _TOTAL.match(line)):
            self._totals[next(filter(None, total.groups()[1:]))] = int(total[1])
            return True
        if self._totals:
            self.close()
        if line == _RULE:
            self._ruled = True
        elif not self._ruled and (row := _ROW.match(line)):
            self._row(row[1], row[2] or "", row[3])
        elif self._ruled and line[2:3] != " ":
            self._titles.add(line[2:])
        return False

    def _row(self, mark: str, ending: str, text: str) -> None:
        self._has_endings |= bool(ending)
        if mark in "\u2714\u221a":
            self._add(_TIME.sub("", text), "skipped" if ending else "passed")
        elif mark == "-":
            self._add(text, "skipped")
        else:
            self._failing.append(f"{_FAIL * (ending == 'fail')}{text}")

    def _add(self, title: str, status: Status) -> None:
        self._run.add(title.replace(" \u203a ", " > "), status)

    def _fail(self, row: str) -> None:
        """A failing row: a test's, without the words of its error behind the title, which stands in
        the details below on a line of its own. Before the fourth version no word says whether it is
        a test's; else it may be a file's."""
        text = row.removeprefix(_FAIL)
        parts = text.split(" ")
        fronts = (" ".join(parts[:count]) for count in range(min(len(parts), _TITLE_WORDS), 0, -1))
        title = next((title for title in fronts if title in self._titles), "")
        if title or text != row:
            self._add(title or _TIME.sub("", text), "failed")
        elif file := _FILE.match(text):
            self._run.add(file[1], "failed", rows=0)  # by its path: it could not be loaded

    def close(self) -> None:
        """The totals have come, or nothing more does."""
        if not self._totals:
            return
        for row in self._failing:
            self._fail(row)
        count = self._totals.get
        skipped = count("skipped", 0) + count("todo", 0)
        # Where no row says how it ended, one that is known to fail is marked as one that passes.
        skipped += count("known", 0) * self._has_endings
        totals = ResultCounts(count("passed", 0), count("failed", 0), skipped)
        self._run.close(self.tally, totals)
        self.forget()

"""The text of mocha (and Cypress): its spec reporter, and the failures that all of them list."""

from __future__ import annotations

import re

from hydra.checks.results import ResultCounts, Status
from hydra.checks.text_parsers.lines import INDENT
from hydra.checks.text_parsers.tally import RunResults, Tally

_ROW = re.compile(
    rf"((?:  ){{1,{INDENT // 2}}})(?:([\u2714\u2713\u221a])|(\d{{1,9}})\)|(-)) (\S.*)$"
)
_HEADING = re.compile(rf"((?:  ){{1,{INDENT // 2}}})(\S.*)$")
_PRINTED = re.compile(r"[}\])]|.*(?:[,{\[]|\": .*)$")
"""Of an object that a test prints, which looks like a group."""
# All of them: a title may end like a time, and mocha leaves out its own when it was short.
_TIME = re.compile(r"(?: \(\d{1,9}ms\)){1,4}$")
_LIST_TIME = re.compile(r": \d{1,9}ms$")
"""As its list reporter has it, behind all of a title's groups."""
_TOTAL = re.compile(r"  (\d{1,9}) (passing|pending|failing)(?: \(.*\))?$")
_LISTED = re.compile(r"  (\d{1,9})\) (\S.*)$")
_HOOK = re.compile(r'"(?:before|after) (?:all|each)" hook\b')


class Mocha:
    """Takes its lines one by one; a title's groups are those that it is indented under."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self._has_blanks = False
        self._is_list = False
        """Whether its list reporter has been seen."""
        self.forget()

    def forget(self) -> None:
        """What has come so far was another's."""
        self._run = RunResults()
        self._path: list[str] = []
        self._totals: dict[str, int] = {}
        self._listed: list[tuple[str, ...]] = []
        self._titles: list[str] = []
        self._opens = True

    def blank(self) -> None:
        """An empty line: a group that lies in no other begins below one."""
        self._has_blanks = self._opens = True

    def interrupt(self) -> None:
        """A line that cannot be mocha's."""
        self._opens = False

    @property
    def is_open(self) -> bool:
        """Whether results are there, and no totals."""
        return any(self._run.rows.values()) and not self._totals

    def feed(self, line: str) -> bool:
        """One line; whether it closes a run."""
        if line[0] != " ":
            return False
        if total := _TOTAL.match(line):
            first = total[2] == "passing"
            if first:
                self.close()
            if first or self._totals:
                self._totals[total[2]] = int(total[1])
            return first
        if not (self._totals and (self._list(line) or self._totals.get("failing"))):
            self._tree(line)
        return False

    def _tree(self, line: str) -> None:
        opens, self._opens = self._opens or not self._has_blanks, False
        if row := _ROW.match(line):
            if self._totals:
                self.close()
            depth = len(row[1]) // 2
            del self._path[depth - 1 :]
            self._opens = depth == 1
            status: Status = "passed" if row[2] else "failed" if row[3] else "skipped"
            title, timed = _LIST_TIME.subn("", row[5]) if depth == 1 else (row[5], 0)
            self._is_list |= bool(timed)
            self._add((*self._path, title), status)
        elif (heading := _HEADING.match(line)) and not _PRINTED.match(heading[2]):
            depth = len(heading[1]) // 2
            if depth <= len(self._path) + 1 and (opens or depth > 1 or not self._path):
                del self._path[depth - 1 :]
                self._path.append(heading[2])

    def _list(self, line: str) -> bool:
        """Whether it is of the list of failures: the groups and the title, each deeper."""
        if listed := _LISTED.match(line):
            self._end_title()
            if int(listed[1]) == len(self._listed) + 1:
                self._titles = [listed[2]]
            return True
        text = line.lstrip(" ")
        if self._titles and len(line) - len(text) == 5 + 2 * len(self._titles):
            self._titles.append(text)
            return True
        self._end_title()
        return False

    def _end_title(self) -> None:
        if self._titles:
            self._titles[-1] = self._titles[-1].removesuffix(":")
            self._listed.append(tuple(self._titles))
            self._titles = []

    def _add(self, titles: tuple[str, ...], status: Status, *, rows: int = 1) -> None:
        *groups, title = titles
        title = _TIME.sub("", title)
        # Of a hook that fails no test below it has run: its group fails as a whole.
        names = groups if groups and _HOOK.match(title) else [*groups, title]
        self._run.add(" > ".join(names), status, rows=rows)

    def close(self) -> None:
        """The list of failures has ended, too: it has their titles whole."""
        self._end_title()
        if not self._totals:
            return
        count_of = self._totals.get
        totals = ResultCounts(
            count_of("passing", 0), count_of("failing", 0), count_of("pending", 0)
        )
        unnamed = self._run.rows["failed"] < totals.failed
        for titles in self._listed:
            in_one_line = _TIME.sub("", " ".join(titles))
            if self._is_list or in_one_line in self._run.names:
                titles = (in_one_line,)
            if unnamed or len(titles) > 1:  # the oldest have all titles in one line
                self._add(titles, "failed", rows=0)
        if len(self._listed) == totals.failed:
            self._run.rows["failed"] = totals.failed
        self._run.close(self.tally, totals)
        self.forget()

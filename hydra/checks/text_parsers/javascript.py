"""The text of jest and of vitest, default and verbose."""

from __future__ import annotations

import re

from hydra.checks.results import ResultCounts, Status
from hydra.checks.text_parsers.tally import Tally, counted

_MARKS: dict[str, Status] = {
    "\u2713": "passed",
    "\u221a": "passed",
    "\u2714": "passed",
    "\u2715": "failed",
    "\u00d7": "failed",
    "\u25cb": "skipped",
    "\u270e": "skipped",
    "\u2193": "skipped",
    "\u25a1": "skipped",
}
# All of them: a title may end like a time, and jest leaves out its own when it was short.
_TIME = re.compile(r"(?: \(\d+(?:\.\d+)? m?s\)){1,4}$")
_COUNT = re.compile(r"(\d{1,9}) (passed|failed|skipped|todo|pending)")

_FILE = re.compile(r" ?(PASS|FAIL) +(\S[^\u25cf]*?\.\w+)(?: \(\d+(?:\.\d+)? m?s\))?$")
_LEAF = re.compile(r"((?:  )+)([\u2713\u221a\u2715\u00d7\u25cb\u270e]) (?:skipped |todo )?(.+)$")
_HEADING = re.compile(r"((?:  )+)(\S.*)$")
_BULLET = re.compile(r"  \u25cf (.+)$")
_NO_TEST = ("Console", "Cannot log after", "Deprecation Warning", "Validation Warning")
_TESTS = re.compile(r"Tests: +(\S.*), \d+ total$")


class _Run:
    """What was read of a run of either, until its totals close it."""

    def __init__(self) -> None:
        self.tally = Tally()
        self._names: dict[str, Status] = {}
        self._suites: set[str] = set()
        self._files: dict[str, Status] = {}
        self._file = ""

    @property
    def is_open(self) -> bool:
        """Whether files are named, and no totals."""
        return bool(self._files)

    def _add(self, file: str, title: str, status: Status) -> None:
        name = f"{file}::{title}"
        if self._names.get(name) != "failed":
            self._names[name] = status

    def _close(self, text: str) -> None:
        self.tally.close(counted(self._names), _totals(text))
        for name, status in self._names.items():
            self.tally.gathered.add(name, status)
        for suite in self._suites:
            self.tally.gathered.add(suite, "failed")
        _files(self.tally, self._files, (*self._names, *self._suites))
        self._names, self._suites, self._files, self._file = {}, set(), {}, ""

    def done(self) -> Tally:
        """What was found; without a closing line it was another tool."""
        return self.tally


class Jest(_Run):
    """Takes jest's lines one by one."""

    starts = "PFT "

    def __init__(self) -> None:
        super().__init__()
        self._path: list[str] | None = None

    def feed(self, line: str) -> None:
        """One line."""
        if line.startswith(("PASS ", "FAIL ", " PASS ", " FAIL ")) and (match := _FILE.match(line)):
            self._file, self._path = match[2], []
            self._files[self._file] = "passed" if match[1] == "PASS" else "failed"
        elif self._file and line.startswith("  \u25cf ") and (bullet := _BULLET.match(line)):
            self._path = None
            self._failure(bullet[1])
        elif self._path is not None:
            self._tree(line, self._path)
        elif line.startswith("Tests: ") and (tests := _TESTS.match(line)):
            self._close(tests[1])
            self._path = None

    def _tree(self, line: str, path: list[str]) -> None:
        if leaf := _LEAF.match(line):
            above = path[: len(leaf[1]) // 2 - 1]
            title = _joined((*above, _TIME.sub("", leaf[3])))
            self._add(self._file, title, _MARKS[leaf[2]])
        elif heading := _HEADING.match(line):
            del path[len(heading[1]) // 2 - 1 :]
            path.append(heading[2])
        else:
            self._path = None

    def _failure(self, title: str) -> None:
        if title == "Test suite failed to run":
            self._suites.add(self._file)
        elif self._files[self._file] == "failed" and not title.startswith(_NO_TEST):
            self._add(self._file, _joined((title,)), "failed")


_ROW = re.compile(r"( +)([\u2713\u2714\u00d7\u2193\u25a1\u276f]) (?:\|[^|]+\| )?(\S.*)$")
_SUITE = re.compile(r"(\S+) {1,2}\((\d{1,9}) tests?( \| .*)?\)(?: \d+(?:\.\d+)?m?s)?(?: .*)?$")
_LATE = re.compile(r" FAIL  (?:\|[^|]+\| )?(\S+) (?:> (.+)|\[ .* \])$")
_RUN = re.compile(r" RUN  v(\d{1,3})\.")
_MORE = r"(?: \((?:retry|repeat) x\d+(?:, (?:retry|repeat) x\d+)?\))*"
# Whole milliseconds, and only those: a title may end in a time of its own.
_TOOK = re.compile(rf"{_MORE}(?: {{1,2}}(\d+)ms)?{_MORE}(?: \d+ MB heap used)?$")
# What is skipped before it begins takes no time; what skips itself says why.
_NOTED = re.compile(r" (?:[01]ms|\d+ms \[[^\[\]]*\])$")
_SLOW = 300
"""Milliseconds over which vitest before 3 says, of a test beside no other, how long it took."""
_VTESTS = re.compile(r" +Tests  (?:(.*) \(\d+\)|no tests)$")


class Vitest(_Run):
    """Takes vitest's lines one by one."""

    starts = " "

    def __init__(self) -> None:
        super().__init__()
        self._times_all = True

    def feed(self, line: str) -> None:
        """One line."""
        if row := _ROW.match(line):
            self._row(len(row[1]), row[2], row[3])
        elif line.startswith(" FAIL  ") and (late := _LATE.match(line)):
            if late[2]:
                self._add(late[1], late[2], "failed")
            else:
                self._suites.add(late[1])
        elif "Tests  " in line and (tests := _VTESTS.match(line)):
            self._close(tests[1] or "")
        elif line.startswith(" RUN  ") and (run := _RUN.match(line)):
            self._times_all = int(run[1]) >= 3

    def _row(self, depth: int, mark: str, text: str) -> None:
        suite = _SUITE.match(text)
        if depth == 1 and suite:
            self._file = suite[1]
            self._files[suite[1]] = "passed" if mark in "\u2713\u2714" else "failed"
            _, failed, skipped = _totals(suite[3] or "")
            counts = ResultCounts(int(suite[2]) - failed - skipped, failed, skipped)
            self.tally.count_file(suite[1], counts)
            return
        status = _MARKS.get(mark)
        if status is None:
            return
        text = self._titled(text, depth, status)
        if depth == 3 and self._file:  # deeper, as of 4, it lacks the names of its groups
            self._add(self._file, text, status)
        elif depth == 1 and " > " in text:
            file, _, title = text.partition(" > ")
            self._add(file, title, status)

    def _titled(self, text: str, depth: int, status: Status) -> str:
        """The title in a row, without what vitest puts after it."""
        if status == "skipped":
            return _NOTED.sub("", text)
        took = _TOOK.search(text)
        unsaid = depth == 1 and not self._times_all
        if took and unsaid and took[1] and int(took[1][:9]) <= _SLOW:
            return text
        return _TOOK.sub("", text)


def _joined(parts: tuple[str, ...]) -> str:
    return " > ".join(parts).replace(" \u203a ", " > ")


def _totals(text: str) -> ResultCounts:
    numbers = {document: int(number) for number, document in _COUNT.findall(text)}
    skipped = sum(numbers.get(term, 0) for term in ("skipped", "todo", "pending"))
    return ResultCounts(numbers.get("passed", 0), numbers.get("failed", 0), skipped)


def _files(tally: Tally, files: dict[str, Status], named: tuple[str, ...]) -> None:
    """A file of which no test is named stands for its tests."""
    spoken = {name.partition("::")[0] for name in named}
    for file, status in files.items():
        if file not in spoken:
            tally.group(file, status)

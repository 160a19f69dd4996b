"""TAP (versions 12 to 14): tape, node-tap, ava, mocha, `node --test`, bats and others."""

from __future__ import annotations

import re

from hydra.checks.results import GatheredTests, ResultCounts, Status
from hydra.checks.text_parsers.tally import OpenGroup, Tally, lost_results

_HEADER = re.compile(r"TAP version 1[2-4]$")
_POINT = re.compile(r"( *)(not )?ok\b(?: +(\d{1,9}))?(.*)$")
_PLAN = re.compile(r"1\.\.(\d{1,9})(?: +#.*)?$")
_DIRECTIVE = re.compile(r"(?:^| )# *(skip|todo)\S*(?: .*)?$", re.IGNORECASE)
_TIMING = re.compile(r" # time=\S+(?: \{)?$")
_SUBTEST = re.compile(r"( *)# Subtest: (.*)$")
_COUNT = re.compile(r"# (tests|suites|fail|cancelled) +(\d{1,9})$")
_SKIPPED = re.compile(r"# SKIP (.+)$")
_TOTAL = re.compile(
    r"# (?:(?:tests|suites|pass|fail|cancelled|skip|skipped|todo|duration_ms) +[\d.]+|ok"
    r"|failed \d+.*|skip: \d+|todo: \d+|time=\S+)$"
)


class Tap:
    """Takes the lines of TAP one by one.

    An assertion belongs to its subtest, or to tape's heading above it, which is then the test; by
    itself it is one, called by its description. Numbers are no names: a new test moves them all.
    """

    starts = "TBon#1 .-"

    def __init__(self) -> None:
        self.tally = Tally()
        self._tests = GatheredTests()
        self._open: list[OpenGroup] = []
        self._heading: OpenGroup | None = None
        self._block: int | None = None
        self._planned: int | None = None
        self._points = 0
        self._results = self._failures = 0
        self._counts: dict[str, int] = {}
        self._nested = self._begun = False

    @property
    def is_open(self) -> bool:
        """Whether more results of a run are to come."""
        ended = self._planned is not None and self._points >= self._planned
        return (self._begun or self._points > 0) and not ended

    def feed(self, line: str) -> None:
        """One line."""
        text = line.lstrip(" ")
        indent = len(line) - len(text)
        if self._quotes(text, indent):
            return
        if point := _POINT.match(line):
            self._point(indent, point)
        elif text.startswith("#"):
            self._comment(line, indent)
        elif indent == 0:
            self._plain(text)

    def _quotes(self, text: str, indent: int) -> bool:
        """Whether it is of a block of details, which may hold anything."""
        if self._block is None:
            self._block = indent if text == "---" and indent else None
        elif text == "..." and indent == self._block:
            self._block = None
            return True
        elif indent < self._block and _POINT.match(text):
            self._block = None  # it was never closed
        return self._block is not None

    def _plain(self, text: str) -> None:
        if _HEADER.match(text):
            self._close()
            self.tally.seen = self._begun = True
        elif plan := _PLAN.match(text):
            self._planned = int(plan[1])
            self.tally.seen |= 0 < self._planned == self._points
        elif text.startswith("Bail out!"):
            self.tally.remarks[text[:200]] = None

    def _comment(self, line: str, indent: int) -> None:
        if subtest := _SUBTEST.match(line):
            self._end_heading()
            self._nested = True
            for group in self._open:
                group.whole = True
            self._open.append(OpenGroup(indent, _titled(subtest[2])))
        elif total := _COUNT.match(line):
            self._counts[total[1]] = int(total[2])
        elif indent or self._open or self._nested:  # node quotes what files print
            return
        elif skipped := _SKIPPED.match(line):
            self._tests.add(skipped[1], "skipped")
        elif not _TOTAL.match(line) and line.startswith("# "):
            self._end_heading()
            self._heading = OpenGroup(0, line[2:])

    def _point(self, indent: int, point: re.Match[str]) -> None:
        text = _TIMING.sub("", point[4]).strip()
        directive = _DIRECTIVE.search(text)
        name = text[: directive.start()].strip() if directive else text
        name = _titled(name.removeprefix("- "))
        status: Status = "skipped" if directive else "failed" if point[2] else "passed"
        self._points += indent == 0
        self._results += 1
        self._failures += status == "failed"
        self._end_cut(indent, name)
        if self._open and self._open[-1].indent == indent and self._open[-1].name == name:
            self._end_subtest(status)
        elif self._open and indent > self._open[-1].indent:
            self._inside(self._open[-1], name, status)
        elif self._heading is not None and indent == 0:
            self._heading.inside.add(status)
        elif indent == 0:
            self._tests.add(name or f"test {point[3] or self._points}", status)

    def _inside(self, group: OpenGroup, name: str, status: Status) -> None:
        """A point of a subtest: its assertion, or beside its tests one that has not been run."""
        if group.whole and name:
            self._tests.add(self._path(name), status)
        else:
            group.inside.add(status)

    def _path(self, *name: str) -> str:
        return " > ".join((*(group.name for group in self._open), *name))

    def _end_cut(self, indent: int, name: str) -> None:
        """The subtests inside of one whose point this is: they have none where their file was
        stopped, by a time limit or a crash."""
        if any(group.indent == indent and group.name == name for group in self._open):
            while self._open[-1].indent > indent:
                self._end_subtest("failed")

    def _end_subtest(self, status: Status) -> None:
        """The point of a whole subtest. Where its own tests are named it is none beside them, but
        for a failure that none of them shows."""
        path = self._path()
        group = self._open.pop()
        inside = f"{path} > "
        shown = any(
            text == "failed" and name.startswith(inside)
            for name, text in (self._tests.statuses.items() if group.whole else ())
        )
        if not group.whole or (status == "failed" and not shown):
            self._tests.add(path, _of(group.inside, status))
        elif group.inside:
            self._tests.add(path, _of(group.inside))

    def _end_heading(self) -> None:
        if self._heading is not None and self._heading.inside:
            self._tests.add(self._heading.name, _of(self._heading.inside))
        self._heading = None

    def _close(self) -> None:
        """One run has ended; without its header it is one where its plan is kept."""
        self._end_heading()
        if self._planned is not None and self._points:
            self.tally.seen = self.tally.seen or self._planned == self._points
            if self._planned > self._points:
                self.tally.remarks[
                    f"{self._planned:,} tests were planned, {self._points:,} ran"
                ] = None
        if self.tally.seen:
            for name, status in self._tests.statuses.items():
                self.tally.gathered.add(name, status)
            self.tally.close(ResultCounts(0, 0, 0), self._lost())
        self._tests = GatheredTests()
        self._open, self._block, self._planned, self._points = [], None, None, 0
        self._results = self._failures = 0
        self._counts, self._nested, self._begun = {}, False, False

    def _lost(self) -> ResultCounts:
        """What its own totals have and its lines do not, whatever was printed between them."""
        count_of = self._counts.get
        failed = count_of("fail", 0) + count_of("cancelled", 0)
        if "suites" not in self._counts:
            return ResultCounts(0, max(0, failed - self._failures), 0)
        named = self._tests.count("failed")
        return lost_results(
            self._results, count_of("tests", 0) + count_of("suites", 0), named, failed
        )

    def done(self) -> Tally:
        """What was found."""
        self._close()
        return self.tally


def _titled(text: str) -> str:
    return text.strip().replace("\\#", "#")


def _of(statuses: set[Status], whole: Status = "passed") -> Status:
    """What assertions come to: one that fails is enough, and skipped is what has none but such."""
    if "failed" in (*statuses, whole):
        return "failed"
    if whole == "skipped" or (statuses and statuses == {"skipped"}):
        return "skipped"
    return "passed"

"""pytest's text: plain, -q, -v, -rA, with xdist, with -s."""

from __future__ import annotations

import re

from hydra.checks.results import ResultCounts, Status
from hydra.checks.text_parsers.tally import Tally

_STATUS: dict[str, Status] = {
    "PASSED": "passed",
    "XPASS": "passed",
    "FAILED": "failed",
    "ERROR": "failed",
    "SKIPPED": "skipped",
    "XFAIL": "skipped",
}
_COUNTED: dict[str, Status] = {
    "passed": "passed",
    "xpassed": "passed",
    "failed": "failed",
    "error": "failed",
    "errors": "failed",
    "skipped": "skipped",
    "xfailed": "skipped",
}
_RESULT = "PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN"
_NODE = r"[^\s\[]*[^\s\[:]::[^\s\[]+(?:\[.*?\])?"
# What follows an id is looked at apart from it: one expression for both would be quadratic.
_VERBOSE = re.compile(rf"({_NODE}) ({_RESULT})(?![^ ])")
_AFTER = re.compile(r"(?: \(.*\))?(?: +\[ *\d+%\])? *$")
_XDIST = re.compile(rf"\[gw\d+\] \[ *\d+%\] ({_RESULT}) (\S.*)$")
_BEGUN = re.compile(r"([^\s\[]*[^\s\[:]::[^\s\[]+(?:\[[^\]]*\]+)?) ")
_LAST = re.compile(rf"({_RESULT})(?: +\[ *\d+%\])?$")
_LATE = re.compile(rf"({_RESULT})(?: \(.*\))?(?: +\[ *\d+%\])?$")
_LISTED = re.compile(r"(PASSED|FAILED|ERROR|XFAIL|XPASS) ([^\s\[]+(?:\[.*?\])?)(?: - .*| )?$")
_SUMMARY = re.compile(
    r"(?:=+ )?((?:\d+ [a-z]+(?: [a-z]+)?(?:, )?)+|no tests ran)"
    r" in \d+(?:\.\d+)?(?:s| seconds)(?: \([\d:]+\))?(?: =+)?$"
)
_COUNT = re.compile(r"(\d{1,9}) (passed|failed|skipped|errors?|xfailed|xpassed|deselected)\b")
_HEADER = "test session starts"
_SECTION = re.compile(r"=+ (?:ERRORS|FAILURES|X?PASSES|XFAILURES|warnings summary.*) =+$")


class Pytest:
    """Takes pytest's lines one by one."""

    starts = ""

    def __init__(self) -> None:
        self.tally = Tally()
        self._kinds: dict[str, set[str]] = {}
        self._begun = ""
        self._listing = False
        self._running = False
        self._quoting = False

    def feed(self, line: str) -> None:
        """One line."""
        if "::" in line and not self._listing and not self._quoting:
            self._verbose(line)
        elif self._begun and (late := _LATE.match(line)):
            self._add(self._begun, late[1])
            self._begun = ""
        elif self._listing and (listed := _LISTED.match(line)):
            self._add(listed[2], listed[1])
        elif " in " in line and (summary := _SUMMARY.match(line)):
            self._summary(summary[1])
        elif "short test summary info" in line and line.startswith("==="):
            self._listing, self._begun, self._quoting = True, "", False
        elif _HEADER in line and line.startswith("==="):
            self._finish()
            self._running = True
        elif line.startswith("===") and _SECTION.match(line):
            self._quoting = True  # from here on, what tests printed is shown

    def _verbose(self, line: str) -> None:
        if (match := _VERBOSE.match(line)) and _AFTER.match(line, match.end()):
            self._begun = ""
            self._add(match[1], match[2])
        elif line.startswith("[gw") and (spread := _XDIST.match(line)):
            self._add(spread[2].rstrip(), spread[1])
        elif begun := _BEGUN.match(line):
            # With -s the test's own output stands between its id and its status.
            self._begun = begun[1]
            if last := _LAST.search(line, max(begun.end(), len(line) - 30)):
                self._add(begun[1], last[1])

    def _add(self, node: str, term: str) -> None:
        self._kinds.setdefault(node, set()).add(term)

    def _summary(self, text: str) -> None:
        numbers = _COUNT.findall(text)
        if not numbers and text != "no tests ran":
            return
        totals = {"passed": 0, "failed": 0, "skipped": 0}
        for number, document in numbers:
            if status := _COUNTED.get(document):
                totals[status] += int(number)
        self._close(ResultCounts(**totals))

    def _close(self, totals: ResultCounts | None) -> None:
        """Ends one session. A test that passed and then failed in its teardown counts once."""
        named = {"passed": 0, "failed": 0, "skipped": 0}
        for node, terms in self._kinds.items():
            if "RERUN" in terms and not terms & {"FAILED", "ERROR"}:
                self.tally.gathered.flaky[node] = None
            for term in terms - {"RERUN"}:
                self.tally.gathered.add(node, _STATUS[term])
                named[_STATUS[term]] += 1
        if totals is not None:
            self.tally.close(ResultCounts(**named), totals)
        self._kinds, self._begun = {}, ""
        self._listing = self._running = self._quoting = False

    def _finish(self) -> None:
        if self._running:
            self.tally.seen = True
            self.tally.remarks["pytest's output ends without its summary"] = None
            self._close(None)

    def done(self) -> Tally:
        """What was found."""
        self._finish()
        return self.tally

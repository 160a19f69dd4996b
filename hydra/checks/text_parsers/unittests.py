"""The text of Python's unittest, and of what prints as it does (Django): -v and short."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hydra.checks.results import ResultCounts, Status
from hydra.checks.text_parsers.tally import Tally, counted

_NAMED = re.compile(
    r"\s*(\S+) \(([^\s()]+)\)(?: [\[(].*?)??( \.\.\. (.*)| \.\.\.|\S*:\d+: \w*Warning: .*)?$"
)
_DESCRIBED = re.compile(r".* \.\.\. (.*)$")
_RESULT = re.compile(
    r"(?:.*[^\w ])?(ok|FAIL|ERROR|skipped ['\"].*|expected failure|unexpected success)$"
)
_HEADING = re.compile(r"(?:FAIL|ERROR|UNEXPECTED SUCCESS): (\S+) \(([^\s()]+)\)")
_RAN = re.compile(r"Ran (\d{1,9}) tests? in \d+(?:\.\d+)?s(?![\w ])")
_VERDICT = re.compile(r"(OK|FAILED|NO TESTS RAN)(?: \(([^()]*)\))?(?![\w ])")
_GROUPS = ("setUpClass", "tearDownClass", "setUpModule", "tearDownModule")
_STATUS: dict[str, Status] = {
    "ok": "passed",
    "FAIL": "failed",
    "ERROR": "failed",
    "unexpected success": "failed",
    "expected failure": "skipped",
}


class Unittest:
    """Takes unittest's lines one by one."""

    starts = ""

    def __init__(self) -> None:
        self.tally = Tally()
        self._names: dict[str, Status] = {}
        self._listed: dict[str, None] = {}
        self._groups: set[str] = set()
        self._begun = self._titled = ""
        self._ran = -1

    def feed(self, line: str) -> None:
        """One line."""
        if self._ran >= 0 and (verdict := _VERDICT.match(line)):
            self._close(verdict[2] or "")
            self._ran = -1
        elif line.startswith("Ran ") and (ran := _RAN.match(line)):
            self._ran = int(ran[1])
        elif ": " in line and (heading := _HEADING.match(line)):
            self._add(self._identity(heading[1], heading[2]), "failed")
        elif "(" in line and self._takes(line):
            pass
        elif self._begun or self._titled:
            self._late(line)

    def _takes(self, line: str) -> bool:
        """A test by its name, with or without its result.

        3.9 leaves a test with subtests without a result and puts the next one on its line, so
        the last of them is looked for first.
        """
        if line.count(" ... ") > 1:
            front, _, result = line.rpartition(" ... ")
            name = front.rpartition(" ... ")[2]
            if self._named(f"{name} ... {result}"):
                return True
        return self._named(line)

    def _named(self, line: str) -> bool:
        match = _NAMED.match(line)
        if match is None or "." not in match[2]:
            return False
        if match[3] is None:  # what it is about comes on the next line; else it is what code logs
            self._titled = self._identity(match[1], match[2])
            return True
        self._begin(self._identity(match[1], match[2]))
        rest = match[4] or ""
        if rest and (result := _RESULT.match(rest)):
            self._add(self._begun, _status(result[1]))
            if rest == result[1]:
                self._begun = ""
        return True

    def _begin(self, name: str) -> None:
        self._begun, self._titled = name, ""
        self._listed[name] = None

    def _late(self, line: str) -> None:
        described = _DESCRIBED.match(line)
        if self._titled and (described or line.endswith(" ...")):
            self._begin(self._titled)
        self._titled = ""
        result = _RESULT.match(described[1] if described else line) if self._begun else None
        if result:
            self._add(self._begun, _status(result[1]))
            self._begun = ""

    def _identity(self, name: str, place: str) -> str:
        if place.startswith("unittest.loader._FailedTest"):
            return name
        if name in _GROUPS:
            self._groups.add(place)
            return place
        return place if place.endswith(f".{name}") else f"{place}.{name}"

    def _add(self, name: str, status: Status) -> None:
        if self._names.get(name) != "failed":
            self._names[name] = status

    def _close(self, details: str) -> None:
        numbers = dict(_details(details))
        skipped = numbers.get("skipped", 0) + numbers.get("expected failures", 0)
        tests = {name: text for name, text in self._names.items() if name not in self._groups}
        failing = sum(
            numbers.get(term, 0) for term in ("failures", "errors", "unexpected successes")
        )
        silent = self._listed.keys() - self._names.keys() - self._groups
        if len(tests) + len(silent) == self._ran and failing + skipped == sum(
            status != "passed" for status in self._names.values()
        ):
            # Another thread has written on their lines, between their name and its end.
            tests |= dict.fromkeys(silent, "passed")
            self._names |= dict.fromkeys(silent, "passed")
        if len(tests) < self._ran:
            outside = len(self._names) - len(tests)
            passed = max(0, self._ran - max(0, failing - outside) - skipped)
            totals = ResultCounts(passed, failing, skipped)
            self.tally.close(counted(self._names), totals)
        for name, status in self._names.items():
            self.tally.gathered.add(name, status)
        self.tally.seen = True
        self._names, self._listed, self._groups, self._begun = {}, {}, set(), ""

    def done(self) -> Tally:
        """What was found; tests without a closing line are not unittest's."""
        return self.tally


def _status(term: str) -> Status:
    return "skipped" if term.startswith("skipped") else _STATUS[term]


def _details(text: str) -> Iterator[tuple[str, int]]:
    for part in text.split(", "):
        term, _, number = part.partition("=")
        if number.isascii() and number.isdigit() and len(number) < 10:
            yield term, int(number)

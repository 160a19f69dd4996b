"""The text of `cargo test` (several binaries, doc tests, -q) and of cargo-nextest."""

from __future__ import annotations

import re

from hydra.checks.results import ResultCounts, Status
from hydra.checks.text_parsers.tally import Tally, counted

_RUNNING = re.compile(
    r"\s+Running (?:unittests )?(?:(\S+) \()?(?:\S*/)?([^\s/]+?)-[0-9a-f]{16}(?:\.exe)?\)?$"
)
_DOCTESTS = re.compile(r"\s+Doc-tests (\S+)$")
_TEST = re.compile(r"test (\S+(?: - .+? \(line \d+\))?)(?: - [a-z ]+?)? \.\.\. (.*)$")
_DONE = re.compile(r"(ok|FAILED|ignored(?:, .*)?)(?: <[\d.]+s>)?$")
_LISTED = re.compile(r"    (\S+(?: - .+ \(line \d+\))?)$")
_RESULT = re.compile(
    r"test result: (?:ok|FAILED)\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored;"
)
_CRASH = re.compile(r"error: test failed, to rerun pass|error: \d+ targets? failed:|\s*Caused by:")
_LINE = re.compile(r" \(line (\d+)\)")
_STATUS: dict[str, Status] = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}


class Cargo:
    """Takes the lines of `cargo test` one by one."""

    starts = "trfeoFi "

    def __init__(self) -> None:
        self.tally = Tally()
        self._prefix = ""
        self._names: dict[str, Status] = {}
        self._begun = ""
        self._running = False
        self._list = ""

    def feed(self, line: str) -> None:
        """One line."""
        if line.startswith("test "):
            self._test(line)
        elif self._begun and (late := _DONE.match(line)):
            self._add(self._begun, late[1])
            self._begun = ""
        elif self._list and self._failures(line):
            pass
        elif line.startswith("running ") and line.endswith((" tests", " test")):
            self._running = True
        elif self._running and line == "failures:":
            self._list = "begun"
        elif line[:1] == " " and ("Running " in line or "Doc-tests " in line):
            self._binary(line)
        elif line.startswith("error: ") and _CRASH.match(line):
            self._crashed()

    def _binary(self, line: str) -> None:
        if match := _RUNNING.match(line):
            self._crashed()
            path, name = match[1] or "", match[2]
            stem = path.rpartition("/")[2].removesuffix(".rs")
            self._prefix = path if stem == name else f"{name} {path}".strip()
        elif match := _DOCTESTS.match(line):
            self._crashed()
            self._prefix = f"{match[1]} doc"

    def _test(self, line: str) -> None:
        if result := _RESULT.match(line):
            self._close(ResultCounts(*(int(number) for number in result.groups())))
        elif match := _TEST.match(line):
            if done := _DONE.match(match[2]):
                self._add(match[1], done[1])
            else:
                self._begun = match[1]

    def _failures(self, line: str) -> bool:
        """The closing list of names; the one before it holds the tests' own output."""
        if listed := _LISTED.match(line):
            self._add(listed[1], "FAILED")
            self._list = "names"
            return True
        self._list = ""
        return False

    def _add(self, name: str, term: str) -> None:
        if self._names.get(name) != "failed":
            self._names[name] = _STATUS[term.partition(",")[0]]

    def _close(self, totals: ResultCounts | None) -> None:
        for raw, name in _without_lines(self._names).items():
            whole = f"{self._prefix}::{name}" if self._prefix else name
            self.tally.gathered.add(whole, self._names[raw])
        if totals is not None:
            self.tally.close(counted(self._names), totals)
        self._names, self._begun, self._list = {}, "", ""
        self._running = False

    def _crashed(self) -> None:
        """A binary that died took its other tests along: it failed as a whole."""
        if not self._running:
            return
        self._close(None)
        self.tally.seen = True
        self.tally.remarks["a test binary of cargo's ended without its result"] = None
        if self._prefix:
            self.tally.gathered.add(self._prefix, "failed")

    def done(self) -> Tally:
        """What was found."""
        if self._names:
            self._crashed()
        return self.tally


def _without_lines(names: dict[str, Status]) -> dict[str, str]:
    """Doc tests by their item: the line moves with every edit, so it only gives their order."""
    lines = {name: int(match[1][:9]) for name in names if (match := _LINE.search(name))}
    taken: dict[str, int] = {}
    values = {name: name for name in names if name not in lines}
    for name in sorted(lines, key=lambda name: lines[name]):
        item = _LINE.sub("", name)
        taken[item] = taken.get(item, 0) + 1
        values[name] = item if taken[item] == 1 else f"{item} #{taken[item]}"
    return values


_NEXTEST = re.compile(
    r"\s+(?:TRY (\d+) )?(PASS|FAIL|ABORT|TIMEOUT|SIG[A-Z]+|LEAK|SKIP)(?:-\w+)?"
    r" \[[ >\d.]+s\] (?:\(\S+\) +)?(\S+) (\S+)$"
)
_SUMMARY = re.compile(r"\s+Summary \[[ \d.]+s\] +\d+(?:/\d+)? tests? run: ")


class Nextest:
    """Takes the lines of `cargo nextest run` one by one; ids as in its JUnit file."""

    starts = " "

    def __init__(self) -> None:
        self.tally = Tally()
        self._tries: dict[str, list[str]] = {}

    def feed(self, line: str) -> None:
        """One line."""
        if " [" not in line:
            return
        if match := _NEXTEST.match(line):
            self._tries.setdefault(f"{match[3]}::{match[4]}", []).append(match[2])
        elif _SUMMARY.match(line):
            self.tally.seen = True

    def done(self) -> Tally:
        """What was found: the last try decides, and an earlier failure makes it flaky."""
        for name, terms in self._tries.items():
            if terms == ["SKIP"] * len(terms):
                self.tally.gathered.add(name, "skipped")
            elif "PASS" in terms or "LEAK" in terms:
                self.tally.gathered.add(name, "passed")
                if not {"PASS", "LEAK"}.issuperset(terms):
                    self.tally.gathered.flaky[name] = None
            else:
                self.tally.gathered.add(name, "failed")
        return self.tally

"""What test runners print, to `Tests`.

Read are pytest, unittest, `cargo test`, cargo-nextest, `go test`, jest, vitest and TAP. Text is the
weaker witness: a test may print anything, also a runner's own words. It is read line by line, in
linear time, and what a tool only counts is not made into names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from hydra.checks.ids import stable
from hydra.checks.results import GatheredTests, ResultCounts, Status, TestCase, Tests
from hydra.checks.text_parsers.cargo import Cargo, Nextest
from hydra.checks.text_parsers.golang import Go
from hydra.checks.text_parsers.javascript import Jest, Vitest
from hydra.checks.text_parsers.lines import cleaned, each_line, shortened
from hydra.checks.text_parsers.pytests import Pytest
from hydra.checks.text_parsers.tally import Tally
from hydra.checks.text_parsers.tap import Tap
from hydra.checks.text_parsers.unittests import Unittest

_NOTHING = re.compile(
    rb"^(?:=+ )?(?:no tests ran in |\d+ deselected in \d|NO TESTS RAN$|Ran 0 tests in "
    rb"|No tests found, exiting with code |No test files found, exiting with code "
    rb"|error: no tests to run|No tests were found!!!|DONE 0 tests"
    rb"|\?   \t\S+\t\[no test files\]$|ok  \t\S+\t.*\[no tests to run\]$"
    rb"|go: warning: .* matched no packages|no packages to test|running 0 tests$"
    rb"|1\.\.0(?: +#.*)?$)",
    re.MULTILINE,
)


def read_text(output: bytes, roots: Sequence[str] = ()) -> Tests | None:
    """The tests of `output`, ids relative to `roots`; None where no tool was recognised.

    Several tools in one output are added up.
    """
    text, gap = shortened(cleaned(output))
    readers = (Pytest(), Unittest(), Cargo(), Nextest(), Go(), Jest(), Vitest(), Tap())
    _feed(readers, text)
    tallies = [tally for reader in readers if (tally := reader.done()).seen]
    if not tallies:
        return None
    remarks = [f"{gap:,} lines in the middle of the output were not looked at"] if gap else []
    return _together(tallies, remarks, roots)


class _Reader(Protocol):
    """Takes the lines of one tool; `starts` are the characters they begin with, "" for any."""

    starts: str

    def feed(self, line: str) -> None: ...

    def done(self) -> Tally: ...


def _feed(readers: Sequence[_Reader], text: bytes) -> None:
    """Each line to the readers that may want it: most of a long output is of no tool."""
    any_start = tuple(reader.feed for reader in readers if not reader.starts)
    by_start = {
        char: tuple(reader.feed for reader in readers if char in reader.starts or not reader.starts)
        for char in {char for reader in readers for char in reader.starts}
    }
    for line in each_line(text):
        if line and not line.isspace():
            for feed in by_start.get(line[0], any_start):
                feed(line)


def found_no_tests(output: bytes, exit_code: int | None) -> bool:
    """Whether the run says that it found no test at all, with whatever exit code it said so."""
    text, _ = shortened(cleaned(output))
    tests = read_text(text)
    if tests is not None and (tests.cases or tests.total):
        return False
    if _NOTHING.search(text):
        return True
    # Both pytest and unittest (3.12 on) mean no tests by 5; with -qq pytest says no more.
    return exit_code == 5 and (tests is not None or not text.strip())


def _together(tallies: list[Tally], remarks: list[str], roots: Sequence[str]) -> Tests:
    gathered = GatheredTests()
    unnamed: set[Status] = set()
    counts = ResultCounts(0, 0, 0)
    names = stable((name for tally in tallies for name in tally.gathered.statuses), roots)
    for tally in tallies:
        for name, status in tally.gathered.statuses.items():
            gathered.add(names[name], status)
        for name in tally.gathered.flaky:
            gathered.flaky[names.get(name, name)] = None
        unnamed |= tally.unnamed
        counts = ResultCounts(*(a + b for a, b in zip(counts, tally.counts(), strict=True)))
        remarks += [*tally.remarks, *tally.gathered.remarks()]
    statuses = gathered.statuses
    return Tests(
        source="text",
        cases=tuple(TestCase(name, status) for name, status in statuses.items()),
        remarks=tuple(remarks),
        counts=counts if unnamed else None,
        unnamed=frozenset(unnamed),
        flaky=tuple(name for name in gathered.flaky if statuses.get(name) == "passed"),
    )

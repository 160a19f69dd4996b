"""What test runners print, to `Tests`.

Read are pytest, unittest, `cargo test`, cargo-nextest, `go test`, jest, vitest, mocha, ava, bun,
deno, `node --test` and TAP. Text is the weaker witness: a test may print anything, also a runner's
own words. It is read line by line, in linear time, and what a tool only counts is not made into
names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hydra.checks.results import GatheredTests, ResultCounts, Status, TestCase, Tests
from hydra.checks.text_parsers.lines import cleaned, each_line, shortened
from hydra.checks.text_parsers.sections import Section, sections_of

_NOTHING = re.compile(
    rb"^(?:=+ )?(?:no tests ran in |\d+ deselected in \d|NO TESTS RAN$|Ran 0 tests in "
    rb"|No tests found, exiting with code |No test files found, exiting with code "
    rb"|error: no tests to run|No tests were found!!!|DONE 0 tests"
    rb"|\?   \t\S+\t\[no test files\]$|ok  \t\S+\t.*\[no tests to run\]$"
    rb"|go: warning: .* matched no packages|no packages to test|running 0 tests$"
    rb"|Error: No test files found: |No tests found!$|error: No test modules found$"
    rb"|  \xe2\x9c\x98 (?:Couldn\S{1,3}t find any files to test|No tests found in )"
    rb"|1\.\.0(?: +#.*)?$)",
    re.MULTILINE,
)


def read_text(output: bytes, roots: Sequence[str] = ()) -> Tests | None:
    """The tests of `output`, ids relative to `roots`; None where no tool was recognised.

    Several tools in one output are added up.
    """
    text, gap = shortened(cleaned(output))
    sections = sections_of(each_line(text))
    if not any(section.tallies for section in sections):
        return None
    remarks = [f"{gap:,} lines in the middle of the output were not looked at"] if gap else []
    return _together(sections, remarks, roots)


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


def _together(sections: Sequence[Section], remarks: list[str], roots: Sequence[str]) -> Tests:
    gathered = GatheredTests()
    files: dict[str, ResultCounts | None] = {}
    unnamed: set[Status] = set()
    counts = ResultCounts(0, 0, 0)
    for section in sections:
        names = section.named(gathered.statuses, roots)
        for tally in section.tallies:
            for name, status in tally.gathered.statuses.items():
                gathered.add(names[name], status)
            for name in tally.gathered.flaky:
                gathered.flaky[names.get(name, name)] = None
            for raw, number in tally.files.items():
                files[names[raw]] = None if names[raw] in files else number
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
        files={file: number for file, number in files.items() if number is not None},
    )

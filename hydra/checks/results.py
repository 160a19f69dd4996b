"""What a check's tests came to: one status a test, and a run held against another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from msgspec import Struct

Status = Literal["passed", "failed", "skipped"]

STATUSES: tuple[Status, ...] = ("passed", "failed", "skipped")

CASES = 200_000
"""Tests of one run that are kept; what is more is counted in a remark."""


class TestCase(Struct, frozen=True, array_like=True):
    """One test: its id in its tool's own words, the same from run to run, and how it ended; a pair
    in a document."""

    __test__ = False  # pytest takes every Test... for one of its own

    id: str
    status: Status


class ResultCounts(NamedTuple):
    """How many tests ended how."""

    passed: int
    failed: int
    skipped: int


@dataclass(frozen=True)
class Tests:
    """The tests of one run of a check.

    `source` is "junit" or "text". `counts` is set where the tool counts more tests than it names
    (`pytest -q`); `unnamed` then holds the statuses whose ids are not all in `cases`. `flaky` are
    the ids that failed and then passed within this one run, by the tool's own retries; their
    status is passed. `remarks` are sentences on what was left out or is damaged. `unserved` are the
    reasons of those that were skipped for lack of a service, one for each. `files` counts the tests
    of each file, where the tool does (vitest).
    """

    __test__ = False

    source: str
    cases: tuple[TestCase, ...]
    remarks: tuple[str, ...] = ()
    counts: ResultCounts | None = None
    unnamed: frozenset[Status] = frozenset()
    flaky: tuple[str, ...] = ()
    unserved: tuple[str, ...] = ()
    files: Mapping[str, ResultCounts] = field(default_factory=dict)

    @cached_property
    def by_id(self) -> Mapping[str, Status]:
        """Each named test's status."""
        return {case.id: case.status for case in self.cases}

    @cached_property
    def _counted(self) -> ResultCounts:
        if self.counts is not None:
            return self.counts
        mapping = Counter(case.status for case in self.cases)
        return ResultCounts(*(mapping[status] for status in STATUSES))

    @property
    def passed(self) -> int:
        """How many passed."""
        return self._counted.passed

    @property
    def failed(self) -> int:
        """How many failed; what could not be set up or collected is among them."""
        return self._counted.failed

    @property
    def skipped(self) -> int:
        """How many were not run, or were expected to fail and did."""
        return self._counted.skipped

    @property
    def counts_skipped(self) -> bool:
        """Whether it says how many were not run: plain `go test` does not, whatever was skipped."""
        return "skipped" not in self.unnamed or self.skipped > 0

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self._counted)


class Comparison(Struct, frozen=True):
    """One run's tests against the baseline's, each id in one list at most.

    `fixed`: failed on the base, passes now (of a file that failed as a whole: its tests run and
    none fails). `broken`: passed on the base, fails now, or cannot
    run since what holds it fails as a whole (a file that no longer imports). `new` passes or is
    skipped and did not run on the base, `new_failing` fails and did not. `vanished`: on the base
    and not here. `skipped`: ran on the base, not run now, or failed as expected. `flaky`: failed
    and passed with the same code. `unknown`: on the base, and this run's output names too little to
    tell. `cut_off`: tests that the base has and did not come to; `new_tests` tells them from those
    that are new.
    `breaks_nothing`: each test that passed on the base passes now or is flaky, as far as both
    runs name or count their tests; where they leave a doubt it is false.
    """

    fixed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    still_failing: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    new_failing: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    cut_off: tuple[str, ...] = ()
    breaks_nothing: bool = True


_BAD: Mapping[Status, int] = {"passed": 0, "skipped": 1, "failed": 2}


@dataclass
class GatheredTests:
    """Tests as they are found; of two statuses for one id the worse one stands.

    Worse is failed over skipped over passed: nobody gains by giving two tests one name.
    """

    statuses: dict[str, Status] = field(default_factory=dict)
    flaky: dict[str, None] = field(default_factory=dict)
    left_out: int = 0

    def add(self, name: str, status: Status) -> None:
        """Takes one test in."""
        text = self.statuses.get(name)
        if text is None:
            if len(self.statuses) >= CASES:
                self.left_out += 1
                return
            self.statuses[name] = status
        elif _BAD[status] > _BAD[text]:
            self.statuses[name] = status

    def count(self, status: Status) -> int:
        """How many named tests have `status`."""
        return sum(text == status for text in self.statuses.values())

    def remarks(self) -> tuple[str, ...]:
        """What is to be said of the tests that were left out."""
        if not self.left_out:
            return ()
        return (f"{self.left_out:,} results beyond the first {CASES:,} tests were left out",)

"""What a patch asks of a test of the base that its own code fails: an honest change, or a cheat.

A fix often changes what an old test expects. So does a patch that makes room for what the code
did before. What tells them apart is run, not read: what the patch asks now fails on the base, and
the other patches that do the task do not speak for the base's version (docs/why/selection.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from hydra.analysis.equivalence.groups import Group
from hydra.analysis.patch import Finding
from hydra.checks.comparison import is_file
from hydra.ranking.gates import ASSERTION_REMOVED, LOSSES, is_about, tests_of
from hydra.ranking.model import CrossTest, Reason
from hydra.ranking.results import LaneResults
from hydra.text import joined, quoted_names


class Demand(Struct, frozen=True):
    """Of one lane. `tests` are the base's that do not speak against it, each with the lanes that
    ask the same of it by what their code does; `alone` those of them in which they are too few,
    `looser` those that it need not have changed for what it asks now, `outdated` those of which it
    may delete what it likes."""

    tests: Mapping[str, Sequence[str]]
    alone: frozenset[str]
    looser: frozenset[str]
    outdated: frozenset[str] = frozenset()

    @property
    def agreed(self) -> bool:
        """Whether enough others agree with all of it."""
        return bool(self.tests) and not self.alone

    def weakest(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """The tests that it stands on least, and who agrees with each of these."""
        tests = sorted(self.alone or self.tests)
        agree = {*min((self.tests[test] for test in tests), key=len)}
        return frozenset(test for test in tests if {*self.tests[test]} == agree), tuple(
            sorted(agree)
        )


def contradicted(mine: LaneResults) -> frozenset[str]:
    """Tests that passed on the base, that pass by the patch's version of them, and that fail with
    it by the base's."""
    fails = mine.tests_alone.fails.items()
    return frozenset(name for name, failed_before in fails if not failed_before)


def idles(mine: LaneResults, rows: Sequence[CrossTest]) -> bool | None:
    """Whether it acts as the base in all that was tried; None where nothing was that tells."""
    mended = mine.turned or mine.whole.mends
    if mended or mine.broken or mine.gone or contradicted(mine):
        return False
    cells = [row.cells.get(mine.lane.lane) for row in rows if _asks_more(row)]
    if any(cell in ("passed", "own") for cell in cells):
        return False
    return True if "failed" in cells or mine.failing else None


def _asks_more(row: CrossTest) -> bool:
    return row.base == "failed" and row.says != "flaky"


class Demands(Struct, frozen=True, kw_only=True):
    """All lanes' demands, held against each other.

    `witnesses` do the task as far as was tried and nothing speaks against them but what they ask
    of old tests; nothing speaks against the `unsure` either, and they act as the base;
    `suspected` are the tests of which a patch's text shows that they ask something else; `refused`
    are held back by more than their checks, and speak for no change; `findings` are what reading a
    patch shows: one whose code gives what tests expect speaks for no old test. `place` says of
    each lane how well it does in all else, more is better; lanes of one group of `same` are one.
    """

    standings: Mapping[str, LaneResults]
    rows: Sequence[CrossTest]
    witnesses: Collection[str]
    unsure: Collection[str]
    suspected: Mapping[str, Collection[str]]
    refused: Collection[str]
    findings: Mapping[str, Sequence[Finding]]
    place: Mapping[str, tuple[float, ...]]
    same: Sequence[Group]

    def of_all(self) -> Mapping[str, Demand]:
        """By lane; lanes that contradict no test are not there."""
        lanes = [lane for lane in self.standings if contradicted(self.standings[lane])]
        rows = {lane: frozenset(self._standing_tests(lane)) for lane in lanes}
        return {
            lane: self._demand(
                lane, [test for test in tests if not self._is_outvoted(lane, test, rows)]
            )
            for lane, tests in rows.items()
        }

    def _demand(self, lane: str, tests: Sequence[str]) -> Demand:
        support = {test: self._support(lane, test) for test in tests}
        needed = {test: max(1, len(self._doubters(lane, test))) for test in tests}
        # Who has the test no more acts alike, and has not said what it should expect.
        voices = {
            test: [name for name in support[test] if _runs(self.standings[name], test)]
            for test in tests
        }
        return Demand(
            tests={test: (*support[test], *self._besides(lane, test)) for test in tests},
            alone=frozenset(test for test in tests if len(voices[test]) < needed[test]),
            looser=frozenset(test for test in tests if self._is_needless(lane, test)),
            outdated=frozenset(test for test in tests if self._is_outdated(lane, test)),
        )

    def _is_outdated(self, lane: str, test: str) -> bool:
        """Whether it may go: more of the others contradict the test than pass it and do the task,
        and no fewer than may do it. The word of the lane alone is no reason, for nothing is as
        cheap as to delete a test; nor is it one of a lane that asks nothing more than the base."""
        if not any(row.author == lane and _asks_more(row) for row in self.rows):
            return False
        witnesses = self._others(lane, self.witnesses)
        passing = [witness for witness in witnesses if not self._fails(witness, test)]
        agreeing = len(self._contradicting(lane, test))
        return agreeing > len(passing) and agreeing >= len(self._doubters(lane, test))

    def _doubters(self, lane: str, test: str) -> list[str]:
        """Who passes the base's version, and has failed no new test but such changed ones: it may
        do the task as well, though nothing has told it from the base."""
        rows = [row for row in self.rows if _asks_more(row) and not row.changed]
        failing = {name for row in rows for name, cell in row.cells.items() if cell == "failed"}
        able = [name for name in self.unsure if name not in failing and not self._fails(name, test)]
        return self._others(lane, able)

    def _standing_tests(self, lane: str) -> Iterator[str]:
        """Tests of which its demand stands against the base's."""
        for test in contradicted(self.standings[lane]):
            if self._is_verified(lane, test):
                if not self._is_refuted(lane, test):
                    yield test
            elif test not in self.suspected[lane]:
                yield test  # a helper may be another, or a snapshot: that is a person's to say
            elif self._is_common(lane, test) or self._is_outdated(lane, test):
                yield test

    def _is_verified(self, lane: str, test: str) -> bool:
        """Whether what it asks now fails on the base."""
        return any(row.base == "failed" for row in self._rows_of(lane, test))

    def _is_needless(self, lane: str, test: str) -> bool:
        """Whether what it asks now passes on the base, or on another patch that does the task and
        that passes the base's version as well: the two do not exclude each other."""
        rows = self._rows_of(lane, test)
        return not self._is_verified(lane, test) or any(
            not self._fails(other, test)
            and all(row.cells.get(other) in ("passed", "own") for row in rows)
            for other in self._others(lane, self.witnesses)
        )

    def _rows_of(self, lane: str, test: str) -> list[CrossTest]:
        """Its version of a test; where that is gone, its rows of the same function or class."""
        mine = [row for row in self.rows if row.author == lane and row.says != "flaky"]
        mine = [row for row in mine if not is_file(row.id)]  # an import that is new asks nothing
        if _runs(self.standings[lane], test):
            return [row for row in mine if row.id == test]
        function, group = _function(test), _group(test)
        same = [row for row in mine if _function(row.id) == function]
        return same or [row for row in mine if _group(row.id) == group]

    def _is_common(self, lane: str, test: str) -> bool:
        """Whether at least half of those who do the task contradict the test as well."""
        others = self._others(lane, self.witnesses)
        return bool(others) and 2 * sum(self._fails(other, test) for other in others) >= len(others)

    def _is_refuted(self, lane: str, test: str) -> bool:
        """Whether those who do the task speak for the base's version: more of them than for the
        new one, or as many of whom one is not behind in all else."""
        agree = self._agree(lane, test)
        against = [
            other
            for other in self._others(lane, self.witnesses)
            if other not in agree and not self._is_literal(other) and not self._fails(other, test)
        ]
        worse = [other for other in against if self.place[other] >= self.place[lane]]
        return len(against) > 1 + len(agree) or bool(worse and len(against) >= 1 + len(agree))

    def _is_literal(self, lane: str) -> bool:
        return any(finding.kind == "hard_coded" for finding in self.findings[lane])

    def _is_outvoted(self, lane: str, test: str, rows: Mapping[str, Collection[str]]) -> bool:
        """Whether another lane asks something else of the same test, and more agree with it."""
        mine = len(self._agree(lane, test))
        return any(
            len(self._agree(rival, test)) > mine
            for rival, tests in rows.items()
            if rival != lane and test in tests and self._fails_version(lane, rival, test)
        )

    def _fails_version(self, lane: str, author: str, test: str) -> bool:
        return any(row.cells.get(lane) == "failed" for row in self._rows_of(author, test))

    def _support(self, lane: str, test: str) -> list[str]:
        """Who agrees with its version; where that asks nothing that fails on the base, who
        contradicts the base's as well."""
        if self._is_verified(lane, test):
            return self._agree(lane, test)
        others = self._contradicting(lane, test)
        return [other for other in others if not self._asks_other(lane, other, test)]

    def _besides(self, lane: str, test: str) -> list[str]:
        """Who asks and does the same of it, and whose own checks hold it back for another test: it
        is named, and is no voice."""
        rows = self._rows_of(lane, test)
        return [
            other
            for other in self.standings
            if other not in (lane, *self.witnesses, *self.refused)
            and self._is_whole(other)
            and not self._only_breaks(other, contradicted(self.standings[lane]))
            and test in contradicted(self.standings[other])
            and rows
            and all(row.cells.get(other) in ("passed", "own") for row in rows)
            and not self._asks_other(lane, other, test)
        ]

    def _asks_other(self, lane: str, other: str, test: str) -> bool:
        """Whether the text of another patch has that test ask less, or what its own code or this
        lane's does not do."""
        kinds = {finding.kind for finding in self.findings[other] if is_about(finding, test)}
        if not kinds:
            return False
        runs = (check.tests for check in self.standings[other].lane.checks if check.tests)
        fails = any(tests.by_id.get(test) == "failed" for tests in runs)
        fails = fails or self._fails_version(lane, other, test)
        return fails or ASSERTION_REMOVED in kinds

    def _agree(self, lane: str, test: str) -> list[str]:
        """Who fails the base's version as well, and passes this lane's."""
        rows = self._rows_of(lane, test)
        return [
            other
            for other in self._contradicting(lane, test)
            if rows
            and all(row.cells.get(other) in ("passed", "own") for row in rows)
            and not self._asks_other(lane, other, test)
        ]

    def _contradicting(self, lane: str, test: str) -> list[str]:
        """Who fails the base's version as well: also who left it as it was, and is broken by such
        tests alone."""
        mine = contradicted(self.standings[lane])
        able = [
            standing
            for standing in self.standings
            if standing in self.witnesses or self._only_breaks(standing, mine)
        ]
        return [other for other in self._others(lane, able) if self._fails(other, test)]

    def _only_breaks(self, lane: str, tests: Collection[str]) -> bool:
        """Whether all that speaks against it is that it breaks some of these: it left the tests as
        they were."""
        mine = self.standings[lane]
        broken = {*mine.broken}
        stopped = [check for check in mine.lane.checks if check.held_back]
        named = all(
            result.comparison is not None and result.comparison.broken for result in stopped
        )
        clean = self._is_whole(lane) and named and lane not in self.refused
        return clean and bool(broken) and broken <= {*tests}

    def _is_whole(self, lane: str) -> bool:
        mine = self.standings[lane].lane
        return mine.patch is not None and not mine.ended

    def _others(self, lane: str, of: Collection[str]) -> list[str]:
        """One for each voice but its own."""
        seen = {self._voice(lane)}
        others = []
        for other in of:
            if other != lane and self._voice(other) not in seen:
                seen.add(self._voice(other))
                others.append(other)
        return others

    def _voice(self, lane: str) -> str:
        """One name for all patches that are the same, but for their form."""
        groups = (group.lanes for group in self.same if lane in group.lanes)
        return min(next(groups, (lane,)))

    def _fails(self, lane: str, test: str) -> bool:
        """Whether it fails the base's version. What its own version of a file breaks says nothing
        of the base's, where that was run."""
        mine = self.standings[lane]
        if mine.whole.ends.get(test) == "passed":
            return False
        return test in mine.hidden or test in mine.broken


def decision(
    mine: LaneResults, demand: Demand, findings: Sequence[Finding], *, held_back: bool
) -> Reason | None:
    """What is left to the user where it asks something else of a test than the base; None where it
    does not. Who agrees is not said of one that is `held_back` for more than that: others that are
    as well do not count as agreeing, though they may ask the very same."""
    if not demand.tests:
        return None
    weakest, agree = demand.weakest()
    changes = [
        finding
        for finding in findings
        if (finding.weight == "suspect" or finding.kind in LOSSES)
        and not weakest.isdisjoint(tests_of(finding, mine.tests_alone))
    ]
    first = min(changes, key=lambda change: change.kind not in LOSSES, default=None)
    what = first.text if first else f"{_asks(mine, weakest)} {quoted_names(sorted(weakest))}"
    more = f" (and {len(changes) - 1} more)" if len(changes) > 1 else ""
    who = f"{'only ' * bool(demand.alone)}{joined(agree)}" if agree else "no other patch"
    agreement = "" if held_back else f", and {who} agree{'s' * (len(agree) < 2)}"
    text = f"{what}{more}{agreement}"
    path, line = (first.path, first.line) if first else ("", None)
    return Reason(kind="decision", text=text, path=path, line=line)


def _asks(mine: LaneResults, tests: Collection[str]) -> str:
    """What it does to these, where no text shows it."""
    return (
        "asks something else of" if any(_runs(mine, test) for test in tests) else "no longer runs"
    )


def _runs(mine: LaneResults, test: str) -> bool:
    """Whether the test is still there with it, as it was or as it is now."""
    return any(test in check.tests.by_id for check in mine.lane.checks if check.tests)


def _function(test: str) -> str:
    return test.partition("[")[0] or test


def _group(test: str) -> str:
    """The class or the file that a test lies in; the test itself where its name holds none, and
    where it is a sentence."""
    name = _function(test)
    separators = (" > ",) if " " in name else ("::", ".", "/")
    end = max(name.rfind(separator) for separator in separators)
    return name[:end] if end > 0 else name

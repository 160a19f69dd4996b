"""What a run's raw results say, worked out apart: no code of `hydra.ranking` is used.

Of a check's result only its status and each test's end are read. An end is True, False or None,
which is not known: what did not run, what is flaky, what a tool does not name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from hydra.checks.cross.trial import Trial
from hydra.checks.record import CheckResult, CheckStatus
from hydra.checks.results import Tests
from hydra.ranking.evidence import Evidence, LaneEvidence

End = bool | None

_RAN = (CheckStatus.PASSED, CheckStatus.FAILED)
_WORDS: Mapping[str, bool] = {"passed": True, "failed": False}


class Brought(NamedTuple):
    """A test that a lane brings: a new one, or (`changed`) one of the base's that asks more now."""

    author: str
    check: str
    id: str
    changed: bool = False


def ran(result: CheckResult | None) -> bool:
    """Whether a check came to its end."""
    return result is not None and result.status in _RAN


def is_quiet(result: CheckResult | None) -> bool:
    """Whether it names its failures alone."""
    return result is not None and result.tests is not None and bool(result.tests.unnamed)


def end_of(result: CheckResult | None, id: str) -> End:
    """How a test ended in a check's run, or in the runs of it; None where they differ."""
    if result is None or result.tests is None:
        return None
    ends = {
        _end(result, id)
        for result in (result, result.again)
        if result is not None and result.tests is not None
    }
    return next(iter(ends)) if len(ends) == 1 else None


def _end(result: CheckResult, id: str) -> End:
    assert result.tests is not None
    named = result.tests.by_id
    if id in named:
        return _WORDS.get(named[id])
    if named.get(id.partition("::")[0]) == "failed":  # its file does not import
        return False
    return None


def is_flaky(result: CheckResult | None, id: str) -> bool:
    """Whether a test ended both ways in the two runs of a check."""
    if result is None or result.again is None or not (result.tests and result.again.tests):
        return False
    return {_end_or_quiet(result, id), _end_or_quiet(result.again, id)} == {True, False}


def _end_or_quiet(result: CheckResult, id: str) -> End:
    """What a tool that names its failures alone does not name has passed."""
    end = _end(result, id)
    return True if end is None and is_quiet(result) else end


class Facts:
    """All that is read of one run."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.lanes = {lane.lane: lane for lane in evidence.lanes}
        self.patched = [lane.lane for lane in evidence.lanes if lane.files]
        self.base = {result.check.name: result for result in evidence.baseline}
        self.own = {
            (lane.lane, result.check.name): result
            for lane in evidence.lanes
            for result in lane.checks
        }
        trees = {lane.lane: lane.tree or lane.lane for lane in evidence.lanes}
        self._trials = {
            (trees.get(item.on, ""), item.author, item.result.check.name): item
            for item in evidence.trials
            if item.kind == "cross"
        }
        self._trees = {"": "", **trees}
        self.states: Mapping[str, str] = {}
        self.reasons: Mapping[str, str] = {}

    # Checks of the base on a lane.

    def tests(self, lane: str) -> Iterator[tuple[str, CheckResult, CheckResult]]:
        """The lane's checks that name tests, on the base too: name, the base's, its own."""
        for result in self.lanes[lane].checks:
            base = self.base.get(result.check.name)
            if result.check.kind != "test" or base is None or not (ran(base) and ran(result)):
                continue
            if base.tests is not None and result.tests is not None:
                yield result.check.name, base, result

    def failing(self, check: str) -> list[str]:
        """Tests that failed on the base, and not by chance."""
        base = self.base.get(check)
        if base is None or base.tests is None or not ran(base):
            return []
        ids = [id for id, end in base.tests.by_id.items() if end == "failed"]
        return [id for id in ids if not is_flaky(base, id)]

    def is_of_base(self, check: str, id: str) -> bool:
        """Whether the base has that test."""
        base = self.base.get(check)
        return base is not None and base.tests is not None and id in base.tests.by_id

    def put_back(self, lane: str) -> list[Trial]:
        """The base's own tests on the lane's patch."""
        trials = self.evidence.trials
        return [item for item in trials if item.kind == "protected" and item.on == lane]

    def end(self, lane: str, check: str, id: str) -> End:
        """How a test of the base ends on a lane by the base's version of it; by the lane's own
        where that was not tried."""
        for trial in self.put_back(lane):
            if trial.result.check.name == check and ran(trial.result) and trial.result.tests:
                if is_flaky(trial.result, id):
                    continue
                return self._is_known(trial.result, id)
        own = self.own.get((lane, check))
        return None if own is None else self._is_known(own, id)

    def own_end(self, lane: str, check: str, id: str) -> End:
        """How it ends by the lane's own version."""
        own = self.own.get((lane, check))
        return None if own is None else self._is_known(own, id)

    def _is_known(self, result: CheckResult, id: str) -> End:
        """What is flaky on the base is not known anywhere."""
        return None if is_flaky(self.base.get(result.check.name), id) else end_of(result, id)

    def fixed(self, lane: str, check: str = "") -> list[tuple[str, str]]:
        """Tests that failed on the base, and pass with the lane's patch by the base's version; of
        one that the patch no longer has, by the base's put back."""
        names = [check] if check else [*self.base]
        return [
            (name, id)
            for name in names
            if ran(self.own.get((lane, name)))
            for id in self.failing(name)
            if self.end(lane, name, id)
        ]

    def broken(self, lane: str, *, required: bool = False) -> list[str]:
        """Tests that passed on the base and fail with the lane's patch and its own tests."""
        broken = []
        for _, base, own in self.tests(lane):
            if (required and not own.check.required) or base.tests is None or own.tests is None:
                continue
            named = base.tests.by_id
            if is_quiet(base):
                passed = [id for id in own.tests.by_id if named.get(id) != "failed"]
            else:
                passed = [id for id, end in named.items() if end == "passed"]
            steady = (
                name for name in passed if not is_flaky(base, name) and not is_flaky(own, name)
            )
            broken += [id for id in steady if _end(own, id) is False]
        return broken

    def passed(self, lane: str) -> int:
        """How many tests pass in all of its checks."""
        return sum(
            check.tests.passed for check in self.lanes[lane].checks if check.tests is not None
        )

    # What lanes' tests say of each other's patches.

    @cached_property
    def brought(self) -> list[Brought]:
        """All new and changed tests, lane by lane."""
        return [brought for lane in self.patched for brought in self._of(lane)]

    def _of(self, author: str) -> Iterator[Brought]:
        old = {id for base in self.base.values() if base.tests for id in base.tests.by_id}
        for check, base, own in self.tests(author):
            if base.tests is None or own.tests is None or is_quiet(base):
                continue
            named = base.tests.by_id
            for id, end in own.tests.by_id.items():
                if id.partition("::")[0] == id:
                    continue  # a file, which fails as a whole
                if id not in named or named[id] == "skipped":
                    if end == "failed" or id not in old:
                        yield Brought(author, check, id)
                elif is_flaky(base, id) or is_flaky(own, id):
                    continue
                elif end == "passed" and named[id] == "passed":
                    trial = self._trials.get(("", author, check))
                    ends = trial.result.tests.by_id if trial and trial.result.tests else {}
                    if ends.get(id) == "failed" and _may_ask_more(own.tests, trial, id):
                        yield Brought(author, check, id, changed=True)

    def cell(self, test: Brought, on: str) -> End:
        """How a brought test ends on another's patch, or on the base (""); on its author's own."""
        if on and self._trees[on] == self._trees[test.author]:
            return end_of(self.own[test.author, test.check], test.id)
        trial = self._trials.get((self._trees[on], test.author, test.check))
        return end_of(trial.result, test.id) if trial else None

    def is_unsteady(self, test: Brought) -> bool:
        """Whether it ended both ways on any one patch, or on the base."""
        trials = [
            item for (_, author, check), item in self._trials.items() if (author, check) == test[:2]
        ]
        own = self.own[test.author, test.check]
        base = self.base.get(test.check)
        results = [own, *(item.result for item in trials), *([base] if base else [])]
        return any(is_flaky(result, test.id) for result in results)

    def telling(self) -> list[Brought]:
        """Those that pass on one patch and fail on another, and do not pass on the base."""
        steady = (brought for brought in self.brought if not self.is_unsteady(brought))
        return [
            brought
            for brought in steady
            if self.cell(brought, "") is not True
            and {True, False} <= {self.cell(brought, lane) for lane in self.patched}
        ]

    # Both together.

    def ends(self, lane: str) -> dict[tuple[str, ...], bool]:
        """Every test whose end on a lane's patch is known: the base's by their own version, all
        lanes' new ones, and those that were asked for."""
        values: dict[tuple[str, ...], bool] = {}
        for name, base in self.base.items():
            if self._asks_otherwise(lane, name):
                continue
            for id in base.tests.by_id if base.tests is not None and ran(base) else ():
                end = self.end(lane, name, id)
                if end is not None:
                    values["base", name, id] = end
        for test in self.brought:
            end = None if self.is_unsteady(test) else self.cell(test, lane)
            if end is not None:
                values["cross", test.author, test.check, test.id] = end
        for review_test in self.evidence.review_tests:
            if lane in review_test.ends:
                values["asked", review_test.id] = review_test.ends[lane]
        return values

    def _asks_otherwise(self, lane: str, check: str) -> bool:
        """Whether the lane changes tests or settings, and the base's own were not put back."""
        files = self.lanes[lane].files
        changed = any(
            file.path.endswith("conftest.py") or (file.old is not None and "/" in file.path)
            for file in files
        )
        return changed and not any(
            item.result.check.name == check and ran(item.result) and item.result.tests
            for item in self.put_back(lane)
        )

    def differ(self, name: str, other: str) -> list[tuple[str, ...]]:
        """Tests that end otherwise on two lanes' patches."""
        mine, theirs = self.ends(name), self.ends(other)
        return [test for test in mine.keys() & theirs.keys() if mine[test] != theirs[test]]

    def acts_as_base(self, lane: str) -> bool | None:
        """Whether every check and test that was run on both ends as on the base; None where none
        fails there, so that nothing could tell."""
        fails = 0
        if any(
            not base.passed and (own := self.own.get((lane, name))) is not None and own.passed
            for name, base in self.base.items()
        ):
            return False  # a check that failed there passes, whatever it names
        for name, base in self.base.items():
            for id in base.tests.by_id if base.tests is not None and ran(base) else ():
                before, end = self._is_known(base, id), self.end(lane, name, id)
                if None not in (before, end) and before != end:
                    return False
                fails += before is False and end is False
        for review_test in self.evidence.review_tests:
            end = review_test.ends.get(lane)
            if None not in (review_test.on_base, end) and review_test.on_base != end:
                return False
        for test in self.brought:
            before, end = self.cell(test, ""), self.cell(test, lane)
            if self.is_unsteady(test) or before is None or end is None:
                continue
            if before != end:
                return False
            fails += not before
        return True if fails else None

    def lane(self, name: str) -> LaneEvidence:
        """What is recorded of it."""
        return self.lanes[name]


def _may_ask_more(tests: Tests, trial: Trial | None, id: str) -> bool:
    """Whether its author may have changed it: not where all that he brought are files of other
    tests."""
    files = {name.partition("::")[0] for name in tests.by_id}
    paths = {*trial.paths} if trial else set()
    return not paths or not paths <= files or id.partition("::")[0] in paths

"""What a lane's checks, and the base's own tests on its patch, come to in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hydra.checks.record import CheckResult, Status
from hydra.judge.evidence import Evidence, LaneEvidence, Trial
from hydra.judge.tampering.configuration import configuration
from hydra.judge.tampering.places import is_configuration, is_support
from hydra.judge.tampering.suite import tests_changed

_RAN = (Status.PASSED, Status.FAILED)
_CANNOT = (Status.NO_TESTS, Status.TIMED_OUT, Status.PROGRAM_MISSING)


@dataclass(frozen=True, slots=True, kw_only=True)
class PutBack:
    """The base's own tests on one lane's patch.

    `fails` are ids that fail so and do not fail with the lane's own version of the tests, by
    whether they failed on the base too; `too` those that fail so and with its own. `mends` are
    ids that fail on the base and pass so. `stopped` are sentences of checks that could not run, or
    that failed without naming a test; `undone` the names of the latter. `known` False: it was to
    be tried, and was not to its end.
    """

    trial: Trial | None = None
    fails: Mapping[str, bool] = field(default_factory=dict)
    too: tuple[str, ...] = ()
    mends: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()
    known: bool = True

    @property
    def clean(self) -> bool:
        """Whether nothing of the base's own fails for having been put back."""
        return self.known and not self.fails and not self.stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One lane's. None is unknown.

    `fixed`, `failing` and `gone` are tests that failed on the base, by what became of them;
    `broken` those that passed. `turned` are all that failed on the base and pass, also of checks
    that could be compared beside some that could not; `whole_checks` those of them that are checks
    without tests. `tests_only`: the base's own tests put back; `whole`: what configures them too.
    """

    lane: LaneEvidence
    fixed: tuple[str, ...] | None
    failing: tuple[str, ...]
    gone: tuple[str, ...]
    broken: tuple[str, ...]
    turned: tuple[str, ...]
    whole_checks: tuple[str, ...]
    whole: PutBack
    tests_only: PutBack | None
    build: bool | None
    lint: bool | None

    @property
    def required_failing(self) -> tuple[str, ...]:
        """Of those that fail as on the base, those of required checks."""
        held = [it.comparison for it in self.lane.checks if it.check.required and it.comparison]
        return tuple(name for it in held for name in it.still_failing)

    @property
    def tests(self) -> frozenset[str]:
        """The names of the checks that run tests."""
        return frozenset(it.check.name for it in self.lane.checks if it.check.kind == "test")

    @property
    def unclear(self) -> tuple[str, ...]:
        """What required checks named on the base, and do not name now: it may have passed."""
        held = [it.comparison for it in self.lane.checks if it.check.required and it.comparison]
        return tuple(name for it in held for name in it.unknown)

    @property
    def tests_alone(self) -> PutBack:
        """With the base's own tests put back, and nothing else where that was tried."""
        return self.whole if self.tests_only is None else self.tests_only

    @property
    def hidden(self) -> Mapping[str, bool]:
        """Tests of the base's own that fail once they are put back."""
        return self.whole.fails

    def mended(self) -> int | None:
        """How many of the base's failures it mends; one that is mended in the test alone is not,
        and one whose test goes by another name now is, if it passes once it is put back."""
        tried = self.whole.trial is not None and self.whole.known
        if self.fixed is None:
            return len(self.whole.mends) if tried else None
        if self.gone and not tried and self.touches_tests():
            return None
        undone = {*self.hidden, *self.tests_alone.undone}
        fixed = [name for name in self.fixed if name not in undone]
        return len(fixed) + sum(name not in self.fixed for name in self.whole.mends)

    def touches_tests(self) -> bool:
        """Whether a test that is gone may go by another name now."""
        paths = (file.path for file in self.lane.files)
        return any(is_support(path) or is_configuration(path) for path in paths)


def standing(lane: LaneEvidence, evidence: Evidence) -> Standing:
    """Adds up one lane's checks and trials."""
    tests = [result for result in lane.checks if result.check.kind == "test"]
    compared = [it.comparison for it in tests if it.comparison is not None]
    whole, tests_only = _put_back(lane, evidence)
    whole_checks = tuple(_turned_checks(lane, evidence.baseline))
    return Standing(
        lane=lane,
        fixed=_fixed(tests, evidence.baseline),
        failing=tuple(name for it in compared for name in it.still_failing),
        gone=tuple(_gone(tests, evidence.baseline)),
        broken=tuple(name for it in compared for name in it.broken),
        turned=(*(name for it in compared for name in it.fixed), *whole_checks),
        whole_checks=whole_checks,
        whole=whole,
        tests_only=tests_only,
        build=_passes(lane.checks, "build"),
        lint=_passes(lane.checks, "lint"),
    )


def _fixed(tests: Sequence[CheckResult], baseline: Sequence[CheckResult]) -> tuple[str, ...] | None:
    before = {it.check.name: it for it in baseline}
    found: list[str] = []
    for result in tests:
        base = before.get(result.check.name)
        if base is None or base.status not in _RAN or result.status not in _RAN:
            return None
        if result.comparison is not None:
            found += result.comparison.fixed
        elif base.tests is not None and result.tests is None:
            return None  # what became of the base's tests is not known
        elif result.passed and base.status is Status.FAILED and not _unsteady(base):
            found.append(result.check.name)  # a check that names no tests counts as one
    return tuple(found) if tests else None


def _turned_checks(lane: LaneEvidence, baseline: Sequence[CheckResult]) -> Iterator[str]:
    """Required checks that failed on the base and pass with the patch, and name no test of it."""
    before = {base.check.name: base for base in baseline if base.status is Status.FAILED}
    for result in lane.checks:
        base = before.get(result.check.name)
        if base is None or _unsteady(base) or not (result.check.required and result.passed):
            continue
        if _nameless(base, result) or _silently(base, result):
            yield result.check.name


def _nameless(base: CheckResult, now: CheckResult) -> bool:
    return base.tests is None and now.comparison is None


def _silently(base: CheckResult, now: CheckResult) -> bool:
    """Whether only the counts say that failures are mended: `pytest -q`, as tox runs it, names
    failures alone, so none of the base's is named where all pass."""
    changed, before, after = now.comparison, base.tests, now.tests
    if changed is None or before is None or after is None or changed.fixed:
        return False
    counted = "passed" in after.unnamed and after.failed == 0
    whole = after.total >= before.total and after.skipped <= before.skipped
    whole = whole or not after.counts_skipped  # go test counts packages where all pass
    return counted and whole and changed.breaks_nothing


def _gone(tests: Sequence[CheckResult], baseline: Sequence[CheckResult]) -> Iterator[str]:
    """Tests that failed on the base and that the lane's own run does not run."""
    before = {it.check.name: it.tests.by_id for it in baseline if it.tests is not None}
    for result in tests:
        if (found := result.comparison) is not None:
            was = before.get(result.check.name, {})
            yield from (it for it in (*found.vanished, *found.skipped) if was.get(it) == "failed")


def _unsteady(base: CheckResult) -> bool:
    return base.again is not None and base.again.passed


def _passes(checks: Sequence[CheckResult], kind: str) -> bool | None:
    held = [it for it in checks if it.check.kind == kind]
    if not held or any(it.status not in _RAN for it in held):
        return None
    return all(it.passed for it in held)


def _put_back(lane: LaneEvidence, evidence: Evidence) -> tuple[PutBack, PutBack | None]:
    """With all put back; and with the tests alone, where that was tried beside it."""
    trials = [it for it in evidence.trials if it.kind == "protected" and it.on == lane.lane]
    cut = any(one.kind == "protected" and one.on == lane.lane for one in evidence.not_tried)
    bare = _is_bare(lane, evidence, trials)
    with_configuration = [it for it in trials if it.configuration]
    tests_alone = [it for it in trials if not it.configuration]
    if with_configuration:
        alone = _read(lane, tests_alone) if tests_alone else None
        return _read(lane, with_configuration, bare=bare), alone
    if tests_alone:
        return _read(lane, tests_alone, bare=bare), None
    return PutBack(known=not (bare or cut)), None


def _is_bare(lane: LaneEvidence, evidence: Evidence, trials: Sequence[Trial]) -> bool:
    """Whether a check ran the patch's version of the tests, or of what configures them, and was
    never run with the base's: `hydra check` of a lane, or a race that was stopped before."""
    tried = {trial.result.check.name for trial in trials}
    ran = (it.check for it in lane.checks if it.check.kind == "test" and it.status in _RAN)
    if all(check.name in tried for check in ran):
        return False
    checks = [result.check for result in lane.checks]
    return bool(tests_changed(lane.files) or configuration(lane.files, checks, evidence.paths))


def _read(lane: LaneEvidence, trials: Sequence[Trial], *, bare: bool = False) -> PutBack:
    own = {it.check.name: it for it in lane.checks}
    fails: dict[str, bool] = {}
    too: list[str] = []
    mends: list[str] = []
    stopped: list[str] = []
    undone: list[str] = []
    known = not bare
    for trial in trials:
        mine = own.get(trial.result.check.name)
        if mine is None or mine.status not in (*_RAN, Status.NO_TESTS):
            known = False  # its own tests do not run either: that is told by itself
        elif trial.result.status in _RAN:
            fails |= _fails(trial.result, mine)
            too += _too(trial.result, mine)
            mends += trial.result.comparison.fixed if trial.result.comparison else ()
            if _is_undone(trial.result, mine):
                stopped.append(f"{trial.result.check.name} {trial.result.says}")
                undone.append(trial.result.check.name)
        elif mine.status is Status.NO_TESTS:
            known = False
        elif trial.result.status in _CANNOT:
            stopped.append(f"{trial.result.check.name}: {trial.result.says}")
        else:
            known = False
    return PutBack(
        trial=trials[0],
        fails=fails,
        too=tuple(dict.fromkeys(too)),
        mends=tuple(mends),
        stopped=tuple(stopped),
        undone=tuple(undone),
        known=known,
    )


def _fails(now: CheckResult, own: CheckResult) -> dict[str, bool]:
    """Also what no longer runs so: where a file cannot be imported, a tool may stop for all."""
    found = now.comparison
    if found is None or (now.again is not None and now.again.passed):
        return {}
    held = own.tests.by_id if own.tests else {}
    broken = {name: False for name in found.broken if held.get(name) != "failed"}
    still = {name: True for name in found.still_failing if held.get(name) != "failed"}
    gone = (*found.vanished, *found.skipped)
    return broken | still | {name: False for name in gone if held.get(name) == "passed"}


def _too(now: CheckResult, own: CheckResult) -> Iterator[str]:
    """What fails so, and with the lane's own tests as well; a check that names none, as a whole."""
    if now.comparison is not None:
        held = own.tests.by_id if own.tests else {}
        failing = (*now.comparison.broken, *now.comparison.still_failing)
        yield from (name for name in failing if held.get(name) == "failed")
    elif not now.passed and not own.passed:
        yield now.check.name


def _is_undone(now: CheckResult, own: CheckResult) -> bool:
    """A check that fails so, passes with the lane's own tests, and names nothing that fails."""
    again = now.again is not None and now.again.passed
    return now.comparison is None and own.passed and not now.passed and not again

"""What a lane's checks, and the base's own tests on its patch, come to in numbers."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from msgspec import Struct, field
from msgspec.structs import replace

from hydra.analysis.tampering.assertion_lines import asserts_alone
from hydra.analysis.tampering.bending import may_bend, runs_tests_in
from hydra.analysis.tampering.inline_tests import helpers_changed, inline_changed, put_back
from hydra.analysis.tampering.named_data import data_alone, is_document
from hydra.analysis.tampering.restore import to_restore
from hydra.analysis.tampering.test_files import (
    existed,
    is_configuration,
    is_support,
    supports_tests,
)
from hydra.checks import results
from hydra.checks.collected import collected
from hydra.checks.comparison import is_file
from hydra.checks.cross.trial import NO_CANARY, Trial
from hydra.checks.ids import own_name
from hydra.checks.new_tests import is_cut
from hydra.checks.record import CheckResult, CheckStatus
from hydra.checks.results import Comparison
from hydra.ranking.evidence import Evidence, LaneEvidence
from hydra.text import plural, shortened

_LONGEST = 48
"""Characters of one that is no sentence: two of them stand in a cell."""
_TITLE = re.compile(r"\W|[^\[]* ")


def named(ids: Sequence[str]) -> str:
    """`test_up`; `3 tests (test_up, test_down and 1 more)`."""
    return leaf(ids[0]) if len(ids) == 1 else f"{plural(ids, 'test')} ({leaves(ids)})"


def leaves(ids: Sequence[str]) -> str:
    """Two names, and how many more tests there are; one that several tests have is said once."""
    names = [*dict.fromkeys(map(leaf, ids))]
    shown = names if len(names) == len(ids) == 2 else names[:2]
    more = len(ids) - len(shown)
    return f"{', '.join(shown)} and {more:,} more" if more else ", ".join(shown)


def leaf(name: str) -> str:
    """A test's own name, without its file and its class; a sentence for a name is in quotes, and
    what begins with no letter. What stands for a file of tests is its name."""
    if is_file(name):
        return posixpath.basename(name)
    own = own_name(name)
    return f'"{shortened(own)}"' if _TITLE.match(own) else shortened(own, _LONGEST)


RAN = (CheckStatus.PASSED, CheckStatus.FAILED)
"""How a check ends that came to its end."""

_CANNOT = (CheckStatus.NO_TESTS, CheckStatus.TIMED_OUT, CheckStatus.PROGRAM_MISSING)


class PutBack(Struct, frozen=True, kw_only=True):
    """The base's own tests on one lane's patch.

    `fails` are ids that fail so and do not fail with the lane's own version of the tests, by
    whether they failed on the base too; `too` those that fail so and with its own. `mends` are
    ids that fail on the base and pass so. `stopped` are sentences of checks that could not run, or
    that failed without naming a test; `undone` the names of the latter, and of those in which tests
    fail so that the base did not come to; `red` of those that failed so by flaky tests. `ends` are
    all tests that ran so. `known` False: it was to be tried, and was not to its end.
    """

    trial: Trial | None = None
    fails: Mapping[str, bool] = field(default_factory=dict)
    too: tuple[str, ...] = ()
    mends: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()
    red: tuple[str, ...] = ()
    ends: Mapping[str, results.Status] = field(default_factory=dict)
    is_known: bool = True

    @property
    def clean(self) -> bool:
        """Whether nothing of the base's own fails for having been put back."""
        return self.is_known and not (self.fails or self.stopped or self.red)


class LaneResults(Struct, frozen=True, kw_only=True):
    """One lane's. None is unknown.

    `fixed`, `failing` and `gone` are tests that failed on the base, by what became of them: one
    that the base's own version, put back, shows to fail is failing whatever the patch made of its
    text. `broken` are those that passed. `turned` are all that failed on the base and pass, also of
    checks that could be compared beside some that could not; `whole_checks` those of them that are
    checks without tests. `whole`: with the base's own tests, and what configures
    them; `tests_only`: what of it is the tests' doing, where it changed both.
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
        comparisons = [
            check.comparison
            for check in self.lane.checks
            if check.check.required and check.comparison
        ]
        return _failing(comparisons, self.whole)

    @property
    def tests(self) -> frozenset[str]:
        """The names of the checks that run tests."""
        return frozenset(
            check.check.name for check in self.lane.checks if check.check.kind == "test"
        )

    @property
    def cut_off(self) -> tuple[str, ...]:
        """Of the tests that the base has and did not come to, those that fail with it."""
        return tuple(name for check in self.lane.checks for name in cut_off_failing(check))

    @property
    def reached(self) -> tuple[str, ...]:
        """Of these tests those that pass with it."""
        checks = [check for check in self.lane.checks if check.comparison and check.tests]
        return tuple(
            name
            for check in checks
            for name in (check.comparison.cut_off if check.comparison else ())
            if check.tests and check.tests.by_id.get(name) == "passed"
        )

    @property
    def unclear(self) -> tuple[str, ...]:
        """What required checks named on the base, and do not name now: it may have passed."""
        comparisons = [
            check.comparison
            for check in self.lane.checks
            if check.check.required and check.comparison
        ]
        return tuple(name for comparison in comparisons for name in comparison.unknown)

    @property
    def tests_alone(self) -> PutBack:
        """What is the tests' doing, where that is known of settings."""
        return self.whole if self.tests_only is None else self.tests_only

    @property
    def hidden(self) -> Mapping[str, bool]:
        """Tests of the base's own that fail once they are put back."""
        return self.whole.fails

    def mended(self) -> int | None:
        """How many of the base's failures it mends; one that is mended in the test alone is not,
        and one whose test goes by another name now is, if it passes once it is put back."""
        tried = self.whole.trial is not None and self.whole.is_known
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


def standing(lane: LaneEvidence, evidence: Evidence) -> LaneResults:
    """Adds up one lane's checks and trials."""
    tests = [result for result in lane.checks if result.check.kind == "test"]
    compared = [test.comparison for test in tests if test.comparison is not None]
    whole = _put_back(lane, evidence)
    baseline = evidence.baseline_of(lane)
    whole_checks = tuple(_turned_checks(lane, baseline))
    return LaneResults(
        lane=lane,
        fixed=_fixed(tests, baseline),
        failing=_failing(compared, whole),
        gone=tuple(_gone(tests, baseline)),
        broken=tuple(name for comparison in compared for name in comparison.broken),
        turned=(*(name for comparison in compared for name in comparison.fixed), *whole_checks),
        whole_checks=whole_checks,
        whole=whole,
        tests_only=_of_tests(whole, lane),
        build=_passes(lane.checks, "build"),
        lint=_passes(lane.checks, "lint"),
    )


def _fixed(tests: Sequence[CheckResult], baseline: Sequence[CheckResult]) -> tuple[str, ...] | None:
    before = {result.check.name: result for result in baseline}
    names: list[str] = []
    for result in tests:
        base = before.get(result.check.name)
        if base is None or base.status not in RAN or result.status not in RAN:
            return None
        if result.comparison is not None:
            names += result.comparison.fixed
            cut = result.passed and _cut(base, result)
            names += [result.check.name] * (cut and not _unsteady(base, result))
            names += [result.check.name] * mended_by_count(base, result)
        elif base.tests is not None and result.tests is None:
            return None  # what became of the base's tests is not known
        elif result.passed and base.status is CheckStatus.FAILED and not _unsteady(base, result):
            names.append(result.check.name)  # a check that names no tests counts as one
    return tuple(names) if tests else None


def cut_off_failing(check: CheckResult) -> tuple[str, ...]:
    """Tests that the base has and did not come to, and that fail in a lane's own run."""
    changed, ends = check.comparison, check.tests.by_id if check.tests else {}
    names = changed.cut_off if changed is not None and check.check.required else ()
    return tuple(name for name in names if ends.get(name) == "failed")


def not_come_to(ids: Sequence[str]) -> str:
    """Of these, as a clause on a patch."""
    return f"fails {plural(ids, 'test')} that the base has and did not come to"


def _failing(compared: Sequence[Comparison], whole: PutBack) -> tuple[str, ...]:
    """What failed on the base and is not mended: also what is mended in the test alone, and what
    has another name now and fails once it is put back."""
    names = [
        name
        for comparison in compared
        for name in (
            *comparison.still_failing,
            *comparison.fixed,
            *comparison.vanished,
            *comparison.skipped,
        )
        if whole.fails.get(name) or (name in comparison.still_failing and name not in whole.mends)
    ]
    return tuple(dict.fromkeys(names))


def _turned_checks(lane: LaneEvidence, baseline: Sequence[CheckResult]) -> Iterator[str]:
    """Required checks that failed on the base and pass with the patch, and name no test of it."""
    before = {base.check.name: base for base in baseline if base.status is CheckStatus.FAILED}
    for result in lane.checks:
        base = before.get(result.check.name)
        if base is None or not (result.check.required and result.passed):
            continue
        counted = mended_by_count(base, result) > 0
        names_none = (
            (base.tests is None and result.comparison is None) or counted or _cut(base, result)
        )
        if names_none and not _unsteady(base, result):
            yield result.check.name


def mended_by_count(base: CheckResult, now: CheckResult) -> int:
    """Of failures whose mending only the counts tell, how many there were: `pytest -q`, as tox runs
    it, names failures alone, so none of the base's is named where all pass; and some name none."""
    changed, before, after = now.comparison, base.tests, now.tests
    if changed is None or before is None or after is None or changed.fixed or base.passed:
        return 0
    silent = "passed" in after.unnamed or "failed" in before.unnamed
    whole = after.total >= before.total and after.skipped <= before.skipped
    whole = whole or not after.counts_skipped  # go test counts packages where all pass
    mended = silent and after.failed == 0 and whole and changed.breaks_nothing
    return before.failed if mended and not _unsteady(base, now) else 0


def _cut(base: CheckResult, now: CheckResult) -> bool:
    changed = now.comparison
    return is_cut(base) and changed is not None and not changed.fixed and changed.breaks_nothing


def _gone(tests: Sequence[CheckResult], baseline: Sequence[CheckResult]) -> Iterator[str]:
    """Tests that failed on the base and that the lane's own run does not run."""
    before = {
        result.check.name: result.tests.by_id for result in baseline if result.tests is not None
    }
    for result in tests:
        if (comparison := result.comparison) is not None:
            was = before.get(result.check.name, {})
            yield from (
                name
                for name in (*comparison.vanished, *comparison.skipped)
                if was.get(name) == "failed"
            )


def _unsteady(base: CheckResult, now: CheckResult) -> bool:
    return base.unsteady or now.unsteady


def _passes(checks: Sequence[CheckResult], kind: str) -> bool | None:
    check_results = [check for check in checks if check.check.kind == kind]
    if not check_results or any(result.status not in RAN for result in check_results):
        return None
    return all(result.passed for result in check_results)


def _put_back(lane: LaneEvidence, evidence: Evidence) -> PutBack:
    """With all put back."""
    trials = [item for item in evidence.trials if item.kind == "protected" and item.on == lane.lane]
    cut = any(tried.kind == "protected" and tried.on == lane.lane for tried in evidence.not_tried)
    bare = _is_bare(lane, evidence, trials) or may_bend_unseen(lane, evidence)
    if trials:
        whole = [item for item in trials if item.configuration] or trials
        return _read(lane, whole, bare=bare)
    return PutBack(is_known=not (bare or cut))


def may_bend_unseen(lane: LaneEvidence, evidence: Evidence) -> bool:
    """Whether its code may change what runs the tests, and tests that must fail were left untried
    on it: by the limit, or since the race was stopped before."""
    passing = [
        check.check.command
        for check in lane.checks
        if check.check.kind == "test" and check.passed and not check.held_back
    ]
    languages = may_bend(lane.files) if passing else ()
    if not any(runs_tests_in(language, line) for language in languages for line in passing):
        return False
    tried = any(item.kind == "canary" and item.on == lane.lane for item in evidence.trials)
    return not tried and not any(
        item.kind == "canary" and item.on == lane.lane and item.why == NO_CANARY
        for item in evidence.not_tried
    )


def _of_tests(whole: PutBack, lane: LaneEvidence) -> PutBack | None:
    """Of what fails with tests and settings put back, the tests in files that it changed: by the
    file that the id names, or by the test's own name in there; None where it changed no settings,
    or no test that was there."""
    changed = [file for file in lane.files if existed(file) and supports_tests(file)]
    if whole.trial is None or not whole.trial.configuration or not changed:
        return None
    stems = {PurePosixPath(file.path).name.partition(".")[0] for file in changed}
    texts = [file.old or "" for file in changed]

    def lies(name: str) -> bool:
        if not stems.isdisjoint(_PART.findall(name)):
            return True
        leaf = _CASE.sub("", name).rpartition("::")[2].rpartition(" > ")[2]
        leaf = leaf.rpartition("/")[2].rpartition(".")[2]
        return not _FILE.search(name) and any(leaf in text for text in texts)

    fails = {name: failed for name, failed in whole.fails.items() if lies(name)}
    return replace(whole, fails=fails, stopped=(), undone=())


_PART = re.compile(r"[\w-]+")
_CASE = re.compile(r"(?<=.)(?:\[| \().*", re.DOTALL)
_FILE = re.compile(r"\.\w{1,4}(?:::|:| > |$)")


def _is_bare(lane: LaneEvidence, evidence: Evidence, trials: Sequence[Trial]) -> bool:
    """Whether a check ran the patch's version of the tests, or of what configures them, and was
    never run with the base's: `hydra check` of a lane, or a race that was stopped before; or these
    lie in code that has no place for the base's."""
    tried = {trial.result.check.name for trial in trials}
    ran = (
        check.check for check in lane.checks if check.check.kind == "test" and check.status in RAN
    )
    asks = _asks_alone(lane, evidence)
    lost = asks or any(put_back(file, lane.files) is None for file in inline_changed(lane.files))
    lost = lost or any(True for _ in helpers_changed(lane.files))
    if not lost and all(check.name in tried for check in ran):
        return False
    checks = [result.check for result in lane.checks]
    restore = to_restore(lane.files, checks)
    return bool(lost or restore.tests or restore.settings)


def _asks_alone(lane: LaneEvidence, evidence: Evidence) -> bool:
    """Whether it changes nothing but what is asserted, or data, in files that may be tests, or what
    these go by, for all that is known: a check that failed on the base passes, and on the base
    names no file of them."""
    code = [
        file
        for file in lane.files
        if file.holds == "data" or not (is_document(file.path) or supports_tests(file))
    ]
    if not (asserts_alone(code) or data_alone(code)):
        return False
    named = all(file.holds == "data" for file in code)
    if named and any(supports_tests(file) and file not in code for file in lane.files):
        return False
    ends = [
        check
        for check in lane.checks
        if check.passed or (named and check.comparison and check.comparison.fixed)
    ]
    passes = {check.check.name for check in ends}
    return any(
        base.check.name in passes and (named or not collected([base], evidence.paths))
        for base in evidence.baseline_of(lane)
        if base.check.kind == "test" and base.status is CheckStatus.FAILED
    )


def _read(lane: LaneEvidence, trials: Sequence[Trial], *, bare: bool = False) -> PutBack:
    own = {check.check.name: check for check in lane.checks}
    fails: dict[str, bool] = {}
    too: list[str] = []
    mends: list[str] = []
    stopped: list[str] = []
    undone: list[str] = []
    red: list[str] = []
    ends: dict[str, results.Status] = {}
    is_known = not bare
    for trial in trials:
        ends |= trial.result.tests.by_id if trial.result.tests else {}
        mine = own.get(trial.result.check.name)
        if mine is None or mine.status not in (*RAN, CheckStatus.NO_TESTS):
            is_known = False  # its own tests do not run either: that is told by itself
        elif trial.result.status in RAN:
            failing, failing_too = _fails(trial.result, mine), [*_too(trial.result, mine)]
            fails |= failing
            too += failing_too
            mends += trial.result.comparison.fixed if trial.result.comparison else ()
            if _is_undone(trial.result, mine) or (not fails and not too and _none(trial.result)):
                stopped.append(f"{trial.result.check.name} {trial.result.says}")
                undone.append(trial.result.check.name)
            elif not failing.keys().isdisjoint(_cut_off(trial.result, mine)):
                undone.append(trial.result.check.name)
            elif not (failing or failing_too or _passes_now(trial.result) or _news(trial.result)):
                if mine.passed:
                    red.append(f"{trial.result.check.name} {trial.result.says}")
                else:
                    too.append(trial.result.check.name)
        elif mine.status is CheckStatus.NO_TESTS:
            is_known = False
        elif trial.result.status in _CANNOT:
            stopped.append(f"{trial.result.check.name}: {trial.result.says}")
        else:
            is_known = False
    return PutBack(
        trial=trials[0],
        fails=fails,
        too=tuple(dict.fromkeys(too)),
        mends=tuple(mends),
        stopped=tuple(stopped),
        undone=tuple(undone),
        red=tuple(red),
        ends=ends,
        is_known=is_known,
    )


def _passes_now(now: CheckResult) -> bool:
    """Also where it does so on one more run."""
    return now.passed or (now.again is not None and now.again.passed)


def _news(now: CheckResult) -> bool:
    """Whether it fails by tests that the base does not have."""
    news = now.comparison.new_failing if now.comparison else ()
    return bool(news) and now.tests is not None and now.tests.failed <= len(news)


def _none(now: CheckResult) -> bool:
    """Whether a check fails and no test passes in it: those of the base's own did not run."""
    return now.tests is not None and not (_passes_now(now) or now.tests.passed)


def _fails(now: CheckResult, own: CheckResult) -> dict[str, bool]:
    """Also what no longer runs so: where a file cannot be imported, a tool may stop for all."""
    comparison = now.comparison
    if comparison is None or (now.again is not None and now.again.passed):
        return {}
    names, failed = own.tests.by_id if own.tests else {}, _failed(own)
    broken = {name: False for name in comparison.broken if name not in failed}
    still = {name: True for name in comparison.still_failing if name not in failed}
    gone = (*comparison.vanished, *comparison.skipped, *_cut_off(now, own))
    return broken | still | {name: False for name in gone if names.get(name) == "passed"}


def _cut_off(now: CheckResult, own: CheckResult) -> list[str]:
    """Of the tests that the base has and did not come to, those that fail with these put back."""
    names = own.comparison.cut_off if own.comparison else ()
    return [name for name in now.comparison.new_failing if name in names] if now.comparison else []


def _failed(own: CheckResult) -> set[str]:
    """What fails with the lane's own tests, also in a file that fails as a whole."""
    value = own.tests.by_id.items() if own.tests else ()
    comparison = own.comparison
    named = {name for name, status in value if status == "failed"}
    return named.union(*((comparison.broken, comparison.still_failing) if comparison else ()))


def _too(now: CheckResult, own: CheckResult) -> Iterator[str]:
    """What fails so, and with the lane's own tests as well; a check that names none, as a whole."""
    if now.comparison is not None:
        failing = (*now.comparison.broken, *now.comparison.still_failing, *_cut_off(now, own))
        failed = _failed(own)
        yield from (name for name in failing if name in failed)
    elif not now.passed and not own.passed:
        yield now.check.name


def _is_undone(now: CheckResult, own: CheckResult) -> bool:
    """A check that fails so and names nothing that fails, where it passes with the lane's own
    tests, or fewer of them fail."""
    names = now.tests is not None and "failed" in {*now.tests.by_id.values()}
    more = now.tests is not None and own.tests is not None and now.tests.failed > own.tests.failed
    by_test = names and now.comparison is not None
    return not _passes_now(now) and ((own.passed and not by_test) or (more and not names))

"""Which patches are held back whatever other lanes' tests say of them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from hydra.analysis.tampering.findings import findings
from hydra.checks.cross.record import TrialSubject
from hydra.checks.cross.trial import Trial, put_back
from hydra.checks.record import CheckResult
from hydra.checks.regressions import compare_to_baseline
from hydra.ranking.cross_tests import with_new
from hydra.ranking.demands import contradicted
from hydra.ranking.evidence import Evidence, LaneEvidence
from hydra.ranking.gates import DELETED, gates, of_checks, of_ending, suspected
from hydra.ranking.results import LaneResults, standing


def settled(
    subjects: Collection[TrialSubject],
    base: Mapping[str, CheckResult],
    trials: Sequence[Trial],
    paths: Collection[str],
) -> set[str]:
    """By what is known once the base's own tests ran on the patches, and theirs on the base: lanes
    that are held back whatever a further trial says, and whose word counts for no other.

    They break tests of which no other patch may ask something else: their own checks show it, or
    the base's tests do that they changed. Or they do not build, or a check of tests has no end.
    """
    lanes = tuple(
        LaneEvidence(
            lane=subject.lane,
            tree=subject.tree,
            files=subject.files,
            checks=tuple(_judged(result, base, subject.lane, trials) for result in subject.results),
        )
        for subject in subjects
    )
    evidence = with_new(
        Evidence(
            run="",
            base="",
            lanes=lanes,
            baseline=tuple(base.values()),
            trials=tuple(trials),
            paths=frozenset(paths),
        )
    )
    standings = {lane.lane: standing(lane, evidence) for lane in evidence.lanes}
    refused = {lane for lane in standings if _is_refused(lane, standings, evidence)}
    names = {
        name
        for trial in evidence.trials
        if trial.kind == "protected" and trial.on not in refused and trial.result.comparison
        for name in trial.result.comparison.broken
    }
    return refused | {lane.lane for lane in evidence.lanes if _breaks_more(lane, names)}


def _judged(
    result: CheckResult, base: Mapping[str, CheckResult], lane: str, trials: Sequence[Trial]
) -> CheckResult:
    name = result.check.name
    back = put_back(trials, lane, name)
    return compare_to_baseline(result, base.get(name), put_back=back) if back else result


def _breaks_more(lane: LaneEvidence, names: Collection[str]) -> bool:
    stops = [check for check in lane.checks if check.held_back and check.check.kind != "lint"]
    stopping = [result.comparison for result in stops]
    broken = [comparison.broken if comparison else () for comparison in stopping]
    return any(not ids or not {*ids} <= {*names} for ids in broken)


def _is_refused(lane: str, standings: Mapping[str, LaneResults], evidence: Evidence) -> bool:
    """Whether it breaks tests of the base that its own version of them lets pass, as the base's
    code does, and is held back for what it did to tests, whoever may yet agree with it."""
    mine = standings[lane]
    ended = _on_base(mine.lane, evidence)
    before = {
        name: end
        for result in evidence.baseline
        if result.tests
        for name, end in result.tests.by_id.items()
    }
    asks_more = any(end == "failed" for name, end in ended.items() if before.get(name) != "failed")
    hidden = {name for name in contradicted(mine) if ended.get(name) == "passed"}
    hidden -= {*_shared(mine, standings, asks_more=asks_more)}
    if not hidden:
        return False
    checks = [result.check for result in mine.lane.checks]
    changes = findings(mine.lane.files, checks, base=evidence.paths)
    may = contradicted(mine) - (hidden & suspected(mine, changes))
    reasons = gates(mine, changes, evidence, may, may if asks_more else ())
    # A task may ask to delete a test: then a person lands it, and wants to know what else is true.
    deletions = {finding.text for finding in changes if finding.kind == DELETED}
    stops = {*reasons} - {*of_ending(mine), *of_checks(mine)}
    return any(gate.text not in deletions for gate in stops)


def _shared(
    mine: LaneResults, standings: Mapping[str, LaneResults], *, asks_more: bool
) -> Iterator[str]:
    """Tests that fail with another patch whose word may count: for one that asks for nothing more
    than the base does, that of no patch that its own checks hold back."""
    for other in standings.values():
        stopped = any(result.held_back for result in other.lane.checks)
        if other is not mine and (asks_more or not stopped):
            yield from (*other.broken, *other.hidden)


def _on_base(lane: LaneEvidence, evidence: Evidence) -> Mapping[str, str]:
    """How its version of all tests ended on the base."""
    runs = [
        trial.result.tests
        for trial in evidence.trials
        if (trial.kind, trial.on, trial.author) == ("cross", "", lane.lane)
    ]
    return {name: end for tests in runs if tests for name, end in tests.by_id.items()}

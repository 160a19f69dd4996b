"""The Rust Hydra's score, computed as it does and shown beside the verdict.

Source: its scoring as read in 2026 (docs/why/selection.md, "The score"): build 30, tests 30, lint
15, diff scope 15, speed 10; what is not known leaves the denominator. The rank does not follow it.
"""

from __future__ import annotations

from collections.abc import Sequence

from hydra.checks.record import CheckResult, CheckStatus
from hydra.ranking.evidence import Evidence, LaneEvidence
from hydra.ranking.model import Dimension, Score

_RAN = (CheckStatus.PASSED, CheckStatus.FAILED)


def scores(evidence: Evidence) -> dict[str, Score]:
    """By lane; only those that left a patch are held against each other."""
    evidences = [lane for lane in evidence.lanes if lane.files]
    weights = evidence.weights
    smallest = min((size for lane in evidences if (size := lines(lane)) is not None), default=None)
    fastest = min((lane.seconds for lane in evidences if lane.seconds), default=None)
    return {
        lane.lane: _score(
            (
                _build(lane, weights.build),
                _tests(lane, evidence.baseline_of(lane), weights.test),
                _lint(lane, evidence.baseline_of(lane), weights.lint),
                _ratio("scope", weights.scope, smallest, lines(lane), "smallest patch's lines"),
                _ratio("speed", weights.speed, fastest, lane.seconds, "fastest lane's seconds"),
            )
        )
        for lane in evidences
    }


def lines(lane: LaneEvidence) -> int | None:
    """Lines added and deleted; None where a file's are not known (binary)."""
    counts = [(file.insertions, file.deletions) for file in lane.files]
    numbers = [added + gone for added, gone in counts if added is not None and gone is not None]
    return sum(numbers) if len(numbers) == len(counts) else None


def _score(dimensions: tuple[Dimension, ...]) -> Score:
    rows = [
        (dimension.value, dimension.weight)
        for dimension in dimensions
        if dimension.value is not None
    ]
    weight = sum(weight for _, weight in rows)
    total = sum(value * weight for value, weight in rows) / weight if weight else None
    return Score(total=total, dimensions=dimensions)


def _build(lane: LaneEvidence, weight: float) -> Dimension:
    results = [check for check in lane.checks if check.check.kind == "build"]
    if not results or any(result.status not in _RAN for result in results):
        return Dimension(name="build", weight=weight, value=None, formula="no build was run")
    good = sum(result.passed for result in results)
    return Dimension(
        name="build",
        weight=weight,
        value=100.0 if good == len(results) else 0.0,
        formula=f"{good} of {len(results)} pass: all or nothing",
    )


def _tests(lane: LaneEvidence, baseline: Sequence[CheckResult], weight: float) -> Dimension:
    before = {result.check.name: result.tests for result in baseline if result.status in _RAN}
    passed = total = broken = fewer = new = was = 0
    for result in lane.checks:
        if result.check.kind != "test" or result.tests is None or result.status not in _RAN:
            continue
        passed += result.tests.passed
        total += result.tests.passed + result.tests.failed
        base = before.get(result.check.name)
        if base is not None and result.comparison is not None:
            was += base.passed
            broken += len(result.comparison.broken)
            fewer += len(result.comparison.vanished) + len(result.comparison.skipped)
            new += len(result.comparison.new)
    if not total:
        return Dimension(name="tests", weight=weight, value=None, formula="no tests were counted")
    lost = (broken + fewer) / was * 60 if was else 0.0
    value = passed / total * 100 - lost + min(10.0, new * 0.5)
    return Dimension(
        name="tests",
        weight=weight,
        value=max(0.0, min(100.0, value)),
        formula=f"{passed}/{total} pass x 100 - ({broken} broken + {fewer} gone)/{was} x 60"
        f" + min(10, {new} new x 0.5), from 0 to 100",
    )


def _lint(lane: LaneEvidence, baseline: Sequence[CheckResult], weight: float) -> Dimension:
    results = [
        check for check in lane.checks if check.check.kind == "lint" and check.status in _RAN
    ]
    if not results:
        return Dimension(name="lint", weight=weight, value=None, formula="no lint was run")
    before = {result.check.name: result for result in baseline}
    errors = resolved = 0
    for result in results:
        if result.comparison is not None:
            errors += len(result.comparison.broken) + len(result.comparison.new_failing)
            resolved += len(result.comparison.fixed)
        elif not result.passed:
            base = before.get(result.check.name)
            if base is not None and not base.passed:
                formula = f"{result.check.name} fails, here and on the base, and counts nothing"
                return Dimension(name="lint", weight=weight, value=None, formula=formula)
            errors += 1  # at least
    value = 100.0 - 12 * errors + resolved
    return Dimension(
        name="lint",
        weight=weight,
        value=max(0.0, min(100.0, value)),
        formula=f"100 - 12 x {errors} new errors + {resolved} resolved; warnings are not counted",
    )


def _ratio(name: str, weight: float, best: float | None, own: float | None, what: str) -> Dimension:
    if best is None or own is None:
        return Dimension(name=name, weight=weight, value=None, formula=f"its {what} are not known")
    value = 100.0 if own <= 0 else min(100.0, best / own * 100)
    return Dimension(
        name=name, weight=weight, value=value, formula=f"{best:g} ({what}) / {own:g} x 100"
    )

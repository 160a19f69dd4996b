"""The measures that lanes are told apart by, the weightiest first (docs/why/selection.md). Neither
size nor speed is one: they say nothing of what a patch does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from hydra.analysis.code_lines import changes_code
from hydra.analysis.equivalence.groups import Group
from hydra.analysis.patch import Finding
from hydra.analysis.tampering.inline_tests import writes_tests
from hydra.checks.record import CheckResult, CheckStatus
from hydra.ranking.cross_tests import spoiled
from hydra.ranking.evidence import Evidence
from hydra.ranking.model import CrossTest, Reason, State
from hydra.ranking.ranks import Measure
from hydra.ranking.results import LaneResults

UNTESTED = ("state", "code", "gates")
"""The measures of a race without a check: what else can be read of patches puts none before
another."""

NEAR = 0.5
"""Chances are apart where they differ by more than so much of the lesser one: what lies nearer is
a matter of how many tests somebody wrote."""

DECIDES: Mapping[str, str] = {
    "gates": "{} {are} {state}",
    "state": "{} {are} {state}",
    "code": "{} {are} without a line of code",
    "base": "it fixes more failing tests than {}",
    "broken": "it breaks less than {}",
    "does": "{} {are} no better than the base on any test",
    "protected": "fewer of its tests than of those of {} fail once the base's version is put back",
    "asked": "of the tests that a model was asked for, it fails fewer than {}",
    "cross": "the new tests speak for it more than for {}",
    "objections": "tests of fewer lanes fail with it than with {}",
    "literal": "the code of {} gives what a test expects, or asks whether tests run it",
    "spoiled": "new tests that pass on the base fail with {}, and of fewer lanes or none with it",
    "undoes": "it undoes no recent commit, unlike {}",
    "agreement": "more lanes left the same patch as it than as {}",
    "build": "it builds, and {} does not",
    "tests": "it is equal to {} in all tests, and brings {brings} of them",
    "lint": "its lint passes, and that of {} does not",
}
"""What each measure says for the first against the next: its name, `is` or `are`, in which state it
is, and how many tests the first brings."""


_STATES: Mapping[State, float] = {"proved": 2.0, "untested": 1.0}


def measures(
    standings: Mapping[str, LaneResults],
    gates: Mapping[str, tuple[Reason, ...]],
    chances: Mapping[str, float],
    same: Sequence[Group],
    findings: Mapping[str, Sequence[Finding]],
    states: Mapping[str, State],
    rows: Sequence[CrossTest],
    demanded: Mapping[str, Collection[str]],
    idle: Mapping[str, bool | None],
    beside: Collection[str],
    evidence: Evidence,
) -> tuple[Measure, ...]:
    """Of every lane; more is better, None is unknown. Those `beside` take something back beside
    other code."""
    lanes = standings.items()
    untested = [lane for lane, state in states.items() if state == "untested"]
    # A lane that does not do the task may hold fast to what the task asks to change.
    authors = [lane for lane, state in states.items() if state == "proved"]
    undoing = {lane for lane in standings if _undoes(findings.get(lane, ()), evidence.task)}
    # Taking back may be the very mend: where it is all that a patch does, that speaks neither way;
    # and where no test tells, however many do the same.
    open_question = undoing.intersection(untested).difference(beside)
    return (
        Measure("state", {lane: _STATES.get(states[lane], 0.0) for lane in standings}),
        # What nobody tested is at least something to test; what fails more than the base shows is.
        Measure(
            "code",
            {
                lane: float(lane not in untested or (has_code(r) and not r.cut_off))
                for lane, r in lanes
            },
        ),
        # Of two untested ones a check may hold back the one that mends something.
        Measure("base", _mended(standings, evidence)),
        Measure("gates", {lane: float(not gates[lane]) for lane in standings}),
        Measure("broken", {lane: -float(len(results.broken)) for lane, results in lanes}),
        Measure("does", {lane: _does(idle.get(lane)) for lane in standings}),
        Measure(
            "protected",
            {name: _protected(results, demanded.get(name, ())) for name, results in lanes},
        ),
        Measure("asked", {lane: _review_measure(lane, rows) for lane in standings}),
        Measure("cross", chances, share=NEAR),
        Measure("objections", {lane: -_authors(_objecting(lane, rows)) for lane in standings}),
        Measure("literal", {lane: -float(_literal(findings.get(lane, ()))) for lane in standings}),
        Measure(
            "spoiled",
            {standing: -_authors(spoiled(standing, rows, authors)) for standing in standings},
        ),
        Measure("undoes", {lane: -float(lane in undoing & {*beside}) for lane in standings}),
        Measure(
            "agreement",
            {lane: 1.0 if lane in open_question else _agreeing(lane, same) for lane in standings},
        ),
        Measure("build", {lane: _number(results.build) for lane, results in lanes}),
        Measure("lint", {lane: _number(results.lint) for lane, results in lanes}),
        Measure(
            "tests",
            {
                name: float(tests_brought(results, rows, findings.get(name, ())) > 0)
                for name, results in lanes
            },
        ),
    )


def _mended(standings: Mapping[str, LaneResults], evidence: Evidence) -> Mapping[str, float | None]:
    """How many of the base's failures each mends; unknown for those whose checks ran where other
    tests of the base fail than for most."""
    failures = {
        lane: _failures(evidence.baseline_of(results.lane)) for lane, results in standings.items()
    }
    ((most, _),) = Counter(failures.values()).most_common(1) or [(frozenset(), 0)]
    return {
        lane: _number(results.mended()) if failures[lane] == most else None
        for lane, results in standings.items()
    }


def _failures(baseline: Sequence[CheckResult]) -> frozenset[tuple[str, str]]:
    failed = (result for result in baseline if result.status is CheckStatus.FAILED)
    return frozenset(
        (result.check.name, name)
        for result in failed
        for name, status in (result.tests.by_id.items() if result.tests else [("", "failed")])
        if status == "failed"
    )


def _literal(findings: Sequence[Finding]) -> bool:
    """Whether code gives what tests expect, or asks whether it runs under tests."""
    return any(finding.kind == "hard_coded" for finding in findings)


_TAKING_BACK = re.compile(
    r"\b(?:revert|undo|roll(?:ing|ed)?[ -]?back|back(?:ing|ed)?[ -]out|restor"
    r"|remov|delet|drop|rid\b|(?:tak|bring|put)\w*(?: \S+){0,6}? back\b)",
    re.I,
)
"""How a task says that what is there is to be taken back."""


def _undoes(findings: Sequence[Finding], task: str) -> bool:
    """Whether it takes back one of the base's last commits, and no word of the task is of that: who
    does so with another agrees in a habit, not in a mend."""
    return any(finding.kind == "undoes" for finding in findings) and not _TAKING_BACK.search(task)


def _authors(rows: Sequence[CrossTest]) -> float:
    """Of how many lanes: each has one voice, however many tests it brings."""
    return float(len({row.author for row in rows}))


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _does(idle: bool | None) -> float | None:
    return None if idle is None else float(not idle)


def tests_brought(
    results: LaneResults, rows: Sequence[CrossTest], findings: Sequence[Finding]
) -> int:
    """How many tests it brings that fail without it: what it mends will stay so. A test of the
    base's that has another name now is none, and one that failed there is gone under its old. One
    that was not run there, as in a race that was ended, is taken at its author's word."""
    lane = results.lane.lane
    mine = [row for row in rows if row.author == lane and row.cells.get(lane) == "own"]
    steady = [row for row in mine if row.says != "flaky"]
    renames = any(finding.kind == "tests_restructured" for finding in findings)
    failing = [row for row in steady if row.base == "failed"]
    if not failing and not renames and writes_tests(results.lane.files):
        failing = [row for row in steady if row.base != "passed"]
    return max(0, len(failing) - (len(results.gone) if renames else 0))


def _review_measure(lane: str, rows: Sequence[CrossTest]) -> float | None:
    """Minus the tests that an agent was asked for, that tell lanes apart, and that it fails."""
    cells = [row.cells.get(lane) for row in rows if row.is_from_review and row.weighs]
    is_known = all(cell in ("passed", "failed") for cell in cells)
    return -float(cells.count("failed")) if is_known else None


def _objecting(lane: str, rows: Sequence[CrossTest]) -> tuple[CrossTest, ...]:
    """Tests of others that tell lanes apart and that it fails, and that their authors pass."""
    fails = (row for row in rows if row.weighs and row.cells.get(lane) == "failed")
    others = (row for row in fails if row.author != lane and not row.is_from_review)
    return tuple(row for row in others if row.cells.get(row.author) == "own")


def _protected(results: LaneResults, demanded: Collection[str]) -> float | None:
    if not results.whole.is_known:
        return None
    fails = [name for name in results.whole.fails if name not in demanded]
    return -float(len(fails) + len(results.whole.stopped))


def _agreeing(lane: str, same: Sequence[Group]) -> float:
    return float(max((len(group.lanes) for group in same if lane in group.lanes), default=1))


def has_code(results: LaneResults) -> bool:
    """Whether its patch changes a line of code."""
    return changes_code(results.lane.files)

"""The measures that lanes are told apart by, the weightiest first (docs/why/selection.md)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from hydra.analysis.equivalence.model import Group
from hydra.analysis.finding import Finding
from hydra.analysis.generated import generated, vendored
from hydra.analysis.notices.places import is_test, kind_of
from hydra.ranking.cross_tests import spoiled
from hydra.ranking.model import CrossTest, Reason, State
from hydra.ranking.ranks import Measure
from hydra.ranking.results import LaneResults

MINOR: Mapping[str, str] = {
    "size": "no test decides between it and {}, and it is smaller: {:,.0f} against {:,.0f} "
    "lines of code, without tests",
    "speed": "no test decides between it and {}, and it is as small and faster: {:.0f} s against "
    "{:.0f} s",
}
"""What only breaks ties, and the sentence for it."""

NEAR = 0.5
"""Chances are apart where they differ by more than so much of the lesser one: what lies nearer is
a matter of how many tests somebody wrote."""

SECONDS, SHARE = 5.0, 0.1
"""A lane is faster than another by more than so many seconds, and by more than a tenth: what two
runs of one agent differ in tells nothing."""

DECIDES: Mapping[str, str] = {
    "gates": "{} {are} {state}",
    "state": "{} {are} {state}",
    "base": "it fixes more failing tests than {}",
    "broken": "it breaks less than {}",
    "does": "{} {are} no better than the base on any test",
    "protected": "fewer of its tests than of those of {} fail once the base's version is put back",
    "asked": "of the tests that a model was asked for, it fails fewer than {}",
    "cross": "the new tests speak for it more than for {}",
    "objections": "tests of fewer lanes fail with it than with {}",
    "literal": "the code of {} gives what a test expects, or asks whether tests run it",
    "spoiled": "new tests that pass on the base fail with {}, and of fewer lanes or none with it",
    "agreement": "more lanes left the same patch as it than as {}",
    "build": "it builds, and {} does not",
    "tests": "it brings a test of what it does, and {} does not",
    "lint": "its lint passes, and that of {} does not",
}
"""What each other measure says for the first against the next: its name, `is` or `are`, and in
which state it is."""


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
) -> tuple[Measure, ...]:
    """Of every lane; more is better, None is unknown."""
    lanes = standings.items()
    # A lane that does not do the task may hold fast to what the task asks to change.
    authors = [lane for lane, state in states.items() if state == "proved"]
    return (
        # A broken one that no gate holds (it does nothing) is behind one that was not tested whole.
        Measure("state", {lane: _STATES.get(states[lane], 0.0) for lane in standings}),
        Measure("gates", {lane: float(not gates[lane]) for lane in standings}),
        Measure("base", {lane: _number(results.mended()) for lane, results in lanes}),
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
        Measure("agreement", {lane: _agreeing(lane, same) for lane in standings}),
        Measure("build", {lane: _number(results.build) for lane, results in lanes}),
        Measure("lint", {lane: _number(results.lint) for lane, results in lanes}),
        Measure(
            "tests",
            {
                name: float(_proves(results, rows, findings.get(name, ())))
                for name, results in lanes
            },
        ),
        Measure("size", {lane: code_lines(results) for lane, results in lanes}),
        Measure("speed", {lane: _seconds(results) for lane, results in lanes}, SECONDS, SHARE),
    )


def _literal(findings: Sequence[Finding]) -> bool:
    """Whether code gives what tests expect, or asks whether it runs under tests."""
    return any(finding.kind == "hard_coded" for finding in findings)


def _authors(rows: Sequence[CrossTest]) -> float:
    """Of how many lanes: each has one voice, however many tests it brings."""
    return float(len({row.author for row in rows}))


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _does(idle: bool | None) -> float | None:
    return None if idle is None else float(not idle)


def _proves(results: LaneResults, rows: Sequence[CrossTest], findings: Sequence[Finding]) -> bool:
    """Whether it brings a test that fails without it: what it mends will stay so. A test of the
    base's that has another name now is none, and one that failed there is gone under its old."""
    lane = results.lane.lane
    mine = [row for row in rows if row.author == lane and row.cells.get(lane) == "own"]
    renames = any(finding.kind == "tests_restructured" for finding in findings)
    failing = [row for row in mine if row.base == "failed" and row.says != "flaky"]
    return len(failing) > (len(results.gone) if renames else 0)


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


def code_lines(results: LaneResults) -> float | None:
    """Minus the lines changed outside of tests, lock files, generated and vendored files; None
    where one of them is binary. A lane that adds tests is not the larger for it."""
    lines = 0
    for file in results.lane.files:
        path = file.path.encode("utf-8", "backslashreplace")
        if is_test(path) or kind_of(path) == "lock_file":
            continue
        if vendored(file.path) or generated(file.path, file.new):
            continue
        if file.insertions is None or file.deletions is None:
            return None
        lines += file.insertions + file.deletions
    return -float(lines)


def _seconds(results: LaneResults) -> float | None:
    return None if results.lane.seconds is None else -results.lane.seconds

"""Each lane's new tests on every other lane's patch, as a matrix."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec.structs import replace

from hydra.analysis.equivalence.groups import Group
from hydra.analysis.tampering.suite import tests_changed
from hydra.checks.comparison import (
    above,
    changed_ids,
    end_of,
    is_file,
    mended_ids,
    tells_no_file,
    unloaded,
)
from hydra.checks.cross.trial import Trial
from hydra.checks.new_tests import CheckedPatch, whole_and_single, with_cut_off
from hydra.checks.record import CheckResult
from hydra.checks.results import Tests
from hydra.ranking.evidence import Evidence, LaneEvidence, ReviewTest
from hydra.ranking.model import ASKED_OF, Cell, CrossTest
from hydra.ranking.selection import Test

_RESULTS: Mapping[Cell, bool | None] = {"own": True, "passed": True, "failed": False}


def matrix(evidence: Evidence) -> tuple[CrossTest, ...]:
    """A row for each new test of each lane, and for each of the base's that it asks more of; the
    lanes' and the tests' order is the evidence's."""
    lanes = [lane for lane in evidence.lanes if lane.files]
    tried = _tried(evidence)
    by_base = _by_base(evidence)
    rows: list[CrossTest] = []
    for author in lanes:
        for result in author.checks:
            if result.check.kind == "test" and result.comparison is not None:
                rows += _rows(author, result, lanes, tried, by_base)
    return (
        *rows,
        *(_review_row(test, [lane.lane for lane in lanes]) for test in evidence.review_tests),
    )


def with_new(evidence: Evidence) -> Evidence:
    """With those tests as new that are a patch's own."""
    of_tests = (trial for trial in evidence.trials if trial.kind != "canary")
    authors = {trial.author or trial.on for trial in of_tests}
    rows = (
        CheckedPatch(
            lane.files,
            lane.checks,
            {result.check.name: result for result in evidence.baseline_of(lane)},
            lane.lane in authors,
        )
        for lane in evidence.lanes
    )
    lanes = zip(evidence.lanes, with_cut_off([*rows]), strict=True)
    return replace(evidence, lanes=tuple(replace(lane, checks=checks) for lane, checks in lanes))


_Tried = Mapping[tuple[str, str, str], Trial]


def _tried(evidence: Evidence) -> _Tried:
    """By tree ("" for the base), author and check: lanes that left the same tree share a run."""
    trees = {lane.lane: lane.tree or lane.lane for lane in evidence.lanes}
    return {
        (trees.get(item.on, ""), item.author, item.result.check.name): item
        for item in evidence.trials
        if item.kind == "cross"
    }


def _by_base(evidence: Evidence) -> Mapping[tuple[str, str], CheckResult]:
    """By lane and check the run by the base's version of the tests: its own where the patch changes
    none."""
    results = {
        (lane.lane, result.check.name): result
        for lane in evidence.lanes
        if not tests_changed(lane.files)
        for result in lane.checks
    }
    protected = (trial for trial in evidence.trials if trial.kind == "protected")
    return results | {(trial.on, trial.result.check.name): trial.result for trial in protected}


def _rows(
    author: LaneEvidence,
    own: CheckResult,
    lanes: Sequence[LaneEvidence],
    tried: _Tried,
    by_base: Mapping[tuple[str, str], CheckResult],
) -> Iterator[CrossTest]:
    comparison = own.comparison
    assert comparison is not None
    check = own.check.name
    runs = {
        lane.lane: tried.get((lane.tree or lane.lane, author.lane, check))
        for lane in lanes
        if lane.tree != author.tree
    }
    on_base = tried.get(("", author.lane, check))
    ends = {name: _Ends(run) for name, run in runs.items()}
    base = _Ends(on_base)
    files = {name: run.result.details for name, run in runs.items() if run is not None}
    files |= {"": on_base.result.details} if on_base else {}
    brought = on_base.paths if on_base else ()
    asking_more = (
        id
        for id in mended_ids(own, base.tests, brought)
        if any(
            ends[lane].of(id) == "failed"
            and (result := by_base.get((lane, check)))
            and result.tests
            and end_of(result.tests, id) == "passed"
            for lane in ends
        )
    )
    changed = (*changed_ids(own, base.tests, brought), *asking_more, *unloaded(own, base.tests))
    for id in (*comparison.new, *whole_and_single(comparison)[1], *changed):
        mine = _own_end(own, id)
        cells = {lane.lane: ends[lane.lane].of(id) if lane.lane in ends else mine for lane in lanes}
        unsteady = any(end.flaky(id) for end in (*ends.values(), base))
        says = _says(list(cells.values()), base.of(id), unsteady)
        yield CrossTest(
            id=id,
            author=author.lane,
            check=check,
            base=base.of(id),
            cells=cells,
            weighs=not says,
            says=says,
            changed=id in changed,
            files={**files, author.lane: own.details},
        )


def _own_end(own: CheckResult, id: str) -> Cell:
    """How a test ended on its author's patch: one that is skipped there, or expected to fail, has
    not passed. A file ran where its tests did."""
    if own.comparison is not None and id in own.comparison.new_failing:
        return "failed"
    return "not run" if own.tests and own.tests.by_id.get(id) == "skipped" else "own"


def kind_of(rows: Sequence[CrossTest]) -> str:
    """A noun for these: their author wrote them, or changed what the base has."""
    kinds = {row.changed for row in rows}
    if len(kinds) > 1:
        return "new or changed test"
    if True not in kinds:
        return "new test"
    return "changed test file" if all(is_file(row.id) for row in rows) else "changed test"


def _review_row(test: ReviewTest, lanes: Sequence[str]) -> CrossTest:
    """No lane's own: it has a measure of its own."""
    terms: Mapping[bool | None, Cell] = {True: "passed", False: "failed", None: "not tried"}
    cells = {lane: terms[test.ends.get(lane)] for lane in lanes}
    # It may pass on the base: it was asked for to tell the patches apart, not to fail there.
    says = _says(list(cells.values()), "failed", unsteady=False)
    return CrossTest(
        id=test.id,
        author=ASKED_OF + test.agent,
        check=test.check,
        base=terms[test.on_base],
        cells=cells,
        weighs=not says,
        says=says,
        files=dict.fromkeys(lanes, test.file),
    )


class _Ends:
    """How the author's tests ended in one run of them elsewhere."""

    def __init__(self, run: Trial | None) -> None:
        self.tests: Tests | None = run.result.tests if run else None
        self.again = run.result.again.tests if run and run.result.again else None
        self.tried = run is not None
        self.by_id = self.tests.by_id if self.tests else {}
        self.failed = {id for id, status in self.by_id.items() if status == "failed"}

    def of(self, id: str) -> Cell:
        """How one of them ended."""
        if not self.tried:
            return "not tried"
        status = end_of(self.tests, id) if self.tests else None
        if status in ("passed", "failed"):
            return status
        if is_file(id):  # it was loaded where a test of it ran
            return "passed" if any(id in above(name) for name in self.by_id) else "not run"
        # What holds a test may fail as a whole: a file that does not import there.
        whole = any(group in self.failed for group in above(id))
        whole = whole or (tells_no_file(id) and any(map(is_file, self.failed)))
        return "failed" if whole else "not run"

    def flaky(self, id: str) -> bool:
        """Whether it ended both ways on the same code."""
        if self.tests is None:
            return False
        two = {self.of(id), self.again.by_id.get(id) if self.again else None}
        return id in self.tests.flaky or two >= {"passed", "failed"}


def _says(cells: Sequence[Cell], base: Cell, unsteady: bool) -> str:
    """Why a test says nothing of the lanes; "" where it does."""
    if unsteady:
        return "flaky"
    if base == "passed":
        return "passes on the base"
    answers = {_RESULTS[cell] for cell in cells if cell in _RESULTS}
    if len(answers) == 2:
        return ""
    if len(cells) == 1:
        return "no other patch to try it on"
    if any(cell not in _RESULTS for cell in cells):
        did = "tried" if "not tried" in cells else "run"  # what fails before it may keep it from it
        return f"not {did} on enough patches to tell them apart"
    return "passes on every patch" if True in answers else "fails on every patch"


def tells(row: CrossTest, lanes: Sequence[str]) -> bool:
    """Whether it passes on one of these and fails on another, whatever it says of the task."""
    ends = {_RESULTS.get(row.cells.get(lane, "not tried")) for lane in lanes}
    return row.says != "flaky" and {True, False} <= ends


def spoiled(
    lane: str, rows: Sequence[CrossTest], authors: Collection[str]
) -> tuple[CrossTest, ...]:
    """New tests of these authors that pass on the base and on their own patch, and fail on this
    one: of the task they say nothing, of what the base did and this patch does not, they do."""
    return tuple(
        row
        for row in rows
        if row.author in authors
        and row.base == "passed"
        and row.says != "flaky"
        and row.cells.get(row.author) == "own"
        and row.cells.get(lane) == "failed"
    )


def tried_of(author: str, lane: str, rows: Sequence[CrossTest]) -> tuple[CrossTest, ...]:
    """An author's tests that ended on this lane's patch, but for those that say nothing of the
    task."""
    return tuple(
        row
        for row in rows
        if row.author == author
        and (row.is_from_review or row.base != "passed")
        and row.says != "flaky"
        and row.cells.get(lane) in _RESULTS
    )


def tests(rows: Sequence[CrossTest], lanes: Sequence[str]) -> tuple[Test, ...]:
    """The lanes' rows that weigh, as the selection reads them: by a lane's place in `lanes`."""
    return tuple(
        Test(
            author=lanes.index(row.author),
            results=tuple(_RESULTS.get(row.cells.get(lane, "not tried")) for lane in lanes),
        )
        for row in rows
        if row.weighs and not row.is_from_review
    )


def same_results(rows: Sequence[CrossTest], lanes: Sequence[str]) -> tuple[Group, ...]:
    """Lanes that pass and fail the same of all new tests: where any weighs, of those that pass on
    the base as well."""
    mapping: dict[tuple[bool | None, ...], list[str]] = {}
    cross_tests = [row for row in rows if tells(row, [*row.cells])]
    for lane in lanes if any(row.weighs for row in rows) else ():
        row = tuple(_RESULTS.get(test.cells.get(lane, "not tried")) for test in cross_tests)
        mapping.setdefault(row, []).append(lane)
    return tuple(
        Group(kind="alike", lanes=tuple(names))
        for row, names in mapping.items()
        if len(names) > 1 and None not in row
    )

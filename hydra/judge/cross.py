"""Each lane's new tests on every other lane's patch, as a matrix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hydra.checks.compare import above
from hydra.checks.record import CheckResult
from hydra.checks.results import Comparison, Tests
from hydra.judge.evidence import Asked, Evidence, LaneEvidence, Trial
from hydra.judge.selection import Test, shouting
from hydra.judge.verdict import Cell, CrossTest, Group

_RESULTS: Mapping[Cell, bool | None] = {"own": True, "passed": True, "failed": False}


ASKED_OF = "asked of "
"""What stands before an agent's name as the author of tests that it was asked for; no lane's name
has a blank."""


def matrix(evidence: Evidence) -> tuple[CrossTest, ...]:
    """A row for each new test of each lane; the lanes' and the tests' order is the evidence's."""
    lanes = [lane for lane in evidence.lanes if lane.files]
    tried = _tried(evidence)
    rows: list[CrossTest] = []
    for author in lanes:
        for result in author.checks:
            if result.check.kind == "test" and result.comparison is not None:
                rows += _rows(author, result, lanes, tried)
    return (*rows, *(_asked(one, [lane.lane for lane in lanes]) for one in evidence.asked))


_Tried = Mapping[tuple[str, str, str], Trial]


def _tried(evidence: Evidence) -> _Tried:
    """By tree ("" for the base), author and check: lanes that left the same tree share a run."""
    trees = {lane.lane: lane.tree or lane.lane for lane in evidence.lanes}
    return {
        (trees.get(it.on, ""), it.author, it.result.check.name): it
        for it in evidence.trials
        if it.kind == "cross"
    }


def _rows(
    author: LaneEvidence, own: CheckResult, lanes: Sequence[LaneEvidence], tried: _Tried
) -> Iterator[CrossTest]:
    found = own.comparison
    assert found is not None
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
    for id in (*found.new, *parted(found)[1]):
        mine: Cell = "own" if id in found.new else "failed"
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
            files={**files, author.lane: own.details},
        )


def parted(found: Comparison) -> tuple[list[str], list[str]]:
    """What is new and fails: what holds tests of the base that fail with it (a file that cannot
    be imported), and new tests."""
    holds = {group for id in (*found.broken, *found.still_failing) for group in above(id)}
    whole = [id for id in found.new_failing if id in holds]
    return whole, [id for id in found.new_failing if id not in holds]


def _asked(test: Asked, lanes: Sequence[str]) -> CrossTest:
    """No lane's own: it weighs as a test of an author nobody knows."""
    words: Mapping[bool | None, Cell] = {True: "passed", False: "failed", None: "not tried"}
    cells = {lane: words[test.ends.get(lane)] for lane in lanes}
    # It may pass on the base: it was asked for to tell the patches apart, not to fail there.
    says = _says(list(cells.values()), "failed", unsteady=False)
    return CrossTest(
        id=test.id,
        author=ASKED_OF + test.agent,
        check=test.check,
        base=words[test.on_base],
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
        held = self.tests.by_id.items() if self.tests else ()
        self.failed = {id for id, status in held if status == "failed"}

    def of(self, id: str) -> Cell:
        """How one of them ended."""
        if not self.tried:
            return "not tried"
        status = self.tests.by_id.get(id) if self.tests else None
        if status in ("passed", "failed"):
            return status
        # What holds a test may fail as a whole: a file that does not import there.
        return "failed" if any(group in self.failed for group in above(id)) else "not run"

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
    known = {_RESULTS[cell] for cell in cells if cell in _RESULTS}
    if len(known) == 2:
        return ""
    if len(cells) == 1:
        return "no other patch to try it on"
    if any(cell not in _RESULTS for cell in cells):
        return "not tried on enough patches to tell them apart"
    return "passes on every patch" if True in known else "fails on every patch"


def tests(rows: Sequence[CrossTest], lanes: Sequence[str]) -> tuple[Test, ...]:
    """The rows that weigh, as the selection reads them: by a lane's place in `lanes`."""
    return tuple(
        Test(
            author=lanes.index(row.author) if row.author in lanes else None,
            results=tuple(_RESULTS.get(row.cells.get(lane, "not tried")) for lane in lanes),
        )
        for row in rows
        if row.weighs
    )


def unheard(rows: Sequence[CrossTest], lanes: Sequence[str]) -> tuple[CrossTest, ...]:
    """The rows, those of a lane that brings too many without their weight."""
    loud = {lanes[one] for one in shouting(len(lanes), tests(rows, lanes))}
    says = "its lane brings so many more than the others that none counts"
    return tuple(
        replace(row, weighs=False, says=says) if row.weighs and row.author in loud else row
        for row in rows
    )


def alike(rows: Sequence[CrossTest], lanes: Sequence[str]) -> tuple[Group, ...]:
    """Lanes that pass and fail the same of all that weigh."""
    held: dict[tuple[bool | None, ...], list[str]] = {}
    weighing = [row for row in rows if row.weighs]
    for lane in lanes if weighing else ():
        row = tuple(_RESULTS.get(it.cells.get(lane, "not tried")) for it in weighing)
        held.setdefault(row, []).append(lane)
    return tuple(
        Group(kind="alike", lanes=tuple(names))
        for row, names in held.items()
        if len(names) > 1 and None not in row
    )

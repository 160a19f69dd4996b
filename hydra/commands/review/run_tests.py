"""Runs a model's tests on the base and on each group's patch, twice each."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import trio
from msgspec import Struct, field
from msgspec.structs import replace

from hydra.adapters.probe import available
from hydra.checks.baseline import base_of, lane_rounds, newest, recorded
from hydra.checks.context import CheckContext
from hydra.checks.results import Tests
from hydra.checks.suite import CheckSuite
from hydra.commands.review.excerpts import gives
from hydra.config.schema import Config
from hydra.git.diff import TreeEntry, tree_with, write_blob
from hydra.git.patches import commit_tree
from hydra.race.check_kit import kit_of
from hydra.race.command_context import CommandContext
from hydra.race.dependencies import FROZEN, linked
from hydra.race.signals import ending_signals
from hydra.records.plan import RacePlan
from hydra.records.request import Check
from hydra.records.store.reader import RunRecord
from hydra.text import joined, were

_MESSAGE = "tried by Hydra, and no patch of anybody's\n"
_OUTPUT = 4 * 1024**2
BASE = "_base"

Cell = Literal["passed", "failed", "flaky", "not run"]

ROWS = 200
"""Tests of one answer that are looked at."""


class Twice(Struct, frozen=True):
    """One check on one tree, run twice. None: that run has no tests that can be read."""

    first: Tests | None = None
    again: Tests | None = None

    def of(self, id: str) -> Cell:
        """How a test ended: `flaky` unless both runs say the same."""
        if self.first is None or self.again is None:
            return "not run"
        ends = {self.first.by_id.get(id), self.again.by_id.get(id)}
        if id in self.first.flaky or id in self.again.flaky or ends >= {"passed", "failed"}:
            return "flaky"
        if ends == {"passed"}:
            return "passed"
        return "failed" if ends == {"failed"} else "not run"


class ResultRow(Struct, frozen=True, kw_only=True):
    """One test. `cells` goes by group's letter; `why` says in a clause why it does not count."""

    id: str
    check: str
    base: Cell
    cells: Mapping[str, Cell]
    why: str = ""

    @property
    def counts(self) -> bool:
        """Whether it tells groups apart."""
        return not self.why


class Stage(Struct, frozen=True, kw_only=True):
    """Where they run: the run, its plan with the checks that are needed, and the question's own
    record and grounds."""

    place: CommandContext
    record: RunRecord
    plan: RacePlan
    config: Config
    id: str
    folder: Path
    lanes: Mapping[str, str]
    """Each letter's lane, for a person."""
    untried: Sequence[str]
    """Lanes of the groups that there is no room for."""
    tell: Callable[[str], None]


class ReviewRuns(Struct, frozen=True, kw_only=True):
    """What came of it. `outputs` has, by letter and check, the files of what was printed."""

    rows: tuple[ResultRow, ...] = ()
    warnings: tuple[str, ...] = ()
    interrupted: int = 0
    outputs: Mapping[tuple[str, str], Path] = field(default_factory=dict)

    def printed(self, letter: str, row: ResultRow) -> str:
        """What that check printed of that test's failure."""
        path = self.outputs.get((letter, row.check))
        text = ""
        if path is not None:
            with suppress(OSError), path.open("rb") as file:
                text = file.read(_OUTPUT).decode("utf-8", "replace")
        return gives(text, row.id) or "failed"


def run_apart(stage: Stage, tests: Mapping[str, str], commits: Mapping[str, str]) -> ReviewRuns:
    """Runs the checks on the base and on `commits` (by letter), each with `tests` brought.

    Within the trials' limit of time; Ctrl-C ends it. Raises `OSError`, `GitFailed`.
    """
    adapters = available.of_plan(stage.config, stage.plan)
    around = stage.place.run(
        stage.config, adapters, stage.record.folder, commands=stage.plan.commands
    )
    folder = stage.folder / "checks"
    folder.mkdir(mode=0o700)
    # Their grounds go by the question and not by the run: whoever sweeps them finds its record.
    context = kit_of(replace(stage.plan, run=stage.id), around, folder)
    context = context.as_on_base(newest(stage.record.folder, BASE))
    base = stage.plan.base
    brought = {
        letter: _with(stage, commit, tests) for letter, commit in {BASE: base, **commits}.items()
    }
    results = base_of(stage.record.folder, _tests_of(stage), context.ground)
    bare = {f"{BASE}-bare": base} if results is None else {}
    with linked(
        stage.plan, stage.place.repository, context.workspace_folder(FROZEN)
    ) as dependencies:
        context = replace(context, dependencies=dependencies)
        return trio.run(_TreeRuns(stage, context, {**bare, **brought}).run)


def _with(stage: Stage, commit: str, tests: Mapping[str, str]) -> str:
    """A commit of that tree with the files added."""
    git_dir = stage.record.patches
    entries: dict[bytes, TreeEntry | None] = {
        path.encode(): TreeEntry("100644", write_blob(git_dir, text.encode()))
        for path, text in tests.items()
    }
    with tempfile.TemporaryDirectory(prefix="tree-", dir=git_dir) as scratch:
        tree = tree_with(git_dir, commit, entries, Path(scratch))
    return commit_tree(git_dir, tree=tree, base=stage.plan.base, message=_MESSAGE)


def _tests_of(stage: Stage) -> list[Check]:
    return [check for check in stage.plan.checks if check.kind == "test"]


class _TreeRuns:
    """The trees one after another, within the limit."""

    def __init__(self, stage: Stage, context: CheckContext, commits: Mapping[str, str]) -> None:
        self._stage = stage
        self._context = context
        self._suites = {
            name: CheckSuite(
                context, f"t-{name.strip('_').lower()}", commit, name, lambda _kind, _data: None
            )
            for name, commit in commits.items()
        }
        self._done: set[str] = set()
        self._interrupted = 0

    async def run(self) -> ReviewRuns:
        """To the end, the limit, or the first signal."""
        limit = self._stage.plan.checking.trials.seconds
        with trio.move_on_after(limit) as scope:
            async with trio.open_nursery() as nursery:
                await nursery.start(self._listen, scope)
                for name, suite in self._suites.items():
                    self._stage.tell(f"its tests on {self._shown(name)}")
                    await suite.run()
                    await suite.run_again(_tests_of(self._stage))
                    self._done.add(name)
                nursery.cancel_scope.cancel()
        return ReviewRuns(
            rows=self._rows(),
            warnings=tuple(self._warnings(limit)),
            interrupted=self._interrupted,
            outputs={
                (name, check): self._context.run_folder / result.output
                for name, suite in self._suites.items()
                for check, result in suite.results.items()
                if result.output
            },
        )

    async def _listen(
        self,
        scope: trio.CancelScope,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        with ending_signals() as received:
            task_status.started()
            async for number in received:
                self._interrupted = self._interrupted or number
                scope.cancel()

    def _shown(self, name: str) -> str:
        return "the base" if name.startswith(BASE) else self._stage.lanes[name]

    def _rows(self) -> tuple[ResultRow, ...]:
        result_rows: list[ResultRow] = []
        for check in _tests_of(self._stage):
            runs = {name: self._twice(name, check.name) for name in self._suites}
            bare = runs.pop(f"{BASE}-bare", Twice())
            names = _named_tests(self._stage, check.name)
            names |= {case.id for case in bare.first.cases} if bare.first else set()
            base = runs.pop(BASE)
            ended = {name: run for name, run in runs.items() if name in self._done}
            late = [self._shown(name) for name in runs if name not in ended]
            result_rows += rows(check.name, base, ended, names, (*late, *self._stage.untried))
        return tuple(result_rows)

    def _twice(self, name: str, check: str) -> Twice:
        result = self._suites[name].results[check]
        if name not in self._done or result.again is None:
            return Twice(result.tests if name.endswith("-bare") else None)
        return Twice(result.tests, result.again.tests)

    def _warnings(self, limit: float) -> Iterator[str]:
        missing = [self._shown(name) for name in self._suites if name not in self._done]
        if missing and not self._interrupted:
            yield f"the limit of {limit:g} s was reached, so its tests were not run on " + (
                ", ".join(missing)
            )
        for name, suite in self._suites.items():
            for result in suite.results.values():
                is_test = result.check.kind == "test"
                if name in self._done and is_test and result.tests is None:
                    why = result.reason or result.says
                    yield f"{result.check.name} did not run on {self._shown(name)}: {why}"


def _named_tests(stage: Stage, check: str) -> set[str]:
    """Every test that the run's own rounds have named, on the base or on any patch."""
    names: set[str] = set()
    for round in lane_rounds(stage.record.folder):
        for folder in round.iterdir():
            result = recorded(folder).get(check) if folder.is_dir() else None
            names |= {case.id for case in result.tests.cases} if result and result.tests else set()
    return names


# ---- Which of the tests count.


def rows(
    check: str,
    base: Twice,
    groups: Mapping[str, Twice],
    names: Collection[str],
    untried: Sequence[str] = (),
) -> tuple[ResultRow, ...]:
    """A row for each test that the new files brought; `names` are the ids that were there without
    them, on the base or on any patch; `untried` names those worth telling apart that are not in
    `groups`. Without any of these nothing is known of a test, and there is no row."""
    if not groups:
        return ()
    seen = [tests for run in (base, *groups.values()) for tests in (run.first, run.again) if tests]
    new = dict.fromkeys(case.id for tests in seen for case in tests.cases if case.id not in names)
    result_rows = []
    for id in list(new)[:ROWS]:
        on_base, cells = base.of(id), {letter: run.of(id) for letter, run in groups.items()}
        why = _why(on_base, list(cells.values()), untried)
        result_rows.append(ResultRow(id=id, check=check, base=on_base, cells=cells, why=why))
    return tuple(result_rows)


def _why(base: Cell, cells: Sequence[Cell], untried: Sequence[str]) -> str:
    if "flaky" in (base, *cells):
        return "it does not end the same in every run"
    if base == "not run":
        return "it does not run on the base"
    if "not run" in cells:
        return "it does not run on every patch"
    if len(set(cells)) > 1:
        return ""
    ends = f"it {'passes' if cells[0] == 'passed' else 'fails'} on every patch that was tried"
    if not untried:
        return ends
    # Another may end otherwise: the test may be right, and all of these wrong.
    return f"unknown: {ends}, and {joined(untried)} {were(untried)} not"

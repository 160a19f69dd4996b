"""Runs a model's tests on the base and on each leading patch, twice each."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import trio

from hydra.app import roster
from hydra.app.checking import Surroundings, kit_of
from hydra.app.dependencies import FROZEN, linked
from hydra.app.import_proof import prove
from hydra.app.runs import Place
from hydra.app.views import view_source
from hydra.checks.kit import Kit
from hydra.checks.record import CheckResult
from hydra.checks.recorded import base_of, recorded, rounds
from hydra.checks.suite import Suite
from hydra.config import Config
from hydra.git.changes import Entry, tree_with, write_blob
from hydra.git.patches import commit_tree
from hydra.judge.asking.apart import Row, Twice, rows
from hydra.judge.asking.excerpts import gives
from hydra.judge.asking.newtests import NewTest
from hydra.model import Check, RacePlan
from hydra.paths import ground_dir, home_dir
from hydra.race import signals
from hydra.store import RunRecord

_MESSAGE = "tried by Hydra, and no patch of anybody's\n"
_OUTPUT = 4 * 1024**2
BASE = "_base"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Where they run: the run, its plan with the checks that are needed, and the question's own
    record and grounds."""

    place: Place
    found: RunRecord
    plan: RacePlan
    config: Config
    environ: Mapping[str, str]
    id: str
    folder: Path
    lanes: Mapping[str, str]
    """Each letter's lane, for a person."""
    tell: Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came of it. `outputs` has, by letter and check, the files of what was printed."""

    rows: tuple[Row, ...] = ()
    warnings: tuple[str, ...] = ()
    interrupted: int = 0
    outputs: Mapping[tuple[str, str], Path] = field(default_factory=dict)

    def said(self, letter: str, row: Row) -> str:
        """What that check printed of that test's failure."""
        path = self.outputs.get((letter, row.check))
        text = ""
        if path is not None:
            with suppress(OSError), path.open("rb") as file:
                text = file.read(_OUTPUT).decode("utf-8", "replace")
        return gives(text, row.id) or "failed"


def run_apart(stage: Stage, tests: Sequence[NewTest], commits: Mapping[str, str]) -> Ran:
    """Runs the checks on the base and on `commits` (by letter), each with `tests` brought.

    Within the trials' limit of time; Ctrl-C ends it. Raises `OSError`, `GitFailed`.
    """
    home = home_dir(stage.environ)
    adapters = roster.of_plan(stage.config, stage.plan)
    around = Surroundings(
        repository=stage.place.repository,
        run_folder=stage.found.folder,
        state=stage.place.state,
        home=home,
        environ=stage.environ,
        extra=stage.config.checks.environment,
        adapters=adapters,
        view=view_source(
            config=stage.config,
            environ=stage.environ,
            home=home,
            state=stage.place.state,
            repository=stage.place.repository,
            adapters={adapter.key(): adapter for adapter in adapters},
        ),
    )
    folder = stage.folder / "checks"
    folder.mkdir(mode=0o700)
    kit = kit_of(stage.plan, around, folder)
    # Their grounds go by the question and not by the run: whoever sweeps them finds its record.
    kit = replace(kit, ground=lambda label: ground_dir(stage.place.state, stage.id, label))
    base = stage.plan.task.base
    brought = {
        letter: _with(stage, commit, tests) for letter, commit in {BASE: base, **commits}.items()
    }
    bare = {} if _baseline_is_known(stage) else {f"{BASE}-bare": base}
    with linked(stage.plan, stage.place.repository, kit.ground(FROZEN)) as dependencies:
        kit = replace(kit, dependencies=dependencies)
        trio.run(prove, kit, base)
        return trio.run(_Running(stage, kit, {**bare, **brought}).run)


def _with(stage: Stage, commit: str, tests: Sequence[NewTest]) -> str:
    """A commit of that tree with the files added."""
    git_dir = stage.found.patches
    entries: dict[bytes, Entry | None] = {
        test.path.encode(): Entry("100644", write_blob(git_dir, test.text.encode()))
        for test in tests
    }
    with tempfile.TemporaryDirectory(prefix="tree-", dir=git_dir) as scratch:
        tree = tree_with(git_dir, commit, entries, Path(scratch))
    return commit_tree(git_dir, tree=tree, base=stage.plan.task.base, message=_MESSAGE)


def _tests_of(stage: Stage) -> list[Check]:
    return [check for check in stage.plan.checks if check.kind == "test"]


def _baseline_is_known(stage: Stage) -> bool:
    return base_of(stage.found.folder, _tests_of(stage)) is not None


class _Running:
    """The trees one after another, within the limit."""

    def __init__(self, stage: Stage, kit: Kit, commits: Mapping[str, str]) -> None:
        self._stage = stage
        self._kit = kit
        self._suites = {
            name: Suite(kit, f"t-{name.strip('_').lower()}", commit, name, _quiet)
            for name, commit in commits.items()
        }
        self._done: set[str] = set()
        self._interrupted = 0

    async def run(self) -> Ran:
        """To the end, the limit, or the first signal."""
        limit = self._stage.plan.trials.seconds
        with trio.move_on_after(limit) as scope:
            async with trio.open_nursery() as nursery:
                await nursery.start(self._listen, scope)
                for name, suite in self._suites.items():
                    self._stage.tell(f"its tests on {self._shown(name)}")
                    await suite.run()
                    await suite.run_again(_tests_of(self._stage))
                    self._done.add(name)
                nursery.cancel_scope.cancel()
        return Ran(
            rows=self._rows(),
            warnings=tuple(self._warnings(limit)),
            interrupted=self._interrupted,
            outputs={
                (name, check): self._kit.run_folder / result.output
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
        with signals() as received:
            task_status.started()
            async for number in received:
                self._interrupted = self._interrupted or number
                scope.cancel()

    def _shown(self, name: str) -> str:
        return "the base" if name.startswith(BASE) else self._stage.lanes[name]

    def _rows(self) -> tuple[Row, ...]:
        found: list[Row] = []
        for check in _tests_of(self._stage):
            runs = {name: self._twice(name, check.name) for name in self._suites}
            bare = runs.pop(f"{BASE}-bare", Twice())
            known = _known(self._stage, check.name)
            known |= {case.id for case in bare.first.cases} if bare.first else set()
            found += rows(check.name, runs.pop(BASE), runs, known)
        return tuple(found)

    def _twice(self, name: str, check: str) -> Twice:
        held = self._suites[name].results[check]
        if name not in self._done or held.again is None:
            return Twice(held.tests if name.endswith("-bare") else None)
        return Twice(held.tests, held.again.tests)

    def _warnings(self, limit: float) -> Iterator[str]:
        missing = [self._shown(name) for name in self._suites if name not in self._done]
        if missing and not self._interrupted:
            yield f"the limit of {limit:g} s was reached, so its tests were not run on " + (
                ", ".join(missing)
            )
        for name, suite in self._suites.items():
            for result in suite.results.values():
                if name in self._done and _did_not_run(result):
                    why = result.reason or result.says
                    yield f"{result.check.name} did not run on {self._shown(name)}: {why}"


def _did_not_run(result: CheckResult) -> bool:
    return result.check.kind == "test" and result.tests is None


def _known(stage: Stage, check: str) -> set[str]:
    """Every test that the run's own rounds have named, on the base or on any patch."""
    known: set[str] = set()
    for round in rounds(stage.found.folder):
        for folder in round.iterdir():
            held = recorded(folder).get(check) if folder.is_dir() else None
            known |= {case.id for case in held.tests.cases} if held and held.tests else set()
    return known


def _quiet(_kind: str, _data: Mapping[str, object]) -> None:
    """Each check has a file that tells more."""

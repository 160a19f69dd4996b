"""One round of checks outside of a race: what is run, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path

import trio
from msgspec import Struct

from hydra.checks.baseline import base_of
from hydra.checks.context import CheckContext, Tell
from hydra.checks.record import CheckDocument, CheckResult, CheckStatus
from hydra.checks.round import CheckRun, held_back
from hydra.errors import (
    EXIT_INTERRUPTED,
    EXIT_NO_USABLE_LANE,
    EXIT_OK,
    EXIT_TERMINATED,
)
from hydra.log import bind
from hydra.race.signals import ending_signals
from hydra.records.request import TrialCap
from hydra.records.store.reader import RunRecord
from hydra.report.checks import CheckedLane, CheckedRun

SCHEMA = 1

LaneTell = Callable[[str, str, Mapping[str, object]], None]
"""Takes what goes on: the lane ("" for the base), the kind of event, its data."""


def silent(_lane: str, _kind: str, _data: Mapping[str, object]) -> None:
    """Tells nobody."""


class CheckReport(Struct, frozen=True, kw_only=True):
    """What came of it: by lane, and on the base. `interrupted` is a signal's number, or 0."""

    run: str
    folder: Path
    base: Mapping[str, CheckResult]
    lanes: Mapping[str, tuple[CheckResult, ...]]
    interrupted: int = 0
    base_recorded: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def held_back(self) -> tuple[str, ...]:
        """Why a patch is not usable, a sentence each, for the first that is not."""
        return next((names for names in map(held_back, self.lanes.values()) if names), ())

    @property
    def unstartable(self) -> CheckResult | None:
        """A check whose program, or a path that it names, is missing on the base and on every
        patch: it says nothing of any of them."""
        return next(filter(self._is_absent, self.base.values()), None)

    def _is_absent(self, base: CheckResult) -> bool:
        return all(map(_lacks, self._of(base.check.name)))

    def _of(self, name: str) -> Iterator[CheckResult]:
        """All that a check came to."""
        results = chain(self.base.values(), *self.lanes.values())
        return (result for result in results if result.check.name == name)

    @property
    def telling_nothing(self) -> Iterator[str]:
        """The checks that fail on the base and on every patch, and do not say of what."""
        for name in self.base:
            if all(
                result.status is CheckStatus.FAILED and result.tests is None
                for result in self._of(name)
            ):
                yield name

    @property
    def exit_code(self) -> int:
        """0 where every required check passes or breaks nothing, on every lane."""
        if self.interrupted:
            return EXIT_INTERRUPTED if self.interrupted == 2 else EXIT_TERMINATED
        return EXIT_NO_USABLE_LANE if self.held_back else EXIT_OK

    def document(self) -> CheckedRun:
        """As `--json` prints it and as the run's folder keeps it."""
        return CheckedRun(
            run=self.run,
            folder=str(self.folder),
            baseline=tuple(map(CheckDocument.of, self.base.values())),
            baseline_recorded=self.base_recorded,
            lanes=tuple(
                CheckedLane(lane, tuple(map(CheckDocument.of, results)), held_back(results))
                for lane, results in self.lanes.items()
            ),
            exit_code=self.exit_code,
            warnings=tuple(self.warnings),
        )


def _lacks(result: CheckResult) -> bool:
    gone = result.status is CheckStatus.NO_TESTS and result.exit_code == 4
    return gone or result.status is CheckStatus.PROGRAM_MISSING


async def run_round(
    record: RunRecord,
    context: CheckContext,
    parallel: int,
    subjects: Mapping[str, str],
    base: str,
    tell: LaneTell,
    cap: TrialCap | None = None,
) -> CheckReport:
    """Runs the checks of `context` on each of `subjects` (commits by name) and, where that is not
    recorded, on `base`; then, with a `cap`, the trials. Ctrl-C ends them; what is done by then
    stands."""
    bind(run=record.id)
    round = CheckRun(context, parallel)
    stops = {lane: trio.CancelScope() for lane in subjects}
    beside, after = trio.CancelScope(), trio.CancelScope()
    warnings: tuple[str, ...] = ()
    done: dict[str, tuple[CheckResult, ...]] = {}
    number = 0
    recorded = False

    async def listen(task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        nonlocal number
        with ending_signals() as received:
            task_status.started()
            async for signal in received:
                number = number or signal
                for scope in (*stops.values(), beside, after):
                    scope.cancel()

    async def find_base() -> None:
        nonlocal recorded
        look = partial(base_of, record.folder, context.plan.checks, context.ground, context.folder)
        results = await trio.to_thread.run_sync(look)
        if results is not None and all(map(context.has_network_of, results.values())):
            round.set_baseline(results)
            recorded = True
            return
        with beside:
            await round.baseline(base, partial(tell, ""))

    async def lane(name: str, commit: str) -> None:
        function: Tell = partial(tell, name)
        done[name] = await round.lane(name, commit, function, stop=stops[name])

    async def trials(cap: TrialCap) -> None:
        nonlocal warnings
        from hydra.race.cross_test_phase import CrossTestInputs, run_cross_tests

        tried = CrossTestInputs(
            context=round.context,
            base=base,
            on_base=round.base,
            commits=subjects,
            results={name: done[name] for name in subjects},
            parallel=parallel,
        )
        try:
            await run_cross_tests(tried, cap, partial(tell, ""), after)
        except Exception as bug:  # the checks' results stand, whatever it is
            warnings = (f"Hydra itself failed on its trials: {type(bug).__name__}: {bug}",)

    async with trio.open_nursery() as outer:
        await outer.start(listen)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(find_base)
            for name, commit in subjects.items():
                nursery.start_soon(lane, name, commit)
        if cap is not None:
            await trials(cap)
        outer.cancel_scope.cancel()
    return CheckReport(
        run=record.id,
        folder=context.folder,
        base=round.base,
        lanes={name: done[name] for name in subjects},
        interrupted=number,
        base_recorded=recorded,
        warnings=warnings,
    )

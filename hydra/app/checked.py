"""One round of checks outside of a race: what is run, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import trio

from hydra.checks.kit import Kit, Tell
from hydra.checks.record import CheckResult, Status, document
from hydra.checks.recorded import base_of
from hydra.checks.round import Round, held_back
from hydra.errors import EXIT_INTERRUPTED, EXIT_NO_USABLE_LANE, EXIT_OK, EXIT_TERMINATED
from hydra.model import TrialCap
from hydra.race import signals
from hydra.store import RunRecord

SCHEMA = 1

LaneTell = Callable[[str, str, Mapping[str, object]], None]
"""Takes what goes on: the lane ("" for the base), the kind of event, its data."""


def silent(_lane: str, _kind: str, _data: Mapping[str, object]) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
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
        return next((held for held in map(held_back, self.lanes.values()) if held), ())

    @property
    def unstartable(self) -> CheckResult | None:
        """A check whose program is missing on the base and on every patch: it says nothing of any
        of them."""
        return next(filter(self._is_absent, self.base.values()), None)

    def _is_absent(self, base: CheckResult) -> bool:
        name = base.check.name
        results = [base, *chain.from_iterable(self.lanes.values())]
        return all(
            result.status is Status.PROGRAM_MISSING
            for result in results
            if result.check.name == name
        )

    @property
    def exit_code(self) -> int:
        """0 where every required check passes or breaks nothing, on every lane."""
        if self.interrupted:
            return EXIT_INTERRUPTED if self.interrupted == 2 else EXIT_TERMINATED
        return EXIT_NO_USABLE_LANE if self.held_back else EXIT_OK

    def document(self) -> dict[str, object]:
        """As `--json` prints it and as the run's folder keeps it."""
        return {
            "schema": SCHEMA,
            "kind": "check",
            "run": self.run,
            "folder": str(self.folder),
            "baseline": [document(result) for result in self.base.values()],
            "baseline_recorded": self.base_recorded,
            "lanes": [
                {
                    "lane": lane,
                    "checks": [document(result) for result in results],
                    "held_back": list(held_back(results)),
                }
                for lane, results in self.lanes.items()
            ],
            "exit_code": self.exit_code,
            "warnings": list(self.warnings),
        }


async def run_round(
    found: RunRecord,
    kit: Kit,
    parallel: int,
    subjects: Mapping[str, str],
    base: str,
    tell: LaneTell,
    cap: TrialCap | None = None,
) -> Checked:
    """Runs the checks of `kit` on each of `subjects` (commits by name) and, where that is not
    recorded, on `base`; then, with a `cap`, the trials. Ctrl-C ends them; what is done by then
    stands."""
    round = Round(kit, parallel)
    stops = {lane: trio.CancelScope() for lane in subjects}
    beside, after = trio.CancelScope(), trio.CancelScope()
    warnings: tuple[str, ...] = ()
    done: dict[str, tuple[CheckResult, ...]] = {}
    number = 0
    recorded = False

    async def listen(task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        nonlocal number
        with signals() as received:
            task_status.started()
            async for signal in received:
                number = number or signal
                for scope in (*stops.values(), beside, after):
                    scope.cancel()

    async def find_base() -> None:
        nonlocal recorded
        known = await trio.to_thread.run_sync(base_of, found.folder, kit.checks)
        if known is not None:
            round.known(known)
            recorded = True
            return
        with beside:
            await round.baseline(base, partial(tell, ""))

    async def lane(name: str, commit: str) -> None:
        told: Tell = partial(tell, name)
        done[name] = await round.lane(name, commit, told, stop=stops[name])

    async def trials(cap: TrialCap) -> None:
        nonlocal warnings
        from hydra.app.trying import Tried, try_all  # a landing's check needs none of it

        tried = Tried(
            kit=kit,
            base=base,
            on_base=round.base,
            commits=subjects,
            results={name: done[name] for name in subjects},
            parallel=parallel,
        )
        try:
            await try_all(tried, cap, partial(tell, ""), after)
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
    return Checked(
        run=found.id,
        folder=kit.folder,
        base=round.base,
        lanes={name: done[name] for name in subjects},
        interrupted=number,
        base_recorded=recorded,
        warnings=warnings,
    )

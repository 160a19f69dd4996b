"""One round of checks outside of a race, again or others, or for a landing: what is run, and what
came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import Any

import trio
from msgspec import Struct
from msgspec.structs import replace

from hydra.adapters.probe import available
from hydra.checks.baseline import LANDING, base_of
from hydra.checks.context import CheckContext, Tell
from hydra.checks.record import CheckDocument, CheckResult, CheckStatus, document
from hydra.checks.round import CheckRun, held_back
from hydra.commands.check_plan import known_checks, plan_here
from hydra.config.schema import Config
from hydra.errors import (
    EXIT_INTERRUPTED,
    EXIT_NO_USABLE_LANE,
    EXIT_OK,
    EXIT_TERMINATED,
    Refused,
)
from hydra.git import patches
from hydra.git.runner import run as git
from hydra.log import bind
from hydra.paths import ground_dir
from hydra.race.check_hints import refusal
from hydra.race.check_kit import kit_of
from hydra.race.check_selection import folder_of
from hydra.race.command_context import CommandContext
from hydra.race.dependencies import linked_aside
from hydra.race.hidden_places import HiddenPlaces, list_surplus
from hydra.race.recovery import history, runs
from hydra.race.recovery.retention import remove_rounds
from hydra.race.signals import ending_signals
from hydra.records.codec import as_json
from hydra.records.plan import RacePlan
from hydra.records.request import TrialCap
from hydra.records.store.files import alone, shared, write_json
from hydra.records.store.reader import RunRecord
from hydra.report.checks import CheckedLane, CheckedRun
from hydra.text import of_run
from hydra.workspace import tree

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
        rows = self.base.values()
        return next((row for row in rows if all(map(_lacks, self._of(row.check.name)))), None)

    def _of(self, name: str) -> Iterator[CheckResult]:
        """All that a check came to."""
        results = chain(self.base.values(), *self.lanes.values())
        return (result for result in results if result.check.name == name)

    @property
    def drops(self) -> Iterator[str]:
        """How each check goes that fails everywhere, and does not say of what."""
        for name in self.base:
            rows = self._of(name)
            if all(row.status is CheckStatus.FAILED and row.tests is None for row in rows):
                line = f"hydra check --drop {quote(name)}{of_run(self.run)}"
                why = f"{name} fails on the base and on every patch"
                yield f"{why}: if the mistake is its own, {line}"

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


def check(
    run: str, lanes: Sequence[str], flags: Mapping[str, object], tell: LaneTell
) -> CheckReport:
    """Runs checks on patches of a run that has ended; without lanes, of every one that has any.

    Raises `UsageError` for an unknown lane or where there are no checks, `Refused` while the run is
    under way, where nothing confines what only the repository names, or where a check's program is
    nowhere: such a round leaves no record. `RecordError`.
    """
    place = runs.repository_runs()
    record, folder = runs.find(place, run), folder_of(place.repository.root, Path.cwd())
    with shared(record.folder):
        plan, config, warnings = plan_here(place, record, flags, folder)
        subjects = _subjects(record, lanes)
        # Of some lanes alone they say too little.
        cap = None if lanes else plan.checking.trials
        done = trio.run(_checked, place, record, plan, config, subjects, tell, cap)
        _refuse_unstartable(done, place, folder, plan)
        more = () if lanes else done.drops
        return replace(done, warnings=(*warnings, *done.warnings, *more))


def _refuse_unstartable(
    done: CheckReport, place: CommandContext, folder: str, plan: RacePlan
) -> None:
    if (absent := done.unstartable) is None:
        return
    with suppress(OSError):
        tree.remove(done.folder)
    way = next((lack.told_of("a check", folder) for lack in absent.missing), "")
    if absent.status is CheckStatus.NO_TESTS:
        raise Refused(
            f"your tests cannot run here: {absent.reason}",
            hint=way or "a check sees the base or a patch, not what only your checkout has",
        )
    raise refusal(
        absent.reason,
        absent.check,
        place.repository.root,
        way,
        folder=folder,
        setup=plan.setup,
        shown=plan.confined,
        racing=False,
    )


def check_commit(record: RunRecord, commit: str, *, tell: LaneTell = silent) -> dict[str, Any]:
    """The run's own checks on a commit (or tree) in its patches.git, held against the run's base.

    `ok`: no required check holds it back; `why`: the first reason; and the document of `check`.
    A run without checks is `ok`, with none. Raises what `check` does.
    """
    place = runs.repository_runs()
    plan = history.plan(record.folder)
    if not known_checks(record.folder, plan.checks):
        return {"ok": True, "why": "", "checks": [], "baseline": [], "folder": None}
    commit = _as_commit(record, commit, plan)
    folder = folder_of(place.repository.root, Path.cwd())
    plan, config, warnings = plan_here(place, record, {}, folder)
    done = trio.run(_checked, place, record, plan, config, {LANDING: commit}, tell, None)
    done = replace(done, warnings=warnings)
    data = as_json(done.document())
    return {
        "ok": not done.held_back and not done.interrupted,
        "why": "it was interrupted" if done.interrupted else "; ".join(done.held_back),
        "interrupted": done.interrupted,
        "checks": [document(result) for result in done.lanes[LANDING]],
        "baseline": data["baseline"],
        "folder": data["folder"],
    }


def _as_commit(record: RunRecord, name: str, plan: RacePlan) -> str:
    kind = git("cat-file", "-t", name, git_dir=record.patches, isolated=True).line
    if kind != "tree":
        return name
    return patches.commit_tree(record.patches, tree=name, base=plan.base, message="to be checked\n")


def _subjects(record: RunRecord, lanes: Sequence[str]) -> dict[str, str]:
    if lanes:
        return {lane: runs.commit_of(record, lane) for lane in dict.fromkeys(lanes)}
    subjects = runs.patched(record)
    runs.check_patches(record)
    return subjects


async def _checked(
    place: CommandContext,
    record: RunRecord,
    plan: RacePlan,
    config: Config,
    subjects: Mapping[str, str],
    tell_lane: LaneTell,
    cap: TrialCap | None,
) -> CheckReport:
    adapters = available.of_plan(config, plan)
    folder = folder_of(place.repository.root, Path.cwd())
    around = place.run(config, adapters, record.folder, commands=plan.commands)
    surplus = list_surplus(around, plan, folder)
    around = replace(around, surplus=surplus)
    try:
        context = await trio.to_thread.run_sync(kit_of, plan, around)
        if LANDING in subjects:
            (context.folder / LANDING).mkdir(mode=0o700)
    except OSError as error:
        raise Refused(f"the run's folder cannot be written: {error.strerror}") from error
    frozen = context.workspace_folder(f"_{context.folder.name}-frozen")
    hidden = HiddenPlaces.of(around, surplus, confined=plan.confinement.holds)

    def warn(text: str) -> None:
        tell_lane("", "run_warning", {"text": text})

    def tell(lane: str, kind: str, data: Mapping[str, object]) -> None:
        tell_lane(lane, kind, data)
        if hidden.concerns(kind, data):
            looks.send_nowait(partial(hidden.notice, kind, data))

    with alone(context.folder):  # for as long as its grounds are in use
        path = ground_dir(place.state, record.id, "x").parent
        await trio.to_thread.run_sync(remove_rounds, record, path)
        async with linked_aside(plan, place.repository, frozen) as dependencies:
            context = replace(context, dependencies=dependencies)
            async with hidden.beside(warn) as looks:
                checked = await _run_round(record, context, plan, subjects, tell, cap)
    checked = replace(checked, warnings=(*checked.warnings, *hidden.sentences))
    with suppress(OSError):  # what is shown stands all the same
        write_json(context.folder / "result.json", as_json(checked.document()))
    return checked


async def _run_round(
    record: RunRecord,
    context: CheckContext,
    plan: RacePlan,
    subjects: Mapping[str, str],
    tell: LaneTell,
    cap: TrialCap | None,
) -> CheckReport:
    """Runs the checks of `context` on each of `subjects` (commits by name) and, where that is not
    recorded, on the base; then, with a `cap`, the trials. Ctrl-C ends them; what is done by then
    stands."""
    bind(run=record.id)
    base, parallel = plan.base, plan.checking.parallel
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

"""`hydra race`: the straight line, from a task to every lane's patch."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib import import_module

import trio
from msgspec import Struct
from msgspec.structs import asdict, replace

from hydra import paths
from hydra.adapters import registry
from hydra.adapters.probe import settings
from hydra.adapters.probe.cache import ELSEWHERE
from hydra.adapters.probe.detect import detect_all
from hydra.adapters.probe.sandbox import try_layers
from hydra.adapters.remote.spec import RemoteDetection
from hydra.disk import below_minimum
from hydra.errors import EXIT_OK
from hydra.git.background import Later
from hydra.git.runner import kill_all
from hydra.log import bind, copy_to, get_logger
from hydra.process.sandbox.masks import Masks, hidden_in_system
from hydra.process.sandbox.view import View
from hydra.race import plan
from hydra.race.check_selection import folder_of
from hydra.race.check_starts import startable
from hydra.race.checks_phase import CheckPhase
from hydra.race.command_context import RunContext
from hydra.race.context import ContextFactory, Emit
from hydra.race.dependencies import FROZEN, Links, linked_aside
from hydra.race.disk_space import places
from hydra.race.follower import EventFollower, RaceWatcher
from hydra.race.hidden_places import HiddenPlaces, list_surplus
from hydra.race.hooks import Hooks
from hydra.race.installs import find_installs, python_path
from hydra.race.lane import Lanes
from hydra.race.lane_plan import PlanInputs, resolve_options
from hydra.race.plan import left_out, select_lanes
from hydra.race.preflight import RaceInputs
from hydra.race.project_programs import with_own_programs
from hydra.race.record import (
    claim_grounds,
    close_record,
    discard_record,
    left_standing,
    open_record,
)
from hydra.race.recovery.housekeeping import Housekeeping
from hydra.race.scheduler import RaceScheduler
from hydra.race.signals import (
    NeverBegun,
    before_a_race,
    cancelled_by_signal,
    cancelled_once,
    ending_signals,
    pending,
    wait_for_signal,
)
from hydra.records.agent import DetectResult
from hydra.records.events import Event
from hydra.records.outcome import RaceResult
from hydra.records.plan import Confinement, RacePlan
from hydra.records.request import Lane, Permission
from hydra.records.store.writer import RunStore, new_run_id

_log = get_logger(__name__)

LOG = "log.jsonl"
"""In the run's folder, where the log is on."""

LAST_WORDS = 2.0
"""Seconds that a reader of events has left once the race was interrupted."""

Elsewhere = Mapping[tuple[str, str], RemoteDetection]
"""What was found on remotes, by agent and remote."""

_AT_THE_END = ("hydra.git.stranded", "hydra.race.verdict", "hydra.race.candidates")
"""Modules that take the patches, rank them and show the ranking: a sixth of all that are loaded."""


class RaceReport(Struct, frozen=True, kw_only=True):
    """What came of it. `result` is None after a dry run, which gives the `view` of its lanes where
    something confines them; `hint` is of older races, or ""."""

    plan: RacePlan
    view: View | None = None
    result: RaceResult | None = None
    hint: str = ""

    @property
    def exit_code(self) -> int:
        """As docs/reference/exit-codes.md has it."""
        return EXIT_OK if self.result is None else self.result.exit_code


async def run_race(
    inputs: RaceInputs, confinement: Confinement, watcher: RaceWatcher | None
) -> RaceReport:
    """Runs one race to its end. Raises `HydraError` where it cannot begin."""
    run = new_run_id(beside=inputs.folder)
    bind(run=run)
    links = await trio.to_thread.run_sync(_begin_links, inputs, confinement, run)
    try:
        return await _raced(inputs, confinement, watcher, run, links)
    finally:
        if links is not None:
            await links.remove_aside()  # of a race that was refused
            with suppress(OSError):
                paths.ground_dir(inputs.state, run, "x").parent.rmdir()


def _begin_links(inputs: RaceInputs, confinement: Confinement, run: str) -> Links | None:
    """Dependencies are linked while programs are probed; not before a hook, which may install."""
    idle = inputs.request.dry_run or inputs.config.hooks.pre_run or not inputs.dependencies
    unrestricted = inputs.config.race.permission is Permission.UNRESTRICTED
    if idle or unrestricted or not confinement.holds:
        return None
    frozen = paths.ground_dir(inputs.state, run, FROZEN)
    claim_grounds(frozen.parent)
    floor = inputs.config.limits.disk_floor
    return Links(inputs.repository, inputs.dependencies, frozen, floor)


async def _planned(
    inputs: RaceInputs, confinement: Confinement, run: str
) -> tuple[RacePlan, RunContext]:
    # It reads some thousand entries: while programs and remotes are waited for.
    masks = Later(hidden_in_system).result if confinement.holds else hidden_in_system
    confinement = await try_layers(confinement, inputs.environ, inputs.state)
    elsewhere = await _look_elsewhere(inputs)
    results = await _probe(inputs, confinement, elsewhere, masks)
    planned = _plan(inputs, confinement, results, elsewhere, run)
    planned = with_own_programs(planned, inputs.environ)
    installed = await find_installs(planned, inputs.repository.root, inputs.environ)
    planned = replace(planned, python_path=python_path(installed))
    _say(planned)
    around = inputs.run(
        inputs.config,
        inputs.adapters,
        inputs.folder / run,
        programs=[lane.argv[0] for lane in planned.lanes if lane.argv and not lane.remote],
        commands=planned.commands,
        masks=masks,
    )
    if planned.confined:  # what its commands see is computed while the record is made
        around = replace(around, view=Later(around.view).result)
    return planned, around


async def _raced(
    inputs: RaceInputs,
    confinement: Confinement,
    watcher: RaceWatcher | None,
    run: str,
    links: Links | None,
) -> RaceReport:
    planned, around = await _planned(inputs, confinement, run)
    if inputs.request.dry_run:
        seen = await trio.to_thread.run_sync(around.view) if planned.confined else None
        return RaceReport(plan=planned, view=seen)
    hooks = Hooks(inputs, planned.confinement)
    try:
        await before_a_race(partial(hooks.before, planned.document()))
    except NeverBegun as end:
        end.carry_out()
    store, planned = await trio.to_thread.run_sync(open_record, inputs, planned, links)
    return await _recorded(inputs, planned, around, store, hooks, links, watcher)


async def _recorded(
    inputs: RaceInputs,
    planned: RacePlan,
    around: RunContext,
    store: RunStore,
    hooks: Hooks,
    links: Links | None,
    watcher: RaceWatcher | None,
) -> RaceReport:
    copy_to(store.folder / LOG)
    follower = EventFollower(store.events_file, watcher) if watcher else None
    keeping = Housekeeping(inputs.state, inputs.folder, planned.limits)
    frozen = paths.ground_dir(inputs.state, planned.run, FROZEN)
    result: RaceResult | None = None
    try:
        # What the race no longer answers waits until its record says that it has ended.
        with ending_signals() as late:
            async with linked_aside(planned, inputs.repository, frozen, links) as dependencies:
                folder = folder_of(inputs.repository.root, inputs.request.directory)
                surplus = list_surplus(around, planned, folder)
                around = replace(around, dependencies=dependencies, surplus=surplus)
                hidden = HiddenPlaces.of(around, surplus, confined=planned.confined)
                if planned.checks:
                    tell = inputs.request.tell
                    look = partial(startable, planned, around, hidden, folder, tell)
                    if (checked := await before_a_race(look)) is not planned:
                        planned = checked
                        store.write_json("plan.json", planned.document())
                result, at_once = await _run(
                    planned, around, store, follower, keeping, hooks, hidden
                )
            result = replace(result, folder=store.folder)
            if not (at_once and left_standing(planned, result)):
                result = await trio.to_thread.run_sync(close_record, inputs, store, planned, result)
            result = replace(result, interrupted=result.interrupted or await pending(late))
        with trio.CancelScope() as insisted:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(cancelled_by_signal, insisted)
                if not at_once:
                    await hooks.after(result.document(planned))
                nursery.cancel_scope.cancel()
        hint = "; ".join(filter(None, (*hooks.problems, keeping.hint)))
        return RaceReport(plan=planned, result=result, hint=hint)
    except NeverBegun as end:
        await trio.to_thread.run_sync(discard_record, inputs, store)
        end.carry_out()
    finally:
        # Only a race that was ended at once has left any git running.
        kill_all()
        if follower is not None:
            await _finish(follower, hurried=result is None or result.interrupted != 0)
        with suppress(OSError):  # where no lane was opened, nobody else has removed it
            frozen.parent.rmdir()
        store.close()


async def _probe(
    inputs: RaceInputs, confinement: Confinement, elsewhere: Elsewhere, masks: Masks
) -> dict[str, DetectResult]:
    """As they are found here; of a race that names none, on the remote where that is set."""
    if not inputs.lanes:
        results = {key: detection.result for (key, _), detection in elsewhere.items()}
        names = [key for key in registry.TIER1 if key not in results]
    else:
        results, names = {}, _lanes_here(inputs)
    adapters = [inputs.adapters[key] for key in names]
    detect_results = await detect_all(
        adapters,
        settings.probe_context(
            inputs.config, inputs.environ, confinement, inputs.state, masks=masks
        ),
    )
    return {**detect_results, **results}


def _lanes_here(inputs: RaceInputs) -> list[str]:
    """The agents that are asked to run on this machine, each once."""
    lanes = (lane for lane in inputs.lanes if not resolve_options(inputs.config, lane).remote)
    return list(dict.fromkeys(lane.adapter for lane in lanes))


async def _look_elsewhere(inputs: RaceInputs) -> Elsewhere:
    """Every agent that is asked to run elsewhere, as it is found there; no remote is asked else."""
    lanes = inputs.lanes or tuple(Lane(id=key, adapter=key) for key in registry.TIER1)
    pairs = [(lane, resolve_options(inputs.config, lane)) for lane in lanes]
    if not any(options.remote for _, options in pairs):
        return {}
    from hydra.adapters.remote.probe import RemoteAgent, look_for  # not before: few races have any

    agents = [
        RemoteAgent(
            adapter=inputs.adapters[lane.adapter],
            remote=inputs.config.remotes[options.remote],
            extra=options.environment,
        )
        for lane, options in pairs
        if options.remote
    ]
    return await look_for(agents, inputs.environ, paths.cache_dir(inputs.environ) / ELSEWHERE)


def _plan(
    inputs: RaceInputs,
    confinement: Confinement,
    results: Mapping[str, DetectResult],
    elsewhere: Elsewhere,
    run: str,
) -> RacePlan:
    lanes = select_lanes(inputs.lanes, results, inputs.adapters)
    names = {lane.adapter: inputs.adapters[lane.adapter].descriptor.instructions for lane in lanes}
    gathered = PlanInputs(
        run=run,
        state=inputs.state,
        prompt=inputs.request.prompt,
        repository=inputs.repository.root,
        base=inputs.base,
        base_name=inputs.base_name,
        lanes=lanes,
        config=inputs.config,
        adapters=inputs.adapters,
        detections=results,
        confinement=confinement,
        environment_names=tuple(inputs.environ),
        instructions={
            key: tuple(name for name in names if name in inputs.instructions)
            for key, names in names.items()
        },
        as_root=os.geteuid() == 0,
        elsewhere=elsewhere,
        left_out=() if inputs.lanes else left_out(results),
        dependencies=inputs.dependencies,
        warnings=inputs.warnings,
    )
    return plan.make(gathered)


def _say(planned: RacePlan) -> None:
    for failure in planned.left_out:
        _log.info("left out", agent=failure.adapter, why=failure.message)
    for lane in planned.lanes:
        _log.info(
            "lane planned" if lane.failure is None else "lane cannot start",
            lane=lane.id,
            agent=lane.adapter,
            version=lane.version,
            model=lane.model,
            permission=lane.permission,
            why=lane.failure.message if lane.failure else None,
            warnings=lane.warnings,
            more={"program": next(iter(lane.argv), None)},
        )
    _log.info(
        "planned",
        confinement=planned.confinement.kind,
        at_once=planned.max_parallel,
        setup=planned.setup,
        checks=[check.command for check in planned.checks],
        warnings=planned.warnings,
        more={"limits": asdict(planned.limits), "retry": asdict(planned.retry)},
    )


async def _run(
    planned: RacePlan,
    around: RunContext,
    store: RunStore,
    follower: EventFollower | None,
    keeping: Housekeeping,
    hooks: Hooks,
    hidden: HiddenPlaces,
) -> tuple[RaceResult, bool]:
    """The result, and whether a second signal ended it at once."""
    at_once = False

    def record(event: Event) -> None:
        nonlocal at_once
        at_once = at_once or (event.kind == "run_interrupted" and event.data.get("times") != 1)
        store.append(event)
        if hooks.wants(event):
            hooking.start_soon(hooks.failed, event)

    agents_ended = trio.Event()
    checks = CheckPhase(planned, around, agents_ended)
    lanes = Lanes(ContextFactory(around=around, store=store, plan=planned), checks)
    fills = places(around.state, around.folder)
    race = RaceScheduler(
        plan=planned,
        run_attempt=lanes.attempt,
        finish_lane=lanes.finish,
        baseline_task=partial(_beside, checks.baseline if planned.checks else None),
        cross_test_phase=checks.trials if planned.checks else None,
        agents_ended=agents_ended,
        retry=around.config.retry,
        record=record,
        checkpoint=store.sync,
        disk_monitor=partial(below_minimum, fills, planned.limits.disk_floor),
        hidden=hidden,
    )
    if follower is not None:
        store.on_written = follower.wake
        gone = partial(race.interrupt, signal.SIGHUP)
        follower.start(partial(trio.lowlevel.current_trio_token().run_sync_soon, gone))
    fact = trio.Event()
    async with trio.open_nursery() as listening:
        # What the race itself does not hear any more.
        await listening.start(wait_for_signal, fact)
        async with trio.open_nursery() as hooking:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(keeping.run)
                result = await race.run()
                keeping.end()
                nursery.cancel_scope.cancel()
            if result.interrupted:
                hooking.cancel_scope.cancel()
            listening.start_soon(cancelled_once, fact, hooking.cancel_scope)
        listening.cancel_scope.cancel()
    warnings = (*result.warnings, *hidden.sentences)
    return replace(result, baseline=checks.base_documents, warnings=warnings), at_once


async def _beside(baseline: Callable[[Emit], Awaitable[None]] | None, emit: Emit) -> None:
    """While agents work: what the end of the race needs is loaded, so that it does not wait."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.to_thread.run_sync, _load_end)
        if baseline is not None:
            nursery.start_soon(baseline, emit)


def _load_end() -> None:
    for name in _AT_THE_END:
        import_module(name)


async def _finish(follower: EventFollower, *, hurried: bool) -> None:
    """Waits for whoever watches: for ever, or until a signal comes; not after an interrupt."""
    with trio.move_on_after(LAST_WORDS if hurried else math.inf) as waiting:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(cancelled_by_signal, waiting)
            await trio.to_thread.run_sync(follower.finish, abandon_on_cancel=True)
            nursery.cancel_scope.cancel()

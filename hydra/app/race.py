"""`hydra race`: the straight line, from a task to every lane's patch."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import NamedTuple

import trio

from hydra import paths, plan, probe
from hydra.adapters import registry
from hydra.app import settings
from hydra.app.bench import Shop
from hydra.app.checks import Checks, surroundings
from hydra.app.dependencies import FROZEN, Links, linked_aside
from hydra.app.elsewhere import Elsewhere, lanes_here, look_elsewhere
from hydra.app.follow import Follower, Watcher
from hydra.app.hidden_places import HiddenPlaces
from hydra.app.hooks import Hooks
from hydra.app.housekeeping import Housekeeping
from hydra.app.installs import find_installs, python_path
from hydra.app.lanes import Lanes
from hydra.app.own_programs import with_own_programs
from hydra.app.record import (
    claim_grounds,
    close_record,
    discard_record,
    left_standing,
    open_record,
)
from hydra.app.room import places
from hydra.app.scene import Scene
from hydra.app.signals import cancelled_by_signal, cancelled_once, end_by, heard, pending
from hydra.app.starting import NeverBegun, startable
from hydra.app.views import view_source
from hydra.errors import EXIT_OK, NoAgentReady, Refused
from hydra.events import Event
from hydra.git.later import Later
from hydra.git.runner import kill_all
from hydra.lane_plan import Known
from hydra.lanes import choose_lanes, left_out
from hydra.model import Confinement, DetectResult, Lane, Permission, RacePlan, RaceResult
from hydra.plan import no_private_network
from hydra.race import Race, signals
from hydra.reporters.document import exit_code, plan_document, result_document
from hydra.sandbox import View
from hydra.sandbox.masking import Masks, hidden_in_system
from hydra.space import under_floor
from hydra.store import RunStore, new_run_id
from hydra.workspace.dependencies import DependencySource

LAST_WORDS = 2.0
"""Seconds that a reader of events has left once the race was interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceReport:
    """What came of it. `result` is None after a dry run, which gives the `view` of its lanes where
    something confines them, or why no agent is ready (`unready`); `hint` is of older races, or
    ""."""

    plan: RacePlan
    view: View | None = None
    result: RaceResult | None = None
    hint: str = ""
    unready: NoAgentReady | None = None

    @property
    def exit_code(self) -> int:
        """As docs/exit-codes.md has it."""
        return EXIT_OK if self.result is None else exit_code(self.result)


class Sights(NamedTuple):
    """What the commands of a race see of this machine, and of the checkout beside their tree."""

    view: Callable[[], View]
    dependencies: DependencySource | None


async def raced(scene: Scene, confinement: Confinement, watcher: Watcher | None) -> RaceReport:
    """Runs one race to its end. Raises `HydraError` where it cannot begin."""
    run = new_run_id()
    links = await trio.to_thread.run_sync(_begin_links, scene, confinement, run)
    try:
        return await _raced(scene, confinement, watcher, run, links)
    finally:
        if links is not None:
            await links.remove_aside()  # of a race that was refused
            with suppress(OSError):
                paths.ground_dir(scene.state, run, "x").parent.rmdir()


def _begin_links(scene: Scene, confinement: Confinement, run: str) -> Links | None:
    """Dependencies are linked while programs are probed; not before a hook, which may install."""
    idle = scene.request.dry_run or scene.config.hooks.pre_run or not scene.dependencies
    unrestricted = scene.config.race.permission is Permission.UNRESTRICTED
    if idle or unrestricted or not confinement.holds:
        return None
    frozen = paths.ground_dir(scene.state, run, FROZEN)
    claim_grounds(frozen.parent)
    floor = scene.config.limits.disk_floor
    return Links(scene.repository, scene.dependencies, frozen, floor)


async def _raced(
    scene: Scene, confinement: Confinement, watcher: Watcher | None, run: str, links: Links | None
) -> RaceReport:
    # It reads some thousand entries: while programs and remotes are waited for.
    masks = Later(hidden_in_system).result if confinement.holds else hidden_in_system
    confinement = await probe.try_layers(confinement, scene.request.environ, scene.state)
    elsewhere = await look_elsewhere(scene)
    found = await _probe(scene, confinement, elsewhere, masks)
    try:
        planned = _plan(scene, confinement, found, elsewhere, run)
    except NoAgentReady as unready:
        if not scene.request.dry_run:
            raise
        planned = plan.make(
            _gather(scene, confinement, found, elsewhere, run, scene.asked), unready=True
        )
        planned = with_own_programs(planned, scene.request.environ)
        return RaceReport(plan=planned, unready=unready)
    await _check_network(planned, scene.request.environ)
    planned = with_own_programs(planned, scene.request.environ)
    installed = await find_installs(planned, scene.repository.root, scene.request.environ)
    planned = replace(planned, python_path=python_path(installed))
    view = _view(scene, planned, masks)
    if scene.request.dry_run:
        seen = await trio.to_thread.run_sync(view) if planned.confined else None
        return RaceReport(plan=planned, view=seen)
    hooks = Hooks(scene, confinement)
    await _unless_refused(partial(hooks.before, plan_document(planned)))
    store, planned = await trio.to_thread.run_sync(open_record, scene, planned, links)
    follower = Follower(store.events_file, watcher) if watcher else None
    keeping = Housekeeping(scene.state, store.folder.parent, planned.limits)
    result: RaceResult | None = None
    try:
        # What the race no longer answers waits until its record says that it has ended.
        with signals() as late:
            frozen = paths.ground_dir(scene.state, planned.run, FROZEN)
            async with linked_aside(planned, scene.repository, frozen, links) as dependencies:
                sights = Sights(view, dependencies)
                planned = await _startable(scene, planned, store, sights)
                result, at_once = await _run(
                    scene, planned, store, follower, keeping, hooks, sights
                )
            result = replace(result, folder=store.folder)
            if not (at_once and left_standing(planned, result)):
                result = await trio.to_thread.run_sync(close_record, scene, store, planned, result)
            result = replace(result, interrupted=result.interrupted or await pending(late))
        with trio.CancelScope() as insisted:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(cancelled_by_signal, insisted)
                if not at_once:
                    await hooks.after(result_document(planned, result))
                nursery.cancel_scope.cancel()
        hint = "; ".join(filter(None, (*hooks.problems, keeping.hint)))
        return RaceReport(plan=planned, result=result, hint=hint)
    except NeverBegun as end:
        await trio.to_thread.run_sync(discard_record, scene, store)
        if end.refused is not None:
            raise end.refused from None
        end_by(end.number)
        raise
    finally:
        # Only a race that was ended at once has left any git running.
        kill_all()
        if follower is not None:
            await _finish(follower, hurried=result is None or result.interrupted != 0)
        with suppress(OSError):  # where no lane was opened, nobody else has removed it
            paths.ground_dir(scene.state, planned.run, "x").parent.rmdir()
        store.close()


async def _probe(
    scene: Scene, confinement: Confinement, elsewhere: Elsewhere, masks: Masks
) -> dict[str, DetectResult]:
    """As they are found here; of a race that names none, on the remote where that is set."""
    if not scene.asked:
        there = {key: found.result for (key, _), found in elsewhere.items()}
        here = [key for key in registry.TIER1 if key not in there]
    else:
        there, here = {}, lanes_here(scene)
    adapters = [scene.adapters[key] for key in here]
    found = await probe.detect_all(
        adapters,
        probe.Surroundings(
            environ=scene.request.environ,
            home=scene.home,
            confinement=confinement,
            state=scene.state,
            paths=settings.programs(scene.config),
            extra_names=settings.extra_names(scene.config),
            show=scene.config.confine.show,
            masks=masks,
            cache_file=paths.cache_dir(scene.request.environ) / "probes.json",
        ),
    )
    return {**found, **there}


def _plan(
    scene: Scene,
    confinement: Confinement,
    found: Mapping[str, DetectResult],
    elsewhere: Elsewhere,
    run: str,
) -> RacePlan:
    lanes = choose_lanes(scene.asked, found, scene.adapters)
    return plan.make(_gather(scene, confinement, found, elsewhere, run, lanes))


def _gather(
    scene: Scene,
    confinement: Confinement,
    found: Mapping[str, DetectResult],
    elsewhere: Elsewhere,
    run: str,
    lanes: tuple[Lane, ...],
) -> Known:
    """What the plan of these lanes is made from."""
    names = {lane.adapter: scene.adapters[lane.adapter].descriptor.instructions for lane in lanes}
    return Known(
        run=run,
        state=scene.state,
        task=scene.task,
        lanes=lanes,
        config=scene.config,
        adapters=scene.adapters,
        found=found,
        confinement=confinement,
        environment_names=tuple(scene.request.environ),
        instructions={
            key: tuple(name for name in wanted if name in scene.instructions)
            for key, wanted in names.items()
        },
        as_root=os.geteuid() == 0,
        elsewhere=elsewhere,
        left_out=() if scene.asked else left_out(found),
        dependencies=scene.dependencies,
        warnings=scene.warnings,
    )


async def _check_network(planned: RacePlan, environ: Mapping[str, str]) -> None:
    if not planned.checks or planned.checks_network == "host":
        return
    if reason := await probe.refused_network(planned.confinement, environ):
        raise no_private_network(reason)


async def _unless_refused(work: Callable[[], Awaitable[None]]) -> None:
    """A signal ends what runs before a race, with all it has started; then it means what it always
    means."""
    refused: list[Refused] = []
    received: list[int] = []
    with trio.CancelScope() as stopped:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(cancelled_by_signal, stopped, received.append)
            try:
                await work()
            except Refused as error:
                refused.append(error)  # raised below: a nursery would wrap it
            nursery.cancel_scope.cancel()
    for number in received:
        end_by(number)
    if refused:
        raise refused[0]


async def _startable(scene: Scene, planned: RacePlan, store: RunStore, sights: Sights) -> RacePlan:
    if not planned.checks:
        return planned
    await trio.to_thread.run_sync(import_module, "hydra.app.checking")
    checked = await startable(planned, surroundings(scene, store, *sights))
    if checked is not planned:
        store.write_json("plan.json", plan_document(checked))
    return checked


async def _run(
    scene: Scene,
    planned: RacePlan,
    store: RunStore,
    follower: Follower | None,
    keeping: Housekeeping,
    hooks: Hooks,
    sights: Sights,
) -> tuple[RaceResult, bool]:
    """The result, and whether a second signal ended it at once."""
    at_once = False

    def noticed(event: Event) -> list[str]:
        if not confined:
            return []
        return hidden.notice(event.kind, event.data, lane=event.lane, raw=event.raw)

    def record(event: Event) -> None:
        nonlocal at_once
        at_once = at_once or (event.kind == "run_interrupted" and event.data.get("times") != 1)
        store.append(event)
        if hooks.wants(event):
            hooking.start_soon(hooks.failed, event)
        for text in noticed(event):
            race.emit("run_warning", "hidden_place", data={"text": text})

    confined = planned.confinement.holds and planned.permission != Permission.UNRESTRICTED
    hidden = HiddenPlaces(
        view=sights.view,
        own=(scene.repository.root, scene.state),
        settings_file=paths.user_config_file(scene.request.environ),
        run_folder=store.folder,
        mounts=planned.dependencies,
    )
    checks = Checks(scene, planned, store, *sights)
    lanes = Lanes(_shop(scene, planned, store, sights), checks)
    fills = places(scene.state, store.folder.parent)
    race = Race(
        plan=planned,
        run_attempt=lanes.attempt,
        finish=lanes.finish,
        beside=checks.baseline if planned.checks else None,
        after=checks.trials if planned.checks else None,
        retry=scene.config.retry,
        record=record,
        checkpoint=store.sync,
        room=partial(under_floor, fills, planned.limits.disk_floor),
    )
    if follower is not None:
        store.on_written = follower.poke
        gone = partial(race.interrupt, signal.SIGHUP)
        follower.start(partial(trio.lowlevel.current_trio_token().run_sync_soon, gone))
    asked = trio.Event()
    async with trio.open_nursery() as listening:
        # What the race itself does not hear any more.
        await listening.start(heard, asked)
        async with trio.open_nursery() as hooking:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(keeping.run)
                result = await race.run()
                keeping.end()
                nursery.cancel_scope.cancel()
            if result.interrupted:
                hooking.cancel_scope.cancel()
            listening.start_soon(cancelled_once, asked, hooking.cancel_scope)
        listening.cancel_scope.cancel()
    warnings = (*result.warnings, *hidden.sentences)
    return replace(result, baseline=checks.base_documents, warnings=warnings), at_once


def _view(scene: Scene, planned: RacePlan, masks: Masks) -> Callable[[], View]:
    """What its commands see of this machine; it is computed while the record is made."""
    programs = [lane.command.program for lane in planned.lanes if lane.command and not lane.remote]
    view = view_source(
        config=scene.config,
        environ=scene.request.environ,
        home=scene.home,
        state=scene.state,
        repository=scene.repository,
        adapters=scene.adapters,
        programs=programs,
        masks=masks,
    )
    return Later(view).result if planned.confined else view


def _shop(scene: Scene, planned: RacePlan, store: RunStore, sights: Sights) -> Shop:
    return Shop(
        repository=scene.repository,
        config=scene.config,
        store=store,
        home=scene.home,
        state=scene.state,
        environ=scene.request.environ,
        adapters=scene.adapters,
        plan=planned,
        view=sights.view,
        dependencies=sights.dependencies,
    )


async def _finish(follower: Follower, *, hurried: bool) -> None:
    """Waits for whoever watches: for ever, or until a signal comes; not after an interrupt."""
    with trio.move_on_after(LAST_WORDS if hurried else math.inf) as waiting:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(cancelled_by_signal, waiting)
            await trio.to_thread.run_sync(follower.finish, abandon_on_cancel=True)
            nursery.cancel_scope.cancel()

"""`hydra race`: the straight line, from a task to every lane's patch."""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import trio

from hydra import __version__, paths, plan, probe
from hydra.adapters import registry
from hydra.app import settings
from hydra.app.bench import Bench, Shop
from hydra.app.checks import Checks
from hydra.app.elsewhere import Elsewhere, lanes_here, look_elsewhere
from hydra.app.follow import Follower, Watcher
from hydra.app.hooks import Hooks
from hydra.app.housekeeping import Housekeeping
from hydra.app.room import places
from hydra.app.scene import Scene
from hydra.attempt import attempt
from hydra.bench import Emit, Handle
from hydra.errors import EXIT_OK, Refused
from hydra.events import Event
from hydra.git import patches, repository
from hydra.git.later import Later
from hydra.git.runner import kill_all, owner, require_git
from hydra.model import (
    Confinement,
    DetectResult,
    LanePlan,
    Outcome,
    Permission,
    RacePlan,
    RaceResult,
    Status,
)
from hydra.plan import no_private_network
from hydra.process.identity import Identity
from hydra.race import SIGNALS, Race
from hydra.reporters.document import exit_code, plan_document, result_document
from hydra.reporters.text import plural
from hydra.space import under_floor
from hydra.store import RunStore, new_run_id

LAST_WORDS = 2.0
"""Seconds that a reader of events has left once the race was interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaceReport:
    """What came of it. `result` is None after a dry run; `hint` is of older races, or ""."""

    plan: RacePlan
    result: RaceResult | None = None
    hint: str = ""

    @property
    def exit_code(self) -> int:
        """As docs/exit-codes.md has it."""
        return EXIT_OK if self.result is None else exit_code(self.result)


async def raced(scene: Scene, confinement: Confinement, watcher: Watcher | None) -> RaceReport:
    """Runs one race to its end. Raises `HydraError` where it cannot begin."""
    elsewhere = await look_elsewhere(scene)
    found = await _probe(scene, confinement, elsewhere)
    planned = _plan(scene, confinement, found, elsewhere)
    await _check_network(planned, scene.request.environ)
    if scene.request.dry_run:
        return RaceReport(plan=planned)
    hooks = Hooks(scene, confinement)
    await _before(hooks, planned)
    store, planned = await trio.to_thread.run_sync(_open_record, scene, planned)
    follower = Follower(store.events_file, watcher) if watcher else None
    keeping = Housekeeping(scene.state, store.folder.parent, planned.limits)
    result: RaceResult | None = None
    try:
        # What the race no longer answers waits until its record says that it has ended.
        with trio.open_signal_receiver(*SIGNALS):
            result, at_once = await _run(scene, planned, store, follower, keeping, hooks)
            result = replace(result, folder=store.folder)
            if not (at_once and _left_standing(planned, result)):
                result = await trio.to_thread.run_sync(_close_record, scene, store, planned, result)
        with trio.CancelScope() as insisted:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_cancelled_by_signal, insisted)
                if not at_once:
                    await hooks.after(result_document(planned, result))
                nursery.cancel_scope.cancel()
        hint = "; ".join(filter(None, (*hooks.problems, keeping.hint)))
        return RaceReport(plan=planned, result=result, hint=hint)
    finally:
        # Only a race that was ended at once has left any git running.
        kill_all()
        if follower is not None:
            await _finish(follower, hurried=result is None or result.interrupted != 0)
        with suppress(OSError):  # where no lane was opened, nobody else has removed it
            paths.ground_dir(scene.state, planned.run, "x").parent.rmdir()
        store.close()


async def _before(hooks: Hooks, planned: RacePlan) -> None:
    """A signal ends the hook that runs, with all it has started; then it means what it always
    means."""
    refused: list[Refused] = []
    received: list[int] = []
    with trio.CancelScope() as stopped:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_cancelled_by_signal, stopped, received.append)
            try:
                await hooks.before(plan_document(planned))
            except Refused as error:
                refused.append(error)  # raised below: a nursery would wrap it
            nursery.cancel_scope.cancel()
    for number in received:
        signal.raise_signal(number)
    if refused:
        raise refused[0]


async def _check_network(planned: RacePlan, environ: Mapping[str, str]) -> None:
    if not planned.checks or planned.checks_network == "host":
        return
    if reason := await probe.refused_network(planned.confinement, environ):
        raise no_private_network(reason)


async def _finish(follower: Follower, *, hurried: bool) -> None:
    """Waits for whoever watches: for ever, or until a signal comes; not after an interrupt."""
    with trio.move_on_after(LAST_WORDS if hurried else math.inf) as waiting:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_cancelled_by_signal, waiting)
            await trio.to_thread.run_sync(follower.finish, abandon_on_cancel=True)
            nursery.cancel_scope.cancel()


async def _heard(
    asked: trio.Event, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    with trio.open_signal_receiver(*SIGNALS) as received:
        task_status.started()
        async for _ in received:
            asked.set()


async def _cancelled_once(asked: trio.Event, scope: trio.CancelScope) -> None:
    await asked.wait()
    scope.cancel()


async def _cancelled_by_signal(
    scope: trio.CancelScope, tell: Callable[[int], object] = lambda number: None
) -> None:
    with trio.open_signal_receiver(*SIGNALS) as received:
        async for number in received:
            tell(number)
            scope.cancel()


async def _probe(
    scene: Scene, confinement: Confinement, elsewhere: Elsewhere
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
            cache_file=paths.cache_dir(scene.request.environ) / "probes.json",
        ),
    )
    return {**found, **there}


def _plan(
    scene: Scene,
    confinement: Confinement,
    found: Mapping[str, DetectResult],
    elsewhere: Elsewhere,
) -> RacePlan:
    lanes = plan.choose_lanes(scene.asked, found, scene.adapters)
    names = {lane.adapter: scene.adapters[lane.adapter].descriptor.instructions for lane in lanes}
    return plan.make(
        plan.Known(
            run=new_run_id(),
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
            warnings=scene.warnings,
        )
    )


def _open_record(scene: Scene, planned: RacePlan) -> tuple[RunStore, RacePlan]:
    folder = paths.runs_dir(scene.state, scene.repository.root) / planned.run
    documents = {"manifest.json": _manifest(scene, planned), "plan.json": plan_document(planned)}
    grounds = _claim_grounds(scene.state, planned.run)
    try:
        store = RunStore(folder, documents)
    except OSError as error:
        with suppress(OSError):
            grounds.rmdir()
        raise _unwritable(error) from error
    try:
        return store, _furnish(scene, planned, store)
    except BaseException as error:
        # Nothing has run: a race that was refused leaves no record.
        from hydra.recover import remove_run  # not before: hardly a race needs it

        remove_run(scene.state, folder)
        store.close()
        if isinstance(error, OSError):
            raise _unwritable(error) from error
        raise


def _claim_grounds(state: Path, run: str) -> Path:
    """The folder of this race's grounds, which no other has: ids are unique in one repository,
    and grounds lie beside those of all. Raises `Refused`."""
    grounds = paths.ground_dir(state, run, "x").parent
    try:
        paths.make_private(grounds.parent)
        grounds.mkdir(mode=0o700)
    except FileExistsError as error:
        raise Refused(
            f"another race got the same id, {run}, in this very moment", hint="begin it again"
        ) from error
    except OSError as error:
        raise _unwritable(error) from error
    return grounds


def _unwritable(error: OSError) -> Refused:
    return Refused(
        f"the run's record cannot be written: {error}",
        hint="set HYDRA_STATE_DIR to a folder you can write, with room on its disk",
    )


def _furnish(scene: Scene, planned: RacePlan, store: RunStore) -> RacePlan:
    """From here on the run can be found, whenever Hydra is killed; so nothing is made before."""
    pinned = Later(partial(repository.pin, scene.repository, planned.run, planned.task.base))
    try:
        patches.create(
            store.patches,
            scene.repository,
            base=planned.task.base,
            allow=scene.config.race.allow_filters,
        )
    finally:
        pinned.result()  # never left under way: a refused race takes its pin back
    if scene.config.race.include_dirty:
        base = repository.dirty_base(
            scene.repository, store.patches, planned.task.base, scene.config.limits
        )
        planned = replace(planned, task=replace(planned.task, base=base))
        store.write_json("manifest.json", _manifest(scene, planned))
        store.write_json("plan.json", plan_document(planned))
    return planned


def _manifest(scene: Scene, planned: RacePlan) -> dict[str, object]:
    return {
        "schema": 1,
        "hydra": __version__,
        "run": planned.run,
        "started": time.time(),
        "process": Identity.of(os.getpid()).as_dict(),
        "owner": owner,
        "argv": sys.argv,
        "repository": str(scene.repository.root),
        "base": planned.task.base,
        "base_name": planned.task.base_name,
        "head": scene.task.base,
        "title": planned.task.title,
        "prompt": planned.task.prompt,
        "python": sys.version.split()[0],
        "git": ".".join(map(str, require_git())),
        "environment_names": sorted({n for lane in planned.lanes for n in lane.env_names}),
        "settings_from": dict(scene.config.sources),
        "lanes": [lane.lane.id for lane in planned.lanes],
    }


async def _run(
    scene: Scene,
    planned: RacePlan,
    store: RunStore,
    follower: Follower | None,
    keeping: Housekeeping,
    hooks: Hooks,
) -> tuple[RaceResult, bool]:
    """The result, and whether a second signal ended it at once."""
    at_once = False
    shop = Shop(
        repository=scene.repository,
        config=scene.config,
        store=store,
        home=scene.home,
        state=scene.state,
        environ=scene.request.environ,
        adapters=scene.adapters,
        plan=planned,
    )

    def record(event: Event) -> None:
        nonlocal at_once
        at_once = at_once or (event.kind == "run_interrupted" and event.data.get("times") != 1)
        store.append(event)
        if hooks.wants(event):
            hooking.start_soon(hooks.failed, event)

    benches: dict[str, Bench] = {}
    checks = Checks(scene, planned, store)

    async def one(lane: LanePlan, handle: Handle, emit: Emit, number: int) -> Outcome:
        if number > 1:
            # What the attempt before has left is in its patch; the next one begins from the base.
            await trio.to_thread.run_sync(benches[lane.lane.id].ground.remove)
        bench = benches[lane.lane.id] = shop.bench(lane, number)
        return await attempt(bench, handle, emit)

    async def finish(lane: LanePlan, handle: Handle, emit: Emit, outcome: Outcome) -> Outcome:
        bench = benches[lane.lane.id]
        outcome = await checks.lane(bench, outcome, handle, emit)
        if lane.permission is Permission.PLAN:
            from hydra.app.plans import with_plan  # not before: few races ask for plans

            outcome = await trio.to_thread.run_sync(with_plan, store, bench, outcome)
        # Whatever comes now, the outcome stands.
        with trio.CancelScope(shield=True):
            left = await trio.to_thread.run_sync(shop.tidy, bench, outcome)
        return replace(outcome, warnings=(*outcome.warnings, left)) if left else outcome

    fills = places(scene.state, store.folder.parent)
    race = Race(
        plan=planned,
        run_attempt=one,
        finish=finish,
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
        await listening.start(_heard, asked)
        async with trio.open_nursery() as hooking:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(keeping.run)
                result = await race.run()
                keeping.end()
                nursery.cancel_scope.cancel()
            if result.interrupted:
                hooking.cancel_scope.cancel()
            listening.start_soon(_cancelled_once, asked, hooking.cancel_scope)
        listening.cancel_scope.cancel()
    return replace(result, baseline=checks.base_documents), at_once


def _close_record(
    scene: Scene, store: RunStore, planned: RacePlan, result: RaceResult
) -> RaceResult:
    """Writes the result, then the verdict beside it. What the disk did not take is said in it, and
    loses no lane's outcome."""
    remarks = []
    if store.lost:
        remarks.append(f"{plural(store.lost, 'event')} could not be recorded: is the disk full?")
    result = replace(result, warnings=(*result.warnings, *remarks))
    result = _written(store, planned, result)  # before it is judged: whatever comes, this stands
    judged = _judged(scene, store, planned, result)
    return result if judged is result else _written(store, planned, judged)


def _written(store: RunStore, planned: RacePlan, result: RaceResult) -> RaceResult:
    try:
        store.write_json("result.json", result_document(planned, result))
    except OSError as error:
        remark = f"the result could not be recorded: {error.strerror}"
        result = replace(result, warnings=(*result.warnings, remark))
    return result


def _judged(scene: Scene, store: RunStore, planned: RacePlan, result: RaceResult) -> RaceResult:
    """With its verdict, where there is a patch to judge."""
    if not any(end.patch is not None and not end.patch.empty for end in result.outcomes):
        return result
    try:
        from hydra.app.verdicts import of_result  # not before: an agent is not to wait for it

        told = result_document(planned, result)
        verdict = of_result(store.folder, planned.task.base, told, scene.config)
    except Exception as bug:
        # Every outcome is recorded already, and `hydra compare` judges again.
        remark = f"the race could not be judged: {bug}"
        return replace(result, warnings=(*result.warnings, remark))
    return replace(result, verdict=verdict)


def _left_standing(planned: RacePlan, result: RaceResult) -> bool:
    """Whether a race that was ended at once has work left for recovery to take."""
    return any(
        end.status is Status.INTERRUPTED and end.patch is None and lane.worktree.is_dir()
        for lane, outcome in zip(planned.lanes, result.outcomes, strict=True)
        for end in (outcome, *outcome.others)
    )

"""Asks one agent once: found out first whether it can be, then read-only, on a ground of its
own at a run's base, within a budget."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import msgspec
import trio
from msgspec import Struct
from msgspec.structs import replace

from hydra import paths
from hydra.adapters import registry
from hydra.adapters.contract import Adapter
from hydra.adapters.probe import available, settings
from hydra.adapters.probe.detect import detect_all
from hydra.adapters.probe.sandbox import try_confinement, try_layers
from hydra.adapters.registry import check_experimental
from hydra.config.schema import CheckSettings, Config
from hydra.disk import below_minimum
from hydra.errors import Failure, NoAgentReady, Refused, UsageError
from hydra.git.base_commit import regular_files
from hydra.git.runner import kill_all
from hydra.race import plan
from hydra.race.attempt import attempt
from hydra.race.command_context import CommandContext
from hydra.race.context import AttemptContext, AttemptControl, ContextFactory, Emit
from hydra.race.dependencies import FROZEN, linked, names_of
from hydra.race.disk_space import check_room, places
from hydra.race.lane import answers
from hydra.race.lane_plan import PlanInputs
from hydra.race.record import manifest
from hydra.race.recovery.reviews import DOCUMENTS, FOLDER, POINTER
from hydra.race.scheduler import RaceScheduler
from hydra.records.agent import DetectResult
from hydra.records.codec import as_json
from hydra.records.events import Event
from hydra.records.outcome import Outcome, Status, Usage
from hydra.records.plan import Confinement, LanePlan, RacePlan
from hydra.records.request import Lane, Permission
from hydra.records.store.files import write_json
from hydra.records.store.reader import RunRecord
from hydra.records.store.writer import RunStore
from hydra.text import join_names
from hydra.workspace import tree

BUDGET = 300.0
"""Seconds that an agent has in all, unless the user says otherwise."""


class Asker(Struct, frozen=True, kw_only=True):
    """Who is asked, and for how long. `budget` is in seconds; `tell` takes a line for a person on
    what goes on."""

    agent: str
    budget: float
    experimental: bool
    tell: Callable[[str], None]


class Ready(CommandContext, frozen=True, kw_only=True):
    """An agent that can be asked here: all that was found out before anything is sent to it."""

    asker: Asker
    config: Config
    lane: Lane
    adapter: Adapter
    detection: DetectResult
    confinement: Confinement


def ready(place: CommandContext, asker: Asker) -> Ready:
    """Raises `UsageError` for an agent that is unknown, or experimental and not allowed,
    `NoAgentReady`, `Refused` where nothing would keep it from writing."""
    flags = {"race.allow_experimental_adapters": True} if asker.experimental else {}
    config = settings.load(place.repository.root, place.environ, flags)
    lane, adapter = _named(asker.agent, config)
    settings.check_folders(config, (lane.adapter,), place.home)
    check_room(place.state, place.folder, config.limits.disk_floor)
    confinement, result = trio.run(_probe, place, adapter, config)
    if not result.ready:
        error = result.error or Failure(kind="BinaryMissing", message="it was not found")
        message = f"{lane.adapter} is not ready: {error.message}"
        raise NoAgentReady(message, hint=error.hint, failures=(error,))
    descriptor = adapter.descriptor
    if not (confinement.holds or descriptor.confines_itself or descriptor.sandbox == "hard"):
        raise Refused(
            f"nothing keeps {lane.adapter} from writing here ({confinement.reason})",
            hint="install bubblewrap, or ask an agent that has a sandbox of its own",
        )
    return Ready(
        repository=place.repository,
        state=place.state,
        environ=place.environ,
        asker=asker,
        config=config,
        lane=lane,
        adapter=adapter,
        detection=result,
        confinement=confinement,
    )


def _named(agent: str, config: Config) -> tuple[Lane, Adapter]:
    adapters = available.of_race(config, (agent,)).adapters
    lanes = registry.lanes((agent,), adapters, config.agents_of_profiles)
    if len(lanes) > 1:
        raise UsageError(f"{agent!r}: one agent is asked, once", hint=f"say {lanes[0].adapter}")
    (lane,) = lanes
    adapter = registry.get(lane.adapter, adapters)
    allowed = config.race.allow_experimental
    check_experimental((lane,), {lane.adapter: adapter}, allowed, to="ask")
    return lane, adapter


async def _probe(
    place: CommandContext, adapter: Adapter, config: Config
) -> tuple[Confinement, DetectResult]:
    confinement = await try_confinement(place.environ)
    confinement = await try_layers(confinement, place.environ, place.state)
    around = settings.probe_context(config, place.environ, confinement, place.state)
    results = await detect_all([adapter], around)
    return confinement, results[adapter.key()]


_ANSWERED = frozenset(("permission_denied", "failed_items"))
"""Failures of an attempt that changed nothing, which one that only reads may have had."""


class ReviewAnswer(Struct, frozen=True, kw_only=True):
    """What came of it. `texts` are the agent's words, the last first; `why` says in a clause why
    there is none; `interrupted` is a signal's number, or 0."""

    agent: str
    run: str
    """What its grounds go by, as a run's do."""
    folder: Path
    texts: tuple[str, ...] = ()
    why: str = ""
    interrupted: int = 0
    seconds: float = 0.0
    usage: Usage = msgspec.field(default_factory=Usage)
    model: str = ""
    version: str = ""
    remarks: tuple[str, ...] = ()

    def head(self) -> dict[str, object]:
        """What every record of an answer begins with."""
        return {
            "agent": self.agent,
            "model": self.model or None,
            "version": self.version or None,
            "seconds": round(self.seconds, 3),
            "usage": as_json(self.usage),
            "error": self.why or None,
            "warnings": list(self.remarks),
        }


@contextmanager
def ask(run: RunRecord, who: Ready, prompt: str) -> Iterator[ReviewAnswer]:
    """Asks once, and keeps what the agent printed in the run's folder, under consult/.

    What stands on its grounds goes at the end. Where it was interrupted, fails, or no document of
    the answer is written, nothing is kept of it at all. Raises `Refused` where the run's folder
    cannot be written.
    """
    with _recorded(run, who, prompt) as (store, planned):
        frozen = paths.ground_dir(who.state, planned.run, FROZEN)
        with linked(planned, who.repository, frozen) as dependencies:
            adapters = {**registry.OWN, who.adapter.key(): who.adapter}
            programs = planned.lanes[0].argv[:1]
            around = who.run(who.config, adapters, store.folder, programs=programs)
            around = replace(around, dependencies=dependencies)
            factory = ContextFactory(around=around, store=store, plan=planned, patches=run.patches)
            answer = trio.run(_ask, who, factory)
        yield answer
        is_written = any((store.folder / name).exists() for name in DOCUMENTS)
        if answer.interrupted or not (answer.why or is_written):
            tree.remove(store.folder)


@contextmanager
def _recorded(run: RunRecord, who: Ready, prompt: str) -> Iterator[tuple[RunStore, RacePlan]]:
    """A record of its own below the run's, whose lock is held while its grounds stand."""
    try:
        store, planned = _opened(run, who, prompt)
        path = paths.ground_dir(who.state, planned.run, "x").parent
        paths.make_private(path)
        # From here on a later Hydra finds what this one has left, should it be killed.
        pointer = {"schema": 1, "folder": str(store.folder), "lane": who.lane.id}
        write_json(path / POINTER, pointer)
    except OSError as error:
        raise Refused(f"the run's folder cannot be written: {error.strerror}") from error
    try:
        yield store, planned
    except BaseException:
        with suppress(OSError):
            tree.remove(store.folder)
        raise
    finally:
        kill_all()
        with suppress(OSError):
            tree.remove(path)
        store.close()


def _opened(run: RunRecord, who: Ready, prompt: str) -> tuple[RunStore, RacePlan]:
    top = run.folder / FOLDER
    paths.make_private(top)
    number = 1 + max((int(path.name) for path in top.iterdir() if path.name.isdecimal()), default=0)
    while True:
        planned = _plan(run, who, prompt, f"{run.id}.{number}")
        of_race = manifest(planned, planned.base, who.config.sources)
        documents = {"manifest.json": of_race, "plan.json": planned.document()}
        try:
            return RunStore(top / str(number), documents), planned
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
        number += 1  # somebody else asks in this very moment


def _plan(run: RunRecord, who: Ready, prompt: str, id: str) -> RacePlan:
    key, config = who.adapter.key(), who.config
    names = regular_files(who.repository, run.base, who.adapter.descriptor.instructions)
    only_reads = replace(
        config,
        race=replace(config.race, permission=Permission.PLAN, setup=(), copies=()),
        limits=replace(config.limits, total=who.asker.budget),
        checks=CheckSettings(),
    )
    return plan.make(
        PlanInputs(
            run=id,
            state=who.state,
            prompt=prompt,
            repository=who.repository.root,
            base=run.base,
            lanes=(who.lane,),
            config=only_reads,
            adapters={key: who.adapter},
            detections={key: who.detection},
            confinement=who.confinement,
            environment_names=tuple(who.environ),
            instructions={key: names},
            as_root=os.geteuid() == 0,
            dependencies=names_of(who.repository, config, who.environ),
        )
    )


async def _ask(who: Ready, factory: ContextFactory) -> ReviewAnswer:
    store, planned = factory.store, factory.plan
    contexts: list[AttemptContext] = []
    wrote: list[str] = []

    async def run_attempt(
        lane: LanePlan, control: AttemptControl, emit: Emit, _number: int
    ) -> Outcome:
        context = await trio.to_thread.run_sync(factory.create, lane)
        context.workspace.reads_only = True
        contexts.append(context)
        outcome = await attempt(context, control, emit)
        wrote.extend(context.workspace.wrote)
        return outcome

    def record(event: Event) -> None:
        store.append(event)
        if event.kind == "agent_started":
            who.asker.tell(f"asking {who.lane.id}, read-only, for {who.asker.budget:g} s at most")

    fills = places(who.state, who.folder)
    race = RaceScheduler(
        plan=planned,
        run_attempt=run_attempt,
        record=record,
        checkpoint=store.sync,
        disk_monitor=partial(below_minimum, fills, planned.limits.disk_floor),
    )
    result = await race.run()
    (outcome,) = result.outcomes
    (lane,) = planned.lanes
    texts: tuple[str, ...] = ()
    why = _why(outcome)
    if contexts and not why:
        folder = store.lane_folder(lane.id)
        texts = await trio.to_thread.run_sync(answers, contexts[0], folder, outcome)
        why = "" if texts else "it said nothing"
    return ReviewAnswer(
        agent=lane.id,
        run=planned.run,
        folder=store.folder,
        texts=texts,
        why=why,
        interrupted=result.interrupted,
        seconds=result.seconds,
        usage=outcome.usage,
        model=lane.model or "",
        version=lane.version,
        remarks=tuple(_remarks(who, outcome, wrote)),
    )


def _remarks(who: Ready, outcome: Outcome, wrote: Sequence[str]) -> Iterator[str]:
    yield from (warning for warning in outcome.warnings if warning not in who.detection.warnings)
    if wrote:
        yield f"it wrote into its own worktree, which is thrown away: {join_names(wrote)}"


def _why(outcome: Outcome) -> str:
    failure = outcome.failure
    if failure is None or (failure.kind == "AgentFailed" and failure.reason in _ANSWERED):
        return ""
    if outcome.status is Status.TIMED_OUT and failure.reason == "total":
        return f"its budget of {failure.numbers.get('limit') or 0:g} s was used up"
    return failure.message

"""Asks one agent once: read-only, on a ground of its own at a run's base, within a budget."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
import trio
from msgspec import Struct
from msgspec.structs import replace

from hydra import paths
from hydra.adapters import registry
from hydra.commands.review.reviewer import Ready
from hydra.config.schema import CheckSettings
from hydra.disk import below_minimum
from hydra.errors import Refused
from hydra.git.ls_tree import regular_files
from hydra.git.runner import kill_all
from hydra.race import plan
from hydra.race.answers import answers
from hydra.race.attempt import attempt
from hydra.race.context import AttemptContext, AttemptControl, ContextFactory, Emit
from hydra.race.dependencies import FROZEN, linked, names_of
from hydra.race.disk_space import places
from hydra.race.lane_plan import PlanInputs
from hydra.race.record import manifest
from hydra.race.recovery.reviews import FOLDER, POINTER
from hydra.race.recovery.runs import RepositoryRuns
from hydra.race.scheduler import RaceScheduler
from hydra.race.views import view_source
from hydra.records.codec import as_json
from hydra.records.events import Event
from hydra.records.outcome import Outcome, Status, Usage
from hydra.records.plan import LanePlan, RacePlan
from hydra.records.request import Permission, Task
from hydra.records.store.files import write_json
from hydra.records.store.reader import RunRecord
from hydra.records.store.writer import RunStore
from hydra.text import join_names
from hydra.workspace import tree

_ANSWERED = frozenset(("permission_denied", "failed_items"))
"""Failures of an attempt that changed nothing, which one that only reads may have had."""


class ReviewAnswer(Struct, frozen=True, kw_only=True):
    """What came of it. `texts` are the agent's words, the last first; `why` says in a clause why
    there is none; `interrupted` is a signal's number, or 0."""

    agent: str
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


@dataclass(slots=True, kw_only=True)
class ReviewSession:
    """One question under way: its answer, and where more may be kept and stand until its end.

    `kept` False: nothing of it is.
    """

    answer: ReviewAnswer
    id: str
    """What its grounds go by, as a run's do."""
    folder: Path
    is_recorded: bool = True


@contextmanager
def ask(place: RepositoryRuns, run: RunRecord, who: Ready, prompt: str) -> Iterator[ReviewSession]:
    """Asks once, and keeps what the agent printed in the run's folder, under consult/.

    What stands on its grounds goes at the end. Where it was interrupted, or fails, nothing is kept
    of it at all. Raises `Refused` where the run's folder cannot be written.
    """
    with _recorded(place, run, who, prompt) as (store, planned):
        frozen = paths.ground_dir(place.state, planned.run, FROZEN)
        with linked(planned, place.repository, frozen) as dependencies:
            factory = replace(_shop(place, run, who, store, planned), dependencies=dependencies)
            answer = trio.run(_ask, place, who, store, planned, factory)
        session = ReviewSession(answer=answer, id=planned.run, folder=store.folder)
        session.is_recorded = not answer.interrupted
        yield session
        if not session.is_recorded:
            tree.remove(store.folder)


@contextmanager
def _recorded(
    place: RepositoryRuns, run: RunRecord, who: Ready, prompt: str
) -> Iterator[tuple[RunStore, RacePlan]]:
    """A record of its own below the run's, whose lock is held while its grounds stand."""
    try:
        store, planned = _opened(place, run, who, prompt)
        path = paths.ground_dir(place.state, planned.run, "x").parent
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


def _opened(
    place: RepositoryRuns, run: RunRecord, who: Ready, prompt: str
) -> tuple[RunStore, RacePlan]:
    top = run.folder / FOLDER
    paths.make_private(top)
    number = 1 + max((int(path.name) for path in top.iterdir() if path.name.isdecimal()), default=0)
    while True:
        planned = _plan(place, run, who, prompt, f"{run.id}.{number}")
        of_race = manifest(planned, planned.base, who.config.sources)
        documents = {"manifest.json": of_race, "plan.json": planned.document()}
        try:
            return RunStore(top / str(number), documents), planned
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
        number += 1  # somebody else asks in this very moment


def _plan(place: RepositoryRuns, run: RunRecord, who: Ready, prompt: str, id: str) -> RacePlan:
    descriptor, config, environ = who.adapter.descriptor, who.config, who.asker.environ
    names = regular_files(place.repository, run.base, descriptor.instructions)
    only_reads = replace(
        config,
        race=replace(config.race, permission=Permission.PLAN, setup=(), copies=()),
        limits=replace(config.limits, total=who.asker.budget),
        checks=CheckSettings(),
    )
    return plan.make(
        PlanInputs(
            run=id,
            state=place.state,
            task=Task(
                prompt=prompt, repository=place.repository.root, base=run.base, title="asked"
            ),
            lanes=(who.lane,),
            config=only_reads,
            adapters={descriptor.key: who.adapter},
            detections={descriptor.key: who.detection},
            confinement=who.confinement,
            environment_names=tuple(environ),
            instructions={descriptor.key: names},
            as_root=os.geteuid() == 0,
            dependencies=names_of(place.repository, config, environ),
        )
    )


async def _ask(
    place: RepositoryRuns,
    who: Ready,
    store: RunStore,
    planned: RacePlan,
    factory: ContextFactory,
) -> ReviewAnswer:
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

    race = RaceScheduler(
        plan=planned,
        run_attempt=run_attempt,
        record=record,
        checkpoint=store.sync,
        disk_monitor=partial(
            below_minimum, places(place.state, place.folder), planned.limits.disk_floor
        ),
    )
    result = await race.run()
    (outcome,) = result.outcomes
    texts: tuple[str, ...] = ()
    why = _why(outcome)
    if contexts and not why:
        texts = await trio.to_thread.run_sync(
            answers, contexts[0], store.lane_folder(who.lane.id), outcome
        )
        why = "" if texts else "it said nothing"
    planned_lane = planned.lanes[0]
    return ReviewAnswer(
        agent=who.lane.id,
        folder=store.folder,
        texts=texts,
        why=why,
        interrupted=result.interrupted,
        seconds=result.seconds,
        usage=outcome.usage,
        model=planned_lane.model or "",
        version=planned_lane.version,
        remarks=tuple(_remarks(who, outcome, wrote)),
    )


def _shop(
    place: RepositoryRuns, run: RunRecord, who: Ready, store: RunStore, planned: RacePlan
) -> ContextFactory:
    environ = who.asker.environ
    adapters = {**registry.OWN, who.adapter.key(): who.adapter}
    home = paths.home_dir(environ)
    return ContextFactory(
        repository=place.repository,
        config=who.config,
        store=store,
        home=home,
        state=place.state,
        environ=environ,
        adapters=adapters,
        plan=planned,
        view=view_source(
            config=who.config,
            environ=environ,
            home=home,
            state=place.state,
            repository=place.repository,
            adapters=adapters,
            programs=planned.lanes[0].argv[:1],
        ),
        patches=run.patches,
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

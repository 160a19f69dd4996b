"""What a race does with one lane: its attempts, then its checks, then its ground is tidied up."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import trio
from msgspec.structs import replace

from hydra.log import get_logger
from hydra.race.attempt import attempt
from hydra.race.checks_phase import CheckPhase
from hydra.race.context import AttemptContext, AttemptControl, ContextFactory, Emit
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus, Outcome, Status
from hydra.records.plan import LanePlan
from hydra.records.request import Permission
from hydra.records.store.writer import RunStore

_log = get_logger(__name__)


class Lanes:
    """The lanes of one race, as it runs them: the contexts that their attempts work in."""

    def __init__(self, factory: ContextFactory, checks: CheckPhase) -> None:
        self._factory = factory
        self._checks = checks
        self._contexts: dict[str, AttemptContext] = {}

    async def attempt(
        self, lane: LanePlan, control: AttemptControl, emit: Emit, number: int
    ) -> Outcome:
        """One attempt, by its number, to its outcome."""
        if number > 1:
            # What the attempt before has left is in its patch; the next one begins from the base.
            _log.info("its ground is made anew")
            await trio.to_thread.run_sync(self._contexts[lane.id].workspace.remove)
        context = self._contexts[lane.id] = self._factory.create(lane, number)
        return await attempt(context, control, emit)

    async def finish(
        self, lane: LanePlan, control: AttemptControl, emit: Emit, outcome: Outcome
    ) -> Outcome:
        """The lane's outcome with what came of its checks, and its ground gone where `keep` says
        so."""
        context = self._contexts[lane.id]
        outcome = await self._checks.lane(outcome, control, emit)
        if lane.permission is Permission.PLAN:
            outcome = await trio.to_thread.run_sync(
                with_plan, self._factory.store, context, outcome
            )
        # Whatever comes now, the outcome stands.
        with trio.CancelScope(shield=True):
            problem = await trio.to_thread.run_sync(self._factory.clean_up, context, outcome)
        _log.info("cleaned up", problem=problem)
        return replace(outcome, warnings=(*outcome.warnings, problem)) if problem else outcome


# ---- The plan that a lane with permission `plan` ended on, kept whole as its result.

PLAN_FILE = "plan.md"


def with_plan(store: RunStore, context: AttemptContext, outcome: Outcome) -> Outcome:
    """`outcome` with the place of its plan, which is what its agent said last; as it is where it
    was asked for none, said nothing, or did not come to its end. Blocks."""
    lane = context.lane_plan
    ended = outcome.status in (Status.NO_CHANGES, Status.COMPLETED)
    if lane.permission is not Permission.PLAN or not ended:
        return outcome
    folder = store.lane_folder(lane.id)
    texts = answers(context, folder, outcome)
    if not texts:
        return outcome
    path = folder / PLAN_FILE
    with suppress(OSError):  # a full disk: its beginning still stands in the result
        path.touch(mode=0o600)
        path.write_text(texts[0].strip() + "\n", encoding="utf-8", errors="backslashreplace")
        return replace(outcome, plan=str(path.relative_to(store.folder)))
    return outcome


# ---- What an agent answered, whole.

MESSAGES = 50
"""Of an agent's last words so many are kept in mind."""

_LINE = 4 * 1024**2


def answers(context: AttemptContext, folder: Path, outcome: Outcome) -> tuple[str, ...]:
    """What the agent said, whole, the last first: read again from what it printed, since events
    hold the beginnings of long texts alone."""
    parser = context.adapter.parser()
    lines: list[str] = []
    name = "raw.jsonl" if outcome.attempt == 1 else f"raw.{outcome.attempt}.jsonl"
    with suppress(OSError), (folder / name).open("rb") as raw:
        while line := raw.readline(_LINE):
            with suppress(Exception):  # an adapter's mistake costs a line
                lines += _texts(parser.parse_line(line.rstrip(b"\n")))
            del lines[:-MESSAGES]
    with suppress(Exception):
        lines += _texts(parser.end(outcome.exit or ExitStatus(code=0), {}))
    texts = dict.fromkeys(context.redactor.text(text) for text in reversed(lines) if text.strip())
    return tuple(texts) or ((outcome.message,) if outcome.message.strip() else ())


def _texts(events: Sequence[AgentEvent]) -> list[str]:
    agent_events = [
        event for event in events if event.kind in ("message", "completed") and not event.sub
    ]
    return [str(event.data.get("text", "")) for event in agent_events]

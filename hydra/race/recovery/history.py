"""What a killed Hydra had written, read back: the plan, and how far each lane had come."""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from hydra.errors import RecordError
from hydra.race.transcript import AgentTranscript
from hydra.records.codec import shaped
from hydra.records.events import AGENT_KINDS, AgentEvent, Event, decode
from hydra.records.outcome import Outcome
from hydra.records.plan import Confinement, RaceManifest, RacePlan
from hydra.records.request import Limits, Permission
from hydra.records.store.reader import read_record


@dataclass
class Past:
    """One lane's attempt as its events tell it. Times are seconds since the run began."""

    attempt: int = 1
    opened: bool = False
    agent: Mapping[str, Any] = field(default_factory=dict)
    ended: Outcome | None = None
    """Of the lane, where this attempt is its result."""
    over: Outcome | None = None
    """Of this attempt alone."""
    exited: Mapping[str, Any] | None = None
    transcript: AgentTranscript = field(default_factory=AgentTranscript)
    warnings: list[str] = field(default_factory=list)
    first: float | None = None
    last: float = 0.0
    earlier: tuple[Past, ...] = ()
    """The lane's attempts before this one."""

    @property
    def outcome(self) -> Outcome | None:
        """How it ended, where that was written."""
        return self.over if self.ended is None else self.ended

    @property
    def seconds(self) -> float:
        """From its first event to the last that was written."""
        return 0.0 if self.first is None else self.last - self.first

    def add(self, event: Event) -> None:
        """Takes one event in."""
        if event.attempt > self.attempt:
            # Another try, in a ground of its own.
            before = (*self.earlier, dataclasses.replace(self, earlier=()))
            self.__init__(attempt=event.attempt, earlier=before)  # type: ignore[misc]
        elif 0 < event.attempt < self.attempt:
            # An earlier one is the lane's result, and is checked.
            for past in (past for past in self.earlier if past.attempt == event.attempt):
                past.add(event)
            return
        self.first = event.mono if self.first is None else self.first
        self.last = event.mono
        match event.kind:
            case "lane_opened":
                self.opened = True
            case "lane_warning":
                self.warnings.append(str(event.data.get("text", "")))
            case "setup_started":
                self.opened = True  # the event that says so may have been lost
            case "agent_started":
                self.agent = event.data
                self.opened = True
            case "agent_exited":
                self.exited = event.data
            case "attempt_ended":
                self.over = _outcome(event)
            case "lane_ended":
                self.ended = _outcome(event)
            case kind if kind in AGENT_KINDS:
                self.opened = True
                self.transcript.add(AgentEvent(event.kind, event.sub, event.data))


def _outcome(event: Event) -> Outcome | None:
    with suppress(ValueError):  # of another shape: how it ended is not known
        return shaped({"lane": event.lane, "attempt": event.attempt, **event.data}, Outcome)
    return None


@dataclass
class History:
    """A run's events: each lane's past, and where the numbering goes on."""

    lanes: dict[str, Past] = field(default_factory=dict)
    seq: int = 0
    mono: float = 0.0
    ended: bool = False
    signal: int = 0

    def lane(self, name: str) -> Past:
        """One lane's past, empty where it has none."""
        return self.lanes.setdefault(name, Past())


def history(events: Path) -> History:
    """Reads what can be read: a damaged line costs itself only."""
    past = History()
    for event in _events(events):
        past.seq = max(past.seq, event.seq)
        past.mono = max(past.mono, event.mono)
        past.ended = past.ended or event.kind == "run_ended"
        if event.kind == "run_interrupted" and not past.signal:
            past.signal = _number(str(event.data.get("signal", "")))
        if event.lane:
            past.lane(event.lane).add(event)
    return past


def _events(path: Path) -> Iterator[Event]:
    with path.open("rb") as source:
        for line in source:
            try:
                yield decode(line)
            except RecordError:
                continue


def _number(name: str) -> int:
    return int(signal.Signals[name]) if name in signal.Signals.__members__ else 0


def manifest(folder: Path) -> RaceManifest:
    """The run's manifest; empty where it cannot be read."""
    try:
        return read_record(folder / "manifest.json", RaceManifest)
    except RecordError:
        return RaceManifest()


def plan(folder: Path) -> RacePlan:
    """The plan that `plan.json` shows. Raises `RecordError` where it is damaged."""
    prompt = manifest(folder).prompt
    return replace(read_record(folder / "plan.json", RacePlan), run=folder.name, prompt=prompt)


def bare_plan(folder: Path) -> RacePlan:
    """What stands in for a plan that is damaged: enough to close the record."""
    document = manifest(folder)
    return RacePlan(
        run=folder.name,
        prompt=document.prompt,
        repository=Path(document.repository),
        base=document.base,
        title=document.title,
        lanes=(),
        permission=Permission.FULL_AUTO,
        confinement=Confinement(kind="none", reason="the record is damaged"),
        limits=Limits(),
    )

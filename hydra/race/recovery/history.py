"""What a killed Hydra had written, read back: the plan, and how far each lane had come."""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from hydra.errors import Failure, RecordError
from hydra.records.agent import BuiltCommand, Origin, Tier
from hydra.records.events import AGENT_KINDS, AgentEvent, Event, decode
from hydra.records.plan import Confinement, LanePlan, RacePlan, Rates, RemotePlace
from hydra.records.request import (
    Budget,
    Check,
    Effort,
    Lane,
    Limits,
    Permission,
    Retry,
    Task,
    TrialCap,
)
from hydra.records.store.files import read_object
from hydra.records.transcript import AgentTranscript


@dataclass
class Past:
    """One lane's attempt as its events tell it. Times are seconds since the run began."""

    attempt: int = 1
    opened: bool = False
    agent: Mapping[str, Any] = field(default_factory=dict)
    ended: Mapping[str, Any] | None = None
    """Of the lane, where this attempt is its result."""
    over: Mapping[str, Any] | None = None
    """Of this attempt alone."""
    exited: Mapping[str, Any] | None = None
    transcript: AgentTranscript = field(default_factory=AgentTranscript)
    warnings: list[str] = field(default_factory=list)
    first: float | None = None
    last: float = 0.0
    earlier: tuple[Past, ...] = ()
    """The lane's attempts before this one."""

    @property
    def outcome(self) -> Mapping[str, Any] | None:
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
                self.over = event.data
            case "lane_ended":
                self.ended = event.data
            case kind if kind in AGENT_KINDS:
                self.opened = True
                self.transcript.add(AgentEvent(event.kind, event.sub, event.data))


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
            except (RecordError, KeyError, TypeError):
                continue


def _number(name: str) -> int:
    return int(signal.Signals[name]) if name in signal.Signals.__members__ else 0


def manifest(folder: Path) -> Mapping[str, Any]:
    """The run's manifest; empty where it cannot be read."""
    return _document(folder / "manifest.json")


def plan(folder: Path) -> RacePlan:
    """The plan that `plan.json` shows. Raises `RecordError` where it is damaged."""
    document, data = _document(folder / "plan.json"), manifest(folder)
    try:
        return RacePlan(
            run=folder.name,
            task=Task(
                prompt=str(data["prompt"]),
                repository=Path(document["repository"]),
                base=document["base"],
                base_name=document["base_name"],
                title=document["title"],
            ),
            lanes=tuple(_lane(lane) for lane in document["lanes"]),
            permission=Permission(document["permission"]),
            confinement=Confinement(
                **document["confinement"], promises=tuple(document["promises"])
            ),
            limits=Limits(**document["limits"]),
            max_parallel=document["max_parallel"],
            network=document["network"],
            copies=tuple(document["copies"]),
            dependencies=tuple(document["dependencies"]),
            python_path=tuple(document["python_path"]),
            setup=tuple(document["setup"]),
            **_checks(document["checks"]),
            keep=document["keep"],
            retry=Retry(**{**document["retry"], "on": tuple(document["retry"]["on"])}),
            left_out=tuple(failure(error) for error in document["left_out"]),
            warnings=tuple(document["warnings"]),
        )
    except (KeyError, TypeError, ValueError) as damage:
        raise RecordError(
            f"its plan.json cannot be read ({type(damage).__name__}: {damage})",
            hint=f"look at the folder itself: {folder}",
        ) from damage


def _checks(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a plan says of checks."""
    return {
        "checks": tuple(Check(**check) for check in document["commands"]),
        "checks_parallel": int(document["parallel"]),
        "checks_network": str(document["network"]),
        "checks_on_host": tuple(document.get("on_host", ())),
        "trials": TrialCap(**document["trials"]),
    }


def bare_plan(folder: Path) -> RacePlan:
    """What stands in for a plan that is damaged: enough to close the record."""
    document = manifest(folder)
    return RacePlan(
        run=folder.name,
        task=Task(
            prompt=str(document.get("prompt", "")),
            repository=Path(str(document.get("repository", ""))),
            base=str(document.get("base", "")),
            title=str(document.get("title", "")),
        ),
        lanes=(),
        permission=Permission.FULL_AUTO,
        confinement=Confinement(kind="none", reason="the record is damaged"),
        limits=Limits(),
    )


def _lane(document: Mapping[str, Any]) -> LanePlan:
    command, error = document["command"], document["error"]
    return LanePlan(
        lane=Lane(
            id=document["lane"],
            adapter=document["adapter"],
            model=document["model"],
            effort=Effort(document["effort"]) if document["effort"] else None,
            profile=document["profile"] or "",
        ),
        label=document["label"],
        tier=Tier(document["tier"]),
        soft_sandbox=document["sandbox"] == "soft",
        version=document["version"],
        worktree=Path(document["worktree"]),
        permission=Permission(document["permission"]),
        command=None if command is None else _command(command),
        budget=Budget(**document["budget"]),
        env_names=tuple(document["environment_passed"]),
        warnings=tuple(document["warnings"]),
        failure=None if error is None else failure(error),
        third_party=_origin(document["origin"]),
        rates=Rates(**rates) if (rates := document["rates"]) else None,
        remote=RemotePlace(**place) if (place := document["remote"]) else None,
    )


def _origin(document: Mapping[str, Any] | None) -> Origin | None:
    if document is None:
        return None
    return Origin(document["adapter"], document["distribution"] or "", document["version"] or "")


def _command(document: Mapping[str, Any]) -> BuiltCommand:
    program, *args = document["argv"]
    return BuiltCommand(program=program, args=tuple(args), cwd=Path(document["cwd"]))


def failure(document: Mapping[str, Any]) -> Failure:
    """An error as a record has it. Raises `TypeError` where it is none."""
    read = Failure(**document)
    return replace(read, command=tuple(read.command))


def _document(path: Path) -> Mapping[str, Any]:
    try:
        return read_object(path)
    except (OSError, ValueError):
        return {}

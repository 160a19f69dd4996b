"""What a killed Hydra had written, read back: the plan, and how far each lane had come."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hydra.errors import Failure, RecordError
from hydra.events import AGENT_KINDS, AgentEvent, Event, decode
from hydra.model import (
    Budget,
    BuiltCommand,
    Check,
    Confinement,
    Effort,
    Lane,
    LanePlan,
    Limits,
    Origin,
    Permission,
    Place,
    RacePlan,
    Rates,
    Retry,
    Task,
    Tier,
    TrialCap,
)
from hydra.outcome import Story
from hydra.store import read_object


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
    story: Story = field(default_factory=Story)
    warnings: list[str] = field(default_factory=list)
    first: float | None = None
    last: float = 0.0
    earlier: tuple[Past, ...] = ()
    """The lane's attempts before this one."""

    @property
    def told(self) -> Mapping[str, Any] | None:
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
            before = (*self.earlier, replace(self, earlier=()))
            self.__init__(attempt=event.attempt, earlier=before)  # type: ignore[misc]
        elif 0 < event.attempt < self.attempt:
            # An earlier one is the lane's result, and is checked.
            for past in (one for one in self.earlier if one.attempt == event.attempt):
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
                self.story.add(AgentEvent(event.kind, event.sub, event.data))


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
    told = History()
    for event in _events(events):
        told.seq = max(told.seq, event.seq)
        told.mono = max(told.mono, event.mono)
        told.ended = told.ended or event.kind == "run_ended"
        if event.kind == "run_interrupted" and not told.signal:
            told.signal = _number(str(event.data.get("signal", "")))
        if event.lane:
            told.lane(event.lane).add(event)
    return told


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
    told, known = _document(folder / "plan.json"), manifest(folder)
    try:
        return RacePlan(
            run=folder.name,
            task=Task(
                prompt=str(known["prompt"]),
                repository=Path(told["repository"]),
                base=told["base"],
                base_name=told["base_name"],
                title=told["title"],
            ),
            lanes=tuple(_lane(lane) for lane in told["lanes"]),
            permission=Permission(told["permission"]),
            confinement=Confinement(**told["confinement"], promises=tuple(told["promises"])),
            limits=Limits(**told["limits"]),
            max_parallel=told["max_parallel"],
            network=told["network"],
            copies=tuple(told["copies"]),
            dependencies=tuple(told.get("dependencies", ())),
            setup=tuple(told["setup"]),
            **_checks(told.get("checks")),
            keep=told["keep"],
            retry=_retry(told.get("retry")),
            left_out=tuple(failure(error) for error in told.get("left_out", ())),
            warnings=tuple(told["warnings"]),
        )
    except (KeyError, TypeError, ValueError) as damage:
        raise RecordError(
            f"its plan.json cannot be read ({type(damage).__name__}: {damage})",
            hint=f"look at the folder itself: {folder}",
        ) from damage


def _retry(told: Any) -> Retry:
    return Retry() if told is None else Retry(**{**told, "on": tuple(told["on"])})


def _checks(told: Any) -> dict[str, Any]:
    """What a plan says of checks; older ones say nothing."""
    if told is None:
        return {}
    return {
        "checks": tuple(Check(**check) for check in told["commands"]),
        "checks_parallel": int(told["parallel"]),
        "checks_tree": str(told["tree"]),
        "checks_network": str(told["network"]),
        "trials": TrialCap(**told.get("trials", {})),
    }


def bare_plan(folder: Path) -> RacePlan:
    """What stands in for a plan that is damaged: enough to close the record."""
    known = manifest(folder)
    return RacePlan(
        run=folder.name,
        task=Task(
            prompt=str(known.get("prompt", "")),
            repository=Path(str(known.get("repository", ""))),
            base=str(known.get("base", "")),
            title=str(known.get("title", "")),
        ),
        lanes=(),
        permission=Permission.FULL_AUTO,
        confinement=Confinement(kind="none", reason="the record is damaged"),
        limits=Limits(),
    )


def _lane(told: Mapping[str, Any]) -> LanePlan:
    command, error = told["command"], told["error"]
    return LanePlan(
        lane=Lane(
            id=told["lane"],
            adapter=told["adapter"],
            model=told["model"],
            effort=Effort(told["effort"]) if told.get("effort") else None,
            profile=told.get("profile") or "",
        ),
        label=told["label"],
        tier=Tier(told["tier"]),
        soft_sandbox=told["sandbox"] == "soft",
        version=told["version"],
        worktree=Path(told["worktree"]),
        permission=Permission(told["permission"]),
        command=None if command is None else _command(command),
        budget=Budget(**told.get("budget", {})),
        env_names=tuple(told["environment_passed"]),
        warnings=tuple(told["warnings"]),
        failure=None if error is None else failure(error),
        third_party=_origin(told.get("origin")),
        rates=Rates(**rates) if (rates := told.get("rates")) else None,
        remote=Place(**place) if (place := told.get("remote")) else None,
    )


def _origin(told: Mapping[str, Any] | None) -> Origin | None:
    if told is None:
        return None
    return Origin(told["adapter"], told["distribution"] or "", told["version"] or "")


def _command(told: Mapping[str, Any]) -> BuiltCommand:
    program, *args = told["argv"]
    return BuiltCommand(program=program, args=tuple(args), cwd=Path(told["cwd"]))


def failure(told: Mapping[str, Any]) -> Failure:
    """An error as a record has it. Raises `TypeError` where it is none."""
    read = Failure(**told)
    return replace(read, command=tuple(read.command))


def _document(path: Path) -> Mapping[str, Any]:
    try:
        return read_object(path)
    except (OSError, ValueError):
        return {}

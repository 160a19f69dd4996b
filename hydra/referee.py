"""Pure decisions over the whole race: an event goes in, actions come out. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hydra.events import Event
from hydra.model import Budget
from hydra.spending import Spent, over, spend


@dataclass(frozen=True, slots=True)
class StopAll:
    """End every lane by the ladder; graces in seconds (INT, TERM), None for the race's own."""

    reason: str
    graces: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class KillAll:
    """End every lane at once and take no patches: recovery does that later."""

    reason: str


@dataclass(frozen=True, slots=True)
class StopLane:
    """End one lane by the ladder: its agent said something that makes waiting useless."""

    lane: str
    reason: str


Action = StopAll | KillAll | StopLane

HURRIED = (2.0, 2.0)
"""Graces when the system itself ends Hydra (SIGTERM, SIGHUP): 5 s in all, with a margin. Also
when a disk is at its floor: until they end, the agents go on filling it."""


@dataclass(frozen=True, slots=True)
class State:
    """What the referee remembers: how often the race was interrupted, what lanes have used up."""

    interrupts: int = 0
    budgets: Mapping[str, Budget] = field(default_factory=dict)
    """Of the lanes that have one."""
    spent: Mapping[str, Spent] = field(default_factory=dict)


def step(state: State, event: Event) -> tuple[State, tuple[Action, ...]]:
    """What `event` means for the race."""
    if event.kind == "run_interrupted":
        interrupts = state.interrupts + 1
        state = replace(state, interrupts=interrupts)
        if interrupts > 1:
            return state, (KillAll("interrupt"),)
        graces = None if event.data.get("signal") == "SIGINT" else HURRIED
        return state, (StopAll("interrupt", graces),)
    if event.kind == "run_warning" and event.sub == "disk_floor":
        return state, (StopAll("disk_floor", HURRIED),)
    if _refused_sign_in(event):
        return state, (StopLane(event.lane, "sign_in"),)
    return _spending(state, event) if event.lane in state.budgets else (state, ())


def _spending(state: State, event: Event) -> tuple[State, tuple[Action, ...]]:
    """A lane with a budget: each try has the whole of it."""
    if event.kind == "lane_opening":
        return replace(state, spent={**state.spent, event.lane: Spent()}), ()
    if event.source != "agent":
        return state, ()
    now = spend(state.spent.get(event.lane, Spent()), event)
    state = replace(state, spent={**state.spent, event.lane: now})
    why = over(now, state.budgets[event.lane])
    return state, ((StopLane(event.lane, why),) if why else ())


def _refused_sign_in(event: Event) -> bool:
    # The CLI itself would try ten more times (claude 2.1.330: 187 s) before it gives up.
    told = event.kind == "failed" and event.source == "agent"
    return told and bool(event.data.get("terminal")) and event.data.get("error") == "AuthMissing"

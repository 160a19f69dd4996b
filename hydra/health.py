"""How an agent is here and now, in one word with one next step: what its probes said, and how the
last races of this machine ended. Pure; a judgement for people, which no race asks for."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum

from hydra.adapters import versions
from hydra.adapters.contract import Descriptor
from hydra.adapters.folders import folders_of
from hydra.errors import Failure
from hydra.lanes import EXPERIMENTAL_FLAG
from hydra.model import DetectResult, SignIn, Tier


class State(StrEnum):
    """What `hydra doctor` says of an agent."""

    READY = "ready"
    SIGN_IN = "sign-in needed"
    UNREACHABLE = "unreachable"
    LIMITED = "limited"
    NOT_FOUND = "not found"
    TOO_OLD = "too old"
    BROKEN = "broken"
    NOT_RUN = "not run"
    NOT_PROBED = "not probed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """How an agent's last race ended, where the service was to blame.

    `reason` is one of `LASTS`; times are seconds since 1970, `until` only where the service said.
    """

    reason: str
    at: float
    until: float | None = None
    message: str = ""


LASTS = {
    "network": 3600.0,
    "overloaded": 3600.0,
    "rate_limit": 3600.0,
    "quota": 6 * 3600.0,
    "sign_in": 3600.0,
}
"""Seconds for which a trouble counts of which the service did not say when it ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """`why` is a clause ("" where there is nothing to say), `next` a sentence or a command;
    `until` is when a limit is over, in seconds since 1970, where the service said it."""

    state: State
    why: str
    next: str
    until: float | None = None


def judge(
    descriptor: Descriptor, found: DetectResult | None, trouble: Trouble | None, now: float
) -> Health:
    """An agent's health. `found` None: it was not probed."""
    if descriptor.unrunnable:
        step = "race another agent: `hydra agents` lists them"
        return Health(state=State.NOT_RUN, why=descriptor.unrunnable, next=step)
    if found is None:
        step = f"`hydra doctor {EXPERIMENTAL_FLAG}` looks for it"
        return Health(state=State.NOT_PROBED, why="", next=step)
    if not found.ready:
        return _unready(descriptor, found)
    if trouble is not None and (told := _troubled(descriptor, found, trouble, now)) is not None:
        return told
    return _ready(descriptor, found)


def race_line(descriptor: Descriptor) -> str:
    """The command that races this agent."""
    flag = "" if descriptor.tier is Tier.TIER1 else f" {EXPERIMENTAL_FLAG}"
    return f'hydra race "your task" -a {descriptor.key}{flag}'


def _unready(descriptor: Descriptor, found: DetectResult) -> Health:
    error = found.error or Failure(kind="BinaryMissing", message="not found")
    state = _STATES.get(error.kind, State.BROKEN)
    old = versions.older(found.version, descriptor.minimum_version)
    if state is State.BROKEN and old:
        state = State.TOO_OLD
    step = error.hint or descriptor.install_hint
    if state is State.SIGN_IN:
        step = descriptor.sign_in_hint or step
    if not step:
        step = f"run `{descriptor.binaries[0]} --version` by hand and see what it says"
    why = found.sign_in_detail if state is State.SIGN_IN else ""
    return Health(state=state, why=why or error.message, next=step)


_STATES = {"BinaryMissing": State.NOT_FOUND, "AuthMissing": State.SIGN_IN}


def _ready(descriptor: Descriptor, found: DetectResult) -> Health:
    if found.sign_in is SignIn.UNKNOWN and _leaves_traces(descriptor):
        why = "no key is set, and no sign-in is here"
        if descriptor.local_models:
            why += " (a model on this machine needs none)"
        return Health(state=State.SIGN_IN, why=why, next=descriptor.sign_in_hint)
    return Health(state=State.READY, why="", next=race_line(descriptor))


def _leaves_traces(descriptor: Descriptor) -> bool:
    """Whether a sign-in would have been seen: by its names and files, where it cannot be asked."""
    if any(probe.name == "sign_in" for probe in descriptor.probes):
        return False
    files = any(folder.credentials for folder in folders_of(descriptor))
    return bool(descriptor.sign_in_environment) or files


def _troubled(
    descriptor: Descriptor, found: DetectResult, trouble: Trouble, now: float
) -> Health | None:
    """None: it is over, as far as anybody can say."""
    over = trouble.until if trouble.until is not None else trouble.at + LASTS[trouble.reason]
    if now >= over:
        return None
    when = f"the race of {_clock(trouble.at)}"
    if trouble.reason == "network":
        why = f"{when} could not reach its service"
        step = f"see that the network (or the proxy) works, then {race_line(descriptor)}"
        return Health(state=State.UNREACHABLE, why=why, next=step)
    if trouble.reason == "sign_in":
        if found.sign_in is SignIn.CONFIRMED:
            return None
        why = f"its service refused the sign-in in {when}"
        return Health(state=State.SIGN_IN, why=why, next=descriptor.sign_in_hint)
    until = "" if trouble.until is None else f", until {_clock(trouble.until)}"
    why = f"{_LIMITS[trouble.reason]} in {when}{until}"
    step = "race with another agent or model"
    if trouble.until is not None:
        step = f"wait until {_clock(trouble.until)}, or {step}"
    return Health(state=State.LIMITED, why=why, next=step, until=trouble.until)


_LIMITS = {
    "rate_limit": "its service limited the rate",
    "quota": "its quota was used up",
    "overloaded": "its service was overloaded",
}


def _clock(moment: float) -> str:
    """A time of day here."""
    return time.strftime("%H:%M", time.localtime(moment))

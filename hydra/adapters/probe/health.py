"""How an agent is here and now, in one word with one next step, by what its probes said. Pure; a
judgement for people, which no race asks for."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from hydra.adapters import detection
from hydra.adapters.config_dirs import folders_of
from hydra.adapters.contract import Descriptor
from hydra.adapters.registry import EXPERIMENTAL_FLAG
from hydra.errors import Failure
from hydra.records.agent import DetectResult, SignIn, Tier


class HealthState(StrEnum):
    """What `hydra doctor` says of an agent."""

    READY = "ready"
    SIGN_IN = "sign-in needed"
    NOT_FOUND = "not found"
    TOO_OLD = "too old"
    BROKEN = "broken"
    NOT_PROBED = "not probed"


class Health(Struct, frozen=True, kw_only=True):
    """`why` is a clause ("" where there is nothing to say), `next` a sentence or a command."""

    state: HealthState
    why: str
    next: str


def judge(descriptor: Descriptor, result: DetectResult | None) -> Health:
    """An agent's health. `result` None: it was not probed."""
    if result is None:
        step = f"`hydra doctor {EXPERIMENTAL_FLAG}` looks for it"
        return Health(state=HealthState.NOT_PROBED, why="", next=step)
    if not result.ready:
        return _unready(descriptor, result)
    return _ready(descriptor, result)


def race_line(descriptor: Descriptor) -> str:
    """The command that races this agent."""
    flag = "" if descriptor.tier is Tier.TIER1 else f" {EXPERIMENTAL_FLAG}"
    return f'hydra race "your task" -a {descriptor.key}{flag}'


def _unready(descriptor: Descriptor, result: DetectResult) -> Health:
    error = result.error or Failure(kind="BinaryMissing", message="not found")
    state = _STATES.get(error.kind, HealthState.BROKEN)
    old = detection.older(result.version, descriptor.minimum_version)
    if state is HealthState.BROKEN and old:
        state = HealthState.TOO_OLD
    step = error.hint or descriptor.install_hint
    if state is HealthState.SIGN_IN:
        step = descriptor.sign_in_hint or step
    if not step:
        step = f"run `{descriptor.binaries[0]} --version` by hand and see what it says"
    why = result.sign_in_detail if state is HealthState.SIGN_IN else ""
    return Health(state=state, why=why or error.message, next=step)


_STATES = {"BinaryMissing": HealthState.NOT_FOUND, "AuthMissing": HealthState.SIGN_IN}


def _ready(descriptor: Descriptor, result: DetectResult) -> Health:
    if result.sign_in is SignIn.UNKNOWN and _leaves_traces(descriptor):
        why = "no key is set, and no sign-in is here"
        if not descriptor.families:
            why += " (a model on this machine needs none)"
        return Health(state=HealthState.SIGN_IN, why=why, next=descriptor.sign_in_hint)
    return Health(state=HealthState.READY, why="", next=race_line(descriptor))


def _leaves_traces(descriptor: Descriptor) -> bool:
    """Whether a sign-in would have been seen: by its names and files, where it cannot be asked."""
    if any(probe.name == "sign_in" for probe in descriptor.probes):
        return False
    files = any(folder.credentials for folder in folders_of(descriptor))
    return bool(descriptor.sign_in_environment) or files

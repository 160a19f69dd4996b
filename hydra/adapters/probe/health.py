"""How an agent is here and now, in one word with one next step: what its probes said, and how the
last races of this machine ended. Pure; a judgement for people, which no race asks for."""

from __future__ import annotations

import calendar
import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from heapq import nlargest
from pathlib import Path

from hydra.adapters import detection
from hydra.adapters.config_dirs import folders_of
from hydra.adapters.contract import Descriptor
from hydra.adapters.registry import EXPERIMENTAL_FLAG
from hydra.errors import Failure
from hydra.paths import is_repository_key
from hydra.records.agent import DetectResult, SignIn, Tier


class HealthState(StrEnum):
    """What `hydra doctor` says of an agent."""

    READY = "ready"
    SIGN_IN = "sign-in needed"
    UNREACHABLE = "unreachable"
    LIMITED = "limited"
    NOT_FOUND = "not found"
    TOO_OLD = "too old"
    BROKEN = "broken"
    NOT_PROBED = "not probed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceIncident:
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

    state: HealthState
    why: str
    next: str
    until: float | None = None


def judge(
    descriptor: Descriptor,
    result: DetectResult | None,
    incident: ServiceIncident | None,
    now: float,
) -> Health:
    """An agent's health. `result` None: it was not probed."""
    if result is None:
        step = f"`hydra doctor {EXPERIMENTAL_FLAG}` looks for it"
        return Health(state=HealthState.NOT_PROBED, why="", next=step)
    if not result.ready:
        return _unready(descriptor, result)
    if (
        incident is not None
        and (health := _troubled(descriptor, result, incident, now)) is not None
    ):
        return health
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


def _troubled(
    descriptor: Descriptor, result: DetectResult, incident: ServiceIncident, now: float
) -> Health | None:
    """None: it is over, as far as anybody can say."""
    over = incident.until if incident.until is not None else incident.at + LASTS[incident.reason]
    if now >= over:
        return None
    when = f"the race of {_clock(incident.at)}"
    if incident.reason == "network":
        why = f"{when} could not reach its service"
        step = f"see that the network (or the proxy) works, then {race_line(descriptor)}"
        return Health(state=HealthState.UNREACHABLE, why=why, next=step)
    if incident.reason == "sign_in":
        if result.sign_in is SignIn.CONFIRMED:
            return None
        why = f"its service refused the sign-in in {when}"
        return Health(state=HealthState.SIGN_IN, why=why, next=descriptor.sign_in_hint)
    until = "" if incident.until is None else f", until {_clock(incident.until)}"
    why = f"{_LIMITS[incident.reason]} in {when}{until}"
    step = "race with another agent or model"
    if incident.until is not None:
        step = f"wait until {_clock(incident.until)}, or {step}"
    return Health(state=HealthState.LIMITED, why=why, next=step, until=incident.until)


_LIMITS = {
    "rate_limit": "its service limited the rate",
    "quota": "its quota was used up",
    "overloaded": "its service was overloaded",
}


def _clock(moment: float) -> str:
    """A time of day here."""
    return time.strftime("%H:%M", time.localtime(moment))


# ---- What the newest races of this machine, of any repository, say of each agent's service.

BACK = 6 * 3600.0
"""Seconds that are looked back."""
FILES = 12
"""Results that are read: the newest."""
BYTES = 1024 * 1024
"""One that is larger is not read."""

_RUN = re.compile(r"(\d{8}t\d{6})-[0-9a-z]{1,8}")
_WENT_WELL = ("completed", "no_changes")


def recent(state: Path | None, now: float | None = None) -> dict[str, ServiceIncident]:
    """The trouble of each agent whose newest telling race had one. Raises nothing.

    It lists each repository's runs by name and reads `FILES` files at most; what cannot be read is
    passed over. A race that an agent came through says that it has no trouble.
    """
    if state is None:
        return {}
    now = time.time() if now is None else now
    incidents: dict[str, ServiceIncident | None] = {}
    for began, path in nlargest(FILES, _runs(state, now - BACK)):
        document = _read(path)
        seconds = document.get("seconds")
        ended = began + (seconds if isinstance(seconds, int | float) else 0.0)
        for agent, incident in _of_run(document, min(ended, now)).items():
            incidents.setdefault(agent, incident)
    return {agent: incident for agent, incident in incidents.items() if incident is not None}


def _of_run(document: Mapping[str, object], ended: float) -> dict[str, ServiceIncident | None]:
    """Of each agent of one race that says something; one lane that went well is enough."""
    incidents: dict[str, ServiceIncident | None] = {}
    lanes = document.get("lanes")
    for lane in lanes if isinstance(lanes, list) else ():
        if not isinstance(lane, dict) or not isinstance(agent := lane.get("adapter"), str):
            continue
        if lane.get("status") in _WENT_WELL:
            incidents[agent] = None
        elif (incident := _trouble(lane, ended)) is not None:
            incidents.setdefault(agent, incident)
    return incidents


def _trouble(lane: Mapping[str, object], ended: float) -> ServiceIncident | None:
    error = lane.get("error")
    if not isinstance(error, dict) or lane.get("status") == "not_started":
        return None  # what was not started met no service
    reason = "sign_in" if error.get("kind") == "AuthMissing" else error.get("reason")
    if not isinstance(reason, str) or reason not in LASTS:
        return None
    numbers = error.get("numbers")
    after = numbers.get("retry_after") if isinstance(numbers, dict) else None
    limited = reason not in ("network", "sign_in")
    is_told = limited and isinstance(after, int | float) and 0 < after < 30 * 86400
    return ServiceIncident(
        reason=reason,
        at=ended,
        until=ended + float(after) if is_told and isinstance(after, int | float) else None,
        message=str(error.get("message", "")),
    )


def _runs(state: Path, since: float) -> list[tuple[float, Path]]:
    pairs = []
    for repository in filter(is_repository_key, _names(state)):
        runs = state / repository / "runs"
        for name in _names(runs):
            began = _began(name)
            if began is not None and began >= since:
                pairs.append((began, runs / name / "result.json"))
    return pairs


def _began(run: str) -> float | None:
    match = _RUN.fullmatch(run)
    try:
        return float(calendar.timegm(time.strptime(match[1], "%Y%m%dt%H%M%S"))) if match else None
    except ValueError:
        return None


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208  names are all that is wanted
    except OSError:
        return []


def _read(path: Path) -> Mapping[str, object]:
    try:
        with path.open("rb") as file:
            data = file.read(BYTES + 1)
        document = json.loads(data) if len(data) <= BYTES else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}

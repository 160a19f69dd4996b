"""What the newest races of this machine, of any repository, say of each agent's service."""

from __future__ import annotations

import calendar
import json
import os
import re
import time
from collections.abc import Mapping
from heapq import nlargest
from pathlib import Path

from hydra.health import LASTS, Trouble
from hydra.paths import is_repository_key

BACK = 6 * 3600.0
"""Seconds that are looked back."""
FILES = 12
"""Results that are read: the newest."""
BYTES = 1024 * 1024
"""One that is larger is not read."""

_RUN = re.compile(r"(\d{8}t\d{6})-[0-9a-z]{1,8}")
_WENT_WELL = ("completed", "no_changes")


def recent(state: Path | None, now: float | None = None) -> dict[str, Trouble]:
    """The trouble of each agent whose newest telling race had one. Raises nothing.

    It lists each repository's runs by name and reads `FILES` files at most; what cannot be read is
    passed over. A race that an agent came through says that it has no trouble.
    """
    if state is None:
        return {}
    now = time.time() if now is None else now
    told: dict[str, Trouble | None] = {}
    for began, path in nlargest(FILES, _runs(state, now - BACK)):
        document = _read(path)
        seconds = document.get("seconds")
        ended = began + (seconds if isinstance(seconds, int | float) else 0.0)
        for agent, trouble in _of_run(document, min(ended, now)).items():
            told.setdefault(agent, trouble)
    return {agent: trouble for agent, trouble in told.items() if trouble is not None}


def _of_run(document: Mapping[str, object], ended: float) -> dict[str, Trouble | None]:
    """Of each agent of one race that says something; one lane that went well is enough."""
    found: dict[str, Trouble | None] = {}
    lanes = document.get("lanes")
    for lane in lanes if isinstance(lanes, list) else ():
        if not isinstance(lane, dict) or not isinstance(agent := lane.get("adapter"), str):
            continue
        if lane.get("status") in _WENT_WELL:
            found[agent] = None
        elif (trouble := _trouble(lane, ended)) is not None:
            found.setdefault(agent, trouble)
    return found


def _trouble(lane: Mapping[str, object], ended: float) -> Trouble | None:
    error = lane.get("error")
    if not isinstance(error, dict) or lane.get("status") == "not_started":
        return None  # what was not started met no service
    reason = "sign_in" if error.get("kind") == "AuthMissing" else error.get("reason")
    if not isinstance(reason, str) or reason not in LASTS:
        return None
    numbers = error.get("numbers")
    after = numbers.get("retry_after") if isinstance(numbers, dict) else None
    limited = reason not in ("network", "sign_in")
    told = limited and isinstance(after, int | float) and 0 < after < 30 * 86400
    return Trouble(
        reason=reason,
        at=ended,
        until=ended + float(after) if told and isinstance(after, int | float) else None,
        message=str(error.get("message", "")),
    )


def _runs(state: Path, since: float) -> list[tuple[float, Path]]:
    found = []
    for repository in filter(is_repository_key, _names(state)):
        runs = state / repository / "runs"
        for name in _names(runs):
            began = _began(name)
            if began is not None and began >= since:
                found.append((began, runs / name / "result.json"))
    return found


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

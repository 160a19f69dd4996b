"""The documents that `--json` prints (docs/reference/json.md has every field).

Every field is always there; what is unknown is null. No value of an environment variable enters
them, only names. The run's `result.json` is the same document, and `summary` reads it back.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from hydra.errors import (
    EXIT_INTERRUPTED,
    EXIT_NO_USABLE_LANE,
    EXIT_OK,
    EXIT_TERMINATED,
    AgentError,
    Failure,
    HydraError,
)
from hydra.process.sandbox.view import View
from hydra.records.codec import SCHEMA, as_json
from hydra.records.outcome import RaceResult
from hydra.records.plan import LANE_HEAD, RACE_HEAD, RacePlan

Document = dict[str, object]


def exit_code(result: RaceResult) -> int:
    """What `hydra race` exits with: 130 or 143 when interrupted; 0 where a lane is proved, or
    where no check was asked for and the race's only lane is usable; else 1."""
    if result.interrupted:
        by_hand = result.interrupted == signal.SIGINT
        return EXIT_INTERRUPTED if by_hand else EXIT_TERMINATED
    if result.verdict is not None:
        return EXIT_OK if result.verdict.get("exit_code") == EXIT_OK else EXIT_NO_USABLE_LANE
    checked = result.baseline or any(outcome.checks for outcome in result.outcomes)
    alone = not checked and len(result.outcomes) == 1
    return EXIT_OK if result.usable and alone else EXIT_NO_USABLE_LANE


def result_document(plan: RacePlan, result: RaceResult) -> Document:
    """One race, ended. Lanes stand in the order of the plan."""
    document = plan.document()
    lanes = {lane["lane"]: lane for lane in document["lanes"]}
    return {
        **{name: document[name] for name in RACE_HEAD},
        "kind": "result",
        "baseline": list(result.baseline),
        "lanes": [
            {**{name: lanes[outcome.lane][name] for name in LANE_HEAD}, **outcome.document()}
            for outcome in result.outcomes
        ],
        "verdict": result.verdict,
        "usable": result.usable,
        "exit_code": exit_code(result),
        "interrupted": _signal_name(result.interrupted),
        "seconds": round(result.seconds, 3),
        "folder": None if result.folder is None else str(result.folder),
        "warnings": [*plan.warnings, *(w for w in result.warnings if w not in plan.warnings)],
    }


def plan_document(plan: RacePlan, view: View | None = None) -> Document:
    """A race as it would run (`--dry-run --json`); `view` is what its lanes see, if confined."""
    if view is None:
        return plan.document()
    seen = {"shown": len(view.shown), "show": view.show, "stripped": view.stripped}
    return replace(plan, view=seen).document()


def nulled(value: Any) -> Any:
    """JSON without a text that is empty, which is null, and with seconds to the thousandth."""
    if isinstance(value, dict):
        return {name: nulled(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [nulled(item) for item in value]
    return round(value, 3) if isinstance(value, float) else None if value == "" else value


def error_document(error: HydraError) -> Document:
    """Why nothing was done. `error` has a lane's failure's fields, empty where they do not fit;
    `agents` has them for each agent that stands in the way."""
    return {
        "schema": SCHEMA,
        "kind": "error",
        "error": as_json(_failure_of(error)),
        "agents": as_json(error.failures),
        "exit_code": error.exit_code,
    }


def _failure_of(error: HydraError) -> Failure:
    """The error as a failure; where one agent alone is the reason, with that agent's fields."""
    if isinstance(error, AgentError):
        return error.failure
    only = error.failures[0] if len(error.failures) == 1 else Failure(kind="", message="")
    return replace(only, kind=type(error).__name__, message=error.message, hint=error.hint)


def _signal_name(number: int) -> str | None:
    if not number:
        return None
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


# ---- Reading what others wrote: data of any shape in, a value of the type wanted out, or nothing.
#
# An event's data may come from a damaged record or a hostile agent; a reporter must show what it
# can and never fail.

Data = Mapping[str, object]


def text(data: Data, name: str, default: str = "") -> str:
    """`data[name]` where it is text."""
    value = data.get(name)
    return value if isinstance(value, str) else default


def number(data: Data, name: str) -> float | None:
    """`data[name]` where it is a finite number; a truth value is none."""
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:
        return None


def record(data: Data, name: str) -> Data:
    """`data[name]` where it is an object, else an empty one."""
    value = data.get(name)
    return value if isinstance(value, Mapping) else {}


def records(data: Data, name: str) -> list[Data]:
    """The objects in the list `data[name]`."""
    value = data.get(name)
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def strings(data: Data, name: str) -> list[str]:
    """The texts in the list `data[name]`."""
    value = data.get(name)
    if not isinstance(value, list | tuple):
        return []
    return [name for name in value if isinstance(name, str)]

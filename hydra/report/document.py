"""The documents that `--json` prints (docs/reference/json.md has every field).

Every field is always there; what is unknown is null. No value of an environment variable enters
them, only names. The run's `result.json` is the same document, and `summary` reads it back.
"""

from __future__ import annotations

import json
import math
import signal
from collections.abc import Mapping

from msgspec.structs import asdict, replace

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
from hydra.records.agent import BuiltCommand, Origin
from hydra.records.outcome import ExitStatus, Outcome, Patch, RaceResult, Usage
from hydra.records.plan import Confinement, LanePlan, RacePlan, Rates, RemotePlace
from hydra.redaction import redacted

SCHEMA = 1
"""Version of these documents. A field may be added under it; none changes its meaning or goes."""

Document = dict[str, object]


def dump(document: Mapping[str, object]) -> str:
    """The document as indented ASCII JSON with a last newline: safe to show on a terminal."""
    return json.dumps(redacted(document), indent=2, ensure_ascii=True, allow_nan=False) + "\n"


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
    planned = {lane.lane.id: lane for lane in plan.lanes}
    return {
        "schema": SCHEMA,
        "kind": "result",
        **_race(plan),
        "baseline": list(result.baseline),
        "lanes": [_result_lane(planned[outcome.lane], outcome) for outcome in result.outcomes],
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
    return {
        "schema": SCHEMA,
        "kind": "plan",
        **_race(plan),
        "promises": list(plan.confinement.promises),
        "view": None if view is None else _view(view),
        "lanes": [_planned_lane(lane) for lane in plan.lanes],
        "max_parallel": plan.max_parallel,
        "limits": asdict(plan.limits),
        "copies": list(plan.copies),
        "dependencies": list(plan.dependencies),
        "python_path": list(plan.python_path),
        "setup": list(plan.setup),
        "checks": _checks(plan),
        "keep": plan.keep,
        "retry": {**asdict(plan.retry), "on": list(plan.retry.on)},
        "warnings": list(plan.warnings),
    }


def _view(view: View) -> Document:
    return {
        "shown": len(view.shown),
        "show": list(map(str, view.show)),
        "stripped": list(map(str, view.stripped)),
    }


def error_document(error: HydraError) -> Document:
    """Why nothing was done. `error` has a lane's failure's fields, empty where they do not fit;
    `agents` has them for each agent that stands in the way."""
    return {
        "schema": SCHEMA,
        "kind": "error",
        "error": _failure(_failure_of(error)),
        "agents": [_failure(failure) for failure in error.failures],
        "exit_code": error.exit_code,
    }


def _failure_of(error: HydraError) -> Failure:
    """The error as a failure; where one agent alone is the reason, with that agent's fields."""
    if isinstance(error, AgentError):
        return error.failure
    only = error.failures[0] if len(error.failures) == 1 else Failure(kind="", message="")
    return replace(only, kind=type(error).__name__, message=error.message, hint=error.hint)


def _checks(plan: RacePlan) -> Document:
    return {
        "commands": [check._asdict() for check in plan.checks],
        "parallel": plan.checks_parallel,
        "tree": "clean",
        "network": plan.checks_network,
        "on_host": list(plan.checks_on_host),
        "trials": plan.trials._asdict(),
    }


def _race(plan: RacePlan) -> Document:
    return {
        "run": plan.run,
        "repository": str(plan.task.repository),
        "base": plan.task.base,
        "base_name": plan.task.base_name,
        "title": plan.task.title,
        "confinement": _confinement(plan.confinement),
        "permission": plan.permission.value,
        "network": plan.network,
        "left_out": [_failure(failure) for failure in plan.left_out],
    }


def _confinement(confinement: Confinement) -> Document:
    return {"kind": confinement.kind, "program": confinement.program, "reason": confinement.reason}


def _lane(plan: LanePlan) -> Document:
    return {
        "lane": plan.lane.id,
        "adapter": plan.lane.adapter,
        "label": plan.label,
        "model": plan.lane.model,
        "effort": plan.lane.effort,
        "profile": plan.lane.profile or None,
        "version": plan.version,
        "tier": plan.tier.value,
        "third_party": plan.third_party is not None,
        "origin": origin_document(plan.third_party),
        "sandbox": "soft" if plan.soft_sandbox else "hard",
        "permission": plan.permission.value,
        "worktree": str(plan.worktree),
        "remote": remote_document(plan.remote),
    }


def remote_document(place: RemotePlace | None) -> Document | None:
    """Where a lane's agent runs; None for this machine."""
    return None if place is None else place._asdict()


def origin_document(origin: Origin | None) -> Document | None:
    """Where a third party's adapter comes from; None for one of Hydra's own."""
    if origin is None:
        return None
    return {
        "adapter": origin.spec,
        "distribution": origin.distribution or None,
        "version": origin.version or None,
    }


def _planned_lane(plan: LanePlan) -> Document:
    return {
        **_lane(plan),
        "budget": asdict(plan.budget),
        "command": None if plan.command is None else _command(plan.command),
        "rates": None if plan.rates is None else plan.rates._asdict(),
        "environment_passed": sorted(plan.env_names),
        "error": None if plan.failure is None else _failure(plan.failure),
        "warnings": list(plan.warnings),
    }


def _command(command: BuiltCommand) -> Document:
    return {
        "argv": list(command.argv),
        "cwd": str(command.cwd),
        "stdin": command.stdin is not None,
        "files": [str(path) for path, _ in command.files],
        "environment_set": sorted(name for name, _ in command.env),
        "dropped": list(command.dropped),
        "warnings": list(command.warnings),
    }


def _result_lane(plan: LanePlan, outcome: Outcome) -> Document:
    return {
        **_lane(plan),
        "attempt": outcome.attempt,
        "attempts": [_attempt(plan, attempt) for attempt in _attempts(outcome)],
        "status": outcome.status.value,
        "usable": outcome.usable,
        "held_back": list(outcome.held_back),
        "checks": list(outcome.checks),
        "error": None if outcome.failure is None else _failure(outcome.failure),
        "patch": None if outcome.patch is None else _patch(outcome.patch),
        **_usage(plan.rates, outcome.usage),
        "seconds": round(outcome.seconds, 3),
        "session": outcome.session,
        "message": outcome.message,
        "plan": outcome.plan or None,
        "exit": None if outcome.exit is None else _exit(outcome.exit),
        "warnings": list(outcome.warnings),
    }


def _attempts(outcome: Outcome) -> list[Outcome]:
    return sorted((*outcome.others, outcome), key=lambda outcome: outcome.attempt)


def _attempt(plan: LanePlan, outcome: Outcome) -> Document:
    return {
        "attempt": outcome.attempt,
        "status": outcome.status.value,
        "error": None if outcome.failure is None else _failure(outcome.failure),
        "commit": None if outcome.patch is None else outcome.patch.commit,
        **_usage(plan.rates, outcome.usage),
        "seconds": round(outcome.seconds, 3),
    }


def _usage(rates: Rates | None, usage: Usage) -> Document:
    """What its agent told, and beside it what Hydra reckons where it told no cost."""
    numbers = {name: _without_unknown(value) for name, value in asdict(usage).items()}
    if rates is None:
        return {"usage": numbers, "usage_estimate": None}
    from hydra.adapters.models.catalog import estimate  # not before: most races name no model

    reckoned = estimate(rates, Usage(**numbers))  # type: ignore[arg-type]
    return {"usage": numbers, "usage_estimate": reckoned and reckoned._asdict()}


def _failure(failure: Failure) -> Document:
    numbers = {name: _without_unknown(value) for name, value in failure.numbers.items()}
    return {**failure.as_dict(), "numbers": numbers}


def _without_unknown(value: float | None) -> float | None:
    # An agent may say NaN; JSON cannot, and a record that cannot be written helps nobody.
    return value if value is not None and math.isfinite(value) else None


def _patch(patch: Patch) -> Document:
    remarks = [asdict(remark) for remark in patch.remarks]
    document = {**asdict(patch), "notes": list(patch.notes), "remarks": remarks}
    return {**document, "empty": patch.empty}


def _exit(status: ExitStatus) -> Document:
    return {**status._asdict(), "survivors": list(status.survivors)}


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

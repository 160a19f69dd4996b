"""The documents that `--json` prints (docs/reference/json.md has every field).

Every field is always there; what is unknown is null. No value of an environment variable enters
them, only names.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from hydra.errors import AgentError, Failure, HydraError
from hydra.process.sandbox.view import View
from hydra.records.agent import DetectResult
from hydra.records.codec import SCHEMA, as_json
from hydra.records.plan import RacePlan
from hydra.report import listing
from hydra.report.listing import AgentRow


def agent_document(row: AgentRow) -> Document:
    """Every field always there; `found` is null where the agent was not probed, `proved` where no
    version of it was tried live."""
    descriptor, result, proof, health = row.descriptor, row.detection, row.proof, row.health
    return {
        "key": descriptor.key,
        "label": descriptor.label,
        "homepage": descriptor.homepage,
        "tier": descriptor.tier.value,
        "third_party": descriptor.third_party is not None,
        "origin": as_json(descriptor.third_party),
        "sandbox": descriptor.sandbox,
        "programs": [*descriptor.binaries, *descriptor.generic_binaries],
        "protocol": descriptor.protocol,
        "stream_format": descriptor.stream_format,
        "minimum_version": descriptor.minimum_version or None,
        "exit_codes": {str(code): what for code, what in descriptor.exit_codes.items()},
        "install": descriptor.install_hint,
        "sign_in": descriptor.sign_in_hint,
        **listing.document(descriptor),
        "capabilities": nulled(as_json(descriptor.capabilities)),
        "found": None if result is None else _detection(result),
        "health": health.state.value,
        "why": health.why or None,
        "next": health.next,
        "proved": None if proof is None else dict(proof),
    }


def _detection(result: DetectResult) -> Document:
    return {
        "ready": result.ready,
        "program": str(result.binary) if result.binary else None,
        "version": result.version or None,
        "signed_in": result.sign_in.value,
        "signed_in_detail": result.sign_in_detail or None,
        "capabilities": nulled(as_json(result.capabilities)),
        "warnings": list(result.warnings),
        "error": as_json(result.error),
    }


Document = dict[str, object]


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

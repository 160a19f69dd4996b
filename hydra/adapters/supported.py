"""What an agent's CLI has no way to do is refused by name: once for every adapter, by its
descriptor, before its line is built."""

from __future__ import annotations

from hydra.adapters.contract import Descriptor
from hydra.errors import UnsupportedFlag
from hydra.records.agent import SpawnRequest
from hydra.records.request import Permission


def check_supported(
    descriptor: Descriptor, request: SpawnRequest, *, effort_at: str = "", tier_at: str = ""
) -> None:
    """Raises `UnsupportedFlag` for what this agent's CLI has no way to do. `effort_at` and
    `tier_at` say where the user wrote those two: the hint names it."""
    label, key = descriptor.label, descriptor.key
    if request.effort is not None and request.effort not in descriptor.efforts:
        text = ", ".join(descriptor.efforts)
        raise _refused(
            descriptor,
            f"{label} has no option for effort {request.effort}"
            + (f" (it has {text})" if text else ": how hard it thinks cannot be asked for"),
            _without("effort", effort_at or f"@{request.effort} (or --effort)", key),
        )
    if descriptor.modes and request.permission not in descriptor.modes:
        # Unrestricted is a flag of its own, for all lanes: none of what --permission takes.
        text = ", ".join(mode for mode in descriptor.modes if mode != Permission.UNRESTRICTED)
        raise _refused(
            descriptor,
            f"{label} has nothing like permission {request.permission} (it has {text})",
            f"race {key} with one of those",
        )
    if request.service_tier and request.service_tier not in descriptor.service_tiers:
        text = ", ".join(descriptor.service_tiers) or "none"
        raise _refused(
            descriptor,
            f"{label} has no service tier {request.service_tier!r} (it has {text})",
            _without("service_tier", tier_at or f"[agents.{key}], or of the profile", key),
        )
    if request.network is False and not descriptor.network_switch:
        raise _refused(
            descriptor,
            f"{label} has no switch that keeps its tools off the network",
            "race it without --no-network, or race codex alone",
        )
    if request.resume and not descriptor.capabilities.session_resume.present:
        raise _refused(descriptor, f"{label} cannot go on with a session", "begin a new one")
    if request.fork and not descriptor.forks:
        raise _refused(
            descriptor,
            f"{label} cannot go on with a copy of a session",
            "go on with the session itself",
        )


def _without(term: str, where: str, key: str) -> str:
    return f"take {term} out of {where}" if where[0] == "[" else f"leave {where} out for {key}"


def _refused(descriptor: Descriptor, message: str, hint: str) -> UnsupportedFlag:
    return UnsupportedFlag(message, adapter=descriptor.key, hint=hint, reason="capability")

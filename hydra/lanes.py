"""Which lanes race: those that were asked for, else one of every agent that is on by itself; and
which agents may, because they are proved or were let in. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from hydra.adapters.contract import Adapter
from hydra.errors import NoAgentReady, UsageError
from hydra.model import DetectResult, Lane, Tier

EXPERIMENTAL_FLAG = "--allow-experimental-adapters"


def choose_lanes(
    asked: tuple[Lane, ...], found: Mapping[str, DetectResult], adapters: Mapping[str, Adapter]
) -> tuple[Lane, ...]:
    """The lanes asked for, or one of every ready Tier-1 agent. Raises `NoAgentReady`."""
    if asked:
        return asked
    ready = tuple(
        Lane(id=key, adapter=key)
        for key in found
        if found[key].ready and adapters[key].descriptor.tier is Tier.TIER1
    )
    if ready:
        return ready
    reasons = "; ".join(
        f"{key}: {result.error.message}" for key, result in found.items() if result.error
    )
    raise NoAgentReady(
        f"no agent is ready ({reasons or 'none was probed'})",
        hint="`hydra doctor` says what each one needs; `hydra demo` works without any",
    )


def check_experimental(
    lanes: tuple[Lane, ...], adapters: Mapping[str, Adapter], allowed: bool, to: str = "race"
) -> None:
    """Raises `UsageError` where a lane's adapter is one that Hydra does not run, or is experimental
    and that was not allowed. `to` is what they are wanted for, as the hint says it."""
    for lane in lanes:
        told = adapters[lane.adapter].descriptor
        if told.unrunnable:
            raise UsageError(
                f"Hydra does not run {lane.adapter}: {told.unrunnable}",
                hint=f"{to} another agent: `hydra agents` lists them",
            )
        if told.tier is Tier.EXPERIMENTAL and not allowed:
            raise UsageError(
                f"{lane.adapter} is an experimental adapter",
                hint=f"add {EXPERIMENTAL_FLAG} to {to} it all the same",
            )

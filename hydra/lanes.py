"""Which lanes race: those that were asked for, else one of every agent that is on by itself; and
which agents may, because they are proved or were let in. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from hydra.adapters.contract import Adapter
from hydra.errors import NOT_INSTALLED, Failure, NoAgentReady, UsageError
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
    raise NoAgentReady(
        f"no agent is ready ({_reasons(found)})",
        hint="`hydra doctor` says what each one needs; `hydra demo` works without any",
        failures=tuple(result.error for result in found.values() if result.error),
    )


def _reasons(found: Mapping[str, DetectResult]) -> str:
    errors = {key: result.error for key, result in found.items() if result.error}
    if errors and all(error.reason == NOT_INSTALLED for error in errors.values()):
        return f"not installed: {', '.join(errors)}"
    told = "; ".join(f"{key}: {error.message}" for key, error in errors.items())
    return told or "none was probed"


def left_out(results: Mapping[str, DetectResult]) -> tuple[Failure, ...]:
    """Why an agent is in no race that names none: of each that is installed and cannot start.

    One that is not installed is nobody's loss; one whose path the settings name is to be there.
    """
    errors = (result.error for result in results.values())
    return tuple(error for error in errors if error is not None and error.reason != NOT_INSTALLED)


def left_out_warning(failure: Failure) -> str:
    """One line, with the next step."""
    step = f"; next: {failure.hint}" if failure.hint else ""
    return f"{failure.adapter} is left out of this race ({failure.message}){step}"


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
                f"{lane.adapter} is experimental",
                hint=f"add {EXPERIMENTAL_FLAG} to {to} it all the same",
            )

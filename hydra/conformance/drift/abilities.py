"""What Hydra can do with a CLI, going by its answers to the probes: found by asking the adapter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hydra.adapters.contract import Adapter
from hydra.conformance.contract.requests import PERMISSIONS, SESSION
from hydra.errors import AgentError
from hydra.model import (
    Budget,
    BuiltCommand,
    DetectResult,
    Effort,
    ProbeOutput,
    SignIn,
    SpawnRequest,
)
from hydra.wanted import check_mapped

_WORKTREE = Path("/lane/shop")
_ASKED: Mapping[str, Mapping[str, object]] = {
    **{f"--permission {mode.value}": {"permission": mode} for mode in PERMISSIONS},
    "a model": {"model": "a-model"},
    "--network": {"network": True},
    "--no-network": {"network": False},
    "instructions of the repository": {"instructions": ("AGENTS.md",)},
    "no confinement": {"confined": False},
    "an effort": {"effort": Effort.HIGH},
    "a budget": {"budget": Budget(turns=9, cost_usd=1.0, seconds=60.0, tool_calls=9)},
    "a copy of a session": {"resume": SESSION, "fork": True},
}

Probes = Mapping[str, ProbeOutput]
Able = dict[str, str]
"""A thing that Hydra does with a CLI to what there is to say of it, "" where it simply can."""


def fewer(adapter: Adapter, was: Probes, now: Probes) -> list[str]:
    """What these answers take away, compared with those: refused first, then each loss once."""
    before, after = able(adapter, was), able(adapter, now)
    if before["detect"] != after["detect"]:
        return [after["detect"]] if after["detect"] else []
    said = (text for thing, text in after.items() if text != before.get(thing, ""))
    return list(dict.fromkeys(text for text in said if text))


def able(adapter: Adapter, probes: Probes) -> Able:
    """Whether it can race, each line that it would build, and each capability."""
    found = detect(adapter, probes)
    held: Able = {"detect": f"refused: {found.error.message}" if found.error else ""}
    for about, asked in _ASKED.items():
        held.update(_line(adapter, found, about, asked))
    for name, capability in found.capabilities.items():
        held[f"capability {name}"] = "" if capability.present else f"{name} is lost"
    return held


def words(adapter: Adapter, probes: Probes) -> set[str]:
    """Every word of its probes and of the lines that it would build."""
    found = detect(adapter, probes)
    used = {word for probe in adapter.descriptor.probes for word in probe.args}
    for asked in _ASKED.values():
        try:
            used.update(_built(adapter, _request(asked), found).args)
        except AgentError:
            continue
    return used


def detect(adapter: Adapter, probes: Probes) -> DetectResult:
    """As a signed-in user meets it: how it is signed in here has nothing to do with its version."""
    asked = {name: probe for name, probe in probes.items() if name != "sign_in"}
    binary = f"/opt/agents/{adapter.descriptor.binaries[0]}"
    found = adapter.detect(binary, asked)
    return replace(found, binary=Path(binary), sign_in=SignIn.CONFIRMED)


def _line(adapter: Adapter, found: DetectResult, about: str, asked: Mapping[str, object]) -> Able:
    try:
        built = _built(adapter, _request(asked), found)
    except AgentError as error:
        return {f"line: {about}": f"{about} is refused: {error.failure.message}"}
    told = {f"line: {about}": ""}
    for name in built.dropped:
        told[f"left out: {name}"] = f"{name} is left out of its line"
    for warning in built.warnings:
        told[f"warning: {warning}"] = warning
    return told


def _built(adapter: Adapter, request: SpawnRequest, found: DetectResult) -> BuiltCommand:
    check_mapped(adapter.descriptor, request)  # as a plan does
    return adapter.build_command(request, found)


def _request(asked: Mapping[str, object]) -> SpawnRequest:
    return SpawnRequest(prompt="task", worktree=_WORKTREE, **asked)  # type: ignore[arg-type]

"""What Hydra can do with a CLI, going by its answers to the probes: found by asking the adapter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hydra.adapters.contract import Adapter
from hydra.adapters.supported import check_supported
from hydra.conformance.contract.requests import PERMISSIONS, SESSION
from hydra.errors import AgentError
from hydra.records.agent import BuiltCommand, DetectResult, ProbeOutput, SignIn, SpawnRequest
from hydra.records.request import Budget, Effort

_WORKTREE = Path("/lane/shop")
_REQUESTS: Mapping[str, Mapping[str, object]] = {
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
    lines = (text for thing, text in after.items() if text != before.get(thing, ""))
    return list(dict.fromkeys(text for text in lines if text))


def able(adapter: Adapter, probes: Probes) -> Able:
    """Whether it can race, each line that it would build, and each capability."""
    result = detect(adapter, probes)
    values: Able = {"detect": f"refused: {result.error.message}" if result.error else ""}
    for about, document in _REQUESTS.items():
        values.update(_line(adapter, result, about, document))
    for name, capability in result.capabilities.items():
        values[f"capability {name}"] = "" if capability.present else f"{name} is lost"
    return values


def ability_words(adapter: Adapter, probes: Probes) -> set[str]:
    """Every word of its probes and of the lines that it would build."""
    result = detect(adapter, probes)
    used = {arg for probe in adapter.descriptor.probes for arg in probe.args}
    for document in _REQUESTS.values():
        try:
            used.update(_built(adapter, _request(document), result).args)
        except AgentError:
            continue
    return used


def detect(adapter: Adapter, probes: Probes) -> DetectResult:
    """As a signed-in user meets it: how it is signed in here has nothing to do with its version."""
    outputs = {name: probe for name, probe in probes.items() if name != "sign_in"}
    binary = f"/opt/agents/{adapter.descriptor.binaries[0]}"
    result = adapter.detect(binary, outputs)
    return replace(result, binary=Path(binary), sign_in=SignIn.CONFIRMED)


def _line(
    adapter: Adapter, result: DetectResult, about: str, document: Mapping[str, object]
) -> Able:
    try:
        built = _built(adapter, _request(document), result)
    except AgentError as error:
        return {f"line: {about}": f"{about} is refused: {error.failure.message}"}
    values = {f"line: {about}": ""}
    for name in built.dropped:
        values[f"left out: {name}"] = f"{name} is left out of its line"
    for warning in built.warnings:
        values[f"warning: {warning}"] = warning
    return values


def _built(adapter: Adapter, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
    check_supported(adapter.descriptor, request)  # as a plan does
    return adapter.build_command(request, result)


def _request(document: Mapping[str, object]) -> SpawnRequest:
    return SpawnRequest(prompt="task", worktree=_WORKTREE, **document)  # type: ignore[arg-type]

"""What is decided before anything runs: permissions, environments, lanes that cannot start."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from hydra.adapters.contract import Adapter, ConfigFolder, Descriptor, Parser
from hydra.config.schema import Config, RaceSettings
from hydra.errors import UnsupportedFlag
from hydra.race.lane_plan import PlanInputs
from hydra.race.plan import make, title
from hydra.records.agent import (
    BuiltCommand,
    CapabilitySet,
    DetectResult,
    ProbeOutput,
    SpawnRequest,
    Tier,
)
from hydra.records.plan import Confinement
from hydra.records.request import Lane, Permission

HELD = Confinement(kind="bwrap", program="/usr/bin/bwrap")
BARE = Confinement(kind="none", reason="bwrap is not installed")


class Toy:
    """An adapter that says back what it was asked for."""

    def __init__(self, key: str, *, tier: Tier = Tier.TIER1, own: bool = False) -> None:
        self.descriptor = Descriptor(
            key=key,
            label=key.title(),
            homepage="",
            tier=tier,
            binaries=(key,),
            confines_itself=own,
            environment=(f"{key.upper()}_KEY", f"{key.upper()}_X_*"),
            config=ConfigFolder(variable=f"{key.upper()}_HOME", default=f".{key}"),
        )
        self.gone = ""

    def key(self) -> str:
        return self.descriptor.key

    def detect(self, binary: str, probes: Mapping[str, ProbeOutput]) -> DetectResult:
        raise NotImplementedError

    def capabilities(self, flags: frozenset[str]) -> CapabilitySet:
        return CapabilitySet()

    def build_command(self, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
        if self.gone:
            raise UnsupportedFlag(f"{self.gone} is gone", adapter=self.key())
        return BuiltCommand(
            program=str(result.binary),
            args=(request.permission.value, *request.extra_args),
            cwd=request.worktree,
            stdin=request.prompt.encode(),
        )

    def parser(self) -> Parser:
        raise NotImplementedError


def found(key: str) -> DetectResult:
    return DetectResult(adapter=key, binary=Path("/bin") / key, version="1.2.3")


def known(
    *adapters: Toy,
    confinement: Confinement = HELD,
    race: RaceSettings | None = None,
    prompt: str = "do it",
) -> PlanInputs:
    table: dict[str, Adapter] = {adapter.key(): adapter for adapter in adapters}
    return PlanInputs(
        run="20260101t000000-abc",
        state=Path("/state"),
        prompt=prompt,
        repository=Path("/home/ada/shop"),
        base="b" * 40,
        lanes=tuple(Lane(id=key, adapter=key) for key in table),
        config=Config(race=race or RaceSettings()),
        adapters=table,
        detections={key: found(key) for key in table},
        confinement=confinement,
        environment_names=("PATH", "LC_ALL", "TOY_KEY", "TOY_X_Y", "RIVAL_KEY", "SSH_AUTH_SOCK"),
        instructions={},
        as_root=False,
    )


def test_an_agent_with_a_sandbox_of_its_own_keeps_full_auto() -> None:
    plan = make(known(Toy("toy", own=True), confinement=BARE))
    assert plan.lanes[0].permission is Permission.FULL_AUTO


@pytest.mark.parametrize(
    ("value", "warned"), [('{"share": "disabled"}', True), ("1", False), ("/some/place", False)]
)
def test_a_variable_of_the_user_that_is_replaced_is_named_once(value: str, warned: bool) -> None:
    class Setting(Toy):
        def build_command(self, request: SpawnRequest, result: DetectResult) -> BuiltCommand:
            return replace(super().build_command(request, result), env=(("TOY_X_Y", value),))

    inputs = known(Setting("toy"))
    lanes = (*inputs.lanes, Lane(id="toy-2", adapter="toy"))
    warnings = make(replace(inputs, lanes=lanes)).warnings
    assert warnings == (("your TOY_X_Y is not used: Hydra sets it for Toy",) if warned else ())


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("---\n# Add  retries\n\nAll calls should ...", "Add retries"),
        ("```python\nx = 1\n```\n- Mend `f`", "x = 1"),
        ("- ", "-"),
        ("word " * 40, "word " * 11 + "..."),
        ("x" * 200_000, "x" * 56 + " ..."),
        ("*" * 200_000, "*" * 56 + " ..."),
    ],
)
def test_a_title_is_the_task_s_first_line(prompt: str, text: str) -> None:
    assert title(prompt) == text

"""An agent's health, by its probes, and one next step for each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hydra.adapters import registry
from hydra.adapters.probe.health import HealthState, judge
from hydra.adapters.registry import EXPERIMENTAL_FLAG
from hydra.commands.race import command
from hydra.errors import Failure
from hydra.records.agent import DetectResult, SignIn

GEMINI = registry.OWN["gemini"].descriptor
CLAUDE = registry.OWN["claude"].descriptor
READY = DetectResult(
    adapter="gemini", binary=Path("/bin/gemini"), version="99.0", sign_in=SignIn.SEEMS_SO
)


def failed(kind: str, hint: str = "do it", **document: Any) -> DetectResult:
    return replace(READY, error=Failure(kind=kind, message="it is so", hint=hint), **document)


def test_the_flag_is_the_one_of_a_race() -> None:
    assert EXPERIMENTAL_FLAG in [name for param in command.params for name in param.opts]


@pytest.mark.parametrize(
    ("result", "state", "step"),
    [
        (None, HealthState.NOT_PROBED, "`hydra doctor --allow-experimental-adapters` looks for it"),
        (
            READY,
            HealthState.READY,
            'hydra race "your task" -a gemini --allow-experimental-adapters',
        ),
        (replace(READY, sign_in=SignIn.UNKNOWN), HealthState.SIGN_IN, GEMINI.sign_in_hint),
        (failed("AuthMissing"), HealthState.SIGN_IN, GEMINI.sign_in_hint),
        (failed("BinaryMissing"), HealthState.NOT_FOUND, "do it"),
        (failed("BinaryMissing", hint=""), HealthState.NOT_FOUND, GEMINI.install_hint),
        (failed("SpawnFailed"), HealthState.BROKEN, "do it"),
        (failed("UnsupportedFlag"), HealthState.BROKEN, "do it"),
        (failed("UnsupportedVersion", version="0.0.1"), HealthState.TOO_OLD, "do it"),
        (failed("UnsupportedFlag", version="0.0.1"), HealthState.TOO_OLD, "do it"),
        (failed("SpawnFailed", hint=""), HealthState.BROKEN, GEMINI.install_hint),
    ],
)
def test_by_its_probes(result: DetectResult | None, state: HealthState, step: str) -> None:
    item = judge(GEMINI, result)
    assert (item.state, item.next) == (state, step)


@pytest.mark.parametrize("key", registry.OWN)
@pytest.mark.parametrize("result", [None, READY, failed("SpawnFailed", hint="")])
def test_everybody_has_one_next_step(key: str, result: DetectResult | None) -> None:
    descriptor = registry.OWN[key].descriptor
    item = judge(descriptor, result)
    assert item.next.strip()
    assert "\n" not in item.next


def test_a_cli_that_is_asked_needs_no_traces() -> None:
    """`claude auth status` gave no answer: nothing is known, and nothing is claimed."""
    assert judge(CLAUDE, replace(READY, sign_in=SignIn.UNKNOWN)).state is HealthState.READY

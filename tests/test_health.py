"""An agent's health: by its probes, by what the last races said, and one next step for each."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hydra.adapters import registry
from hydra.adapters.probe import health
from hydra.adapters.probe.health import HealthState, ServiceIncident, judge
from hydra.adapters.registry import EXPERIMENTAL_FLAG
from hydra.cli.race import command
from hydra.errors import Failure
from hydra.records.agent import DetectResult, SignIn

NOW = 1_800_000_000.0
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
    item = judge(GEMINI, result, None, NOW)
    assert (item.state, item.next) == (state, step)


@pytest.mark.parametrize("key", registry.OWN)
@pytest.mark.parametrize("result", [None, READY, failed("SpawnFailed", hint="")])
def test_everybody_has_one_next_step(key: str, result: DetectResult | None) -> None:
    descriptor = registry.OWN[key].descriptor
    item = judge(descriptor, result, None, NOW)
    assert item.next.strip()
    assert "\n" not in item.next


def test_a_cli_that_is_asked_needs_no_traces() -> None:
    """`claude auth status` gave no answer: nothing is known, and nothing is claimed."""
    assert (
        judge(CLAUDE, replace(READY, sign_in=SignIn.UNKNOWN), None, NOW).state is HealthState.READY
    )


@pytest.mark.parametrize(
    ("trouble", "after", "state"),
    [
        (ServiceIncident(reason="network", at=NOW), 3599, HealthState.UNREACHABLE),
        (ServiceIncident(reason="network", at=NOW), 3600, HealthState.READY),
        (ServiceIncident(reason="rate_limit", at=NOW), 60, HealthState.LIMITED),
        (ServiceIncident(reason="rate_limit", at=NOW, until=NOW + 60), 59, HealthState.LIMITED),
        (ServiceIncident(reason="rate_limit", at=NOW, until=NOW + 60), 60, HealthState.READY),
        (ServiceIncident(reason="quota", at=NOW), 5 * 3600, HealthState.LIMITED),
        (ServiceIncident(reason="overloaded", at=NOW), 60, HealthState.LIMITED),
        (ServiceIncident(reason="sign_in", at=NOW), 60, HealthState.SIGN_IN),
    ],
)
def test_by_the_last_race(trouble: ServiceIncident, after: float, state: HealthState) -> None:
    item = judge(GEMINI, READY, trouble, NOW + after)
    assert item.state is state
    assert item.until == (trouble.until if state is HealthState.LIMITED else None)


def test_what_the_probes_say_goes_before_a_race_and_its_own_word_after_a_refusal() -> None:
    trouble = ServiceIncident(reason="network", at=NOW)
    assert judge(GEMINI, failed("SpawnFailed"), trouble, NOW).state is HealthState.BROKEN
    refused = ServiceIncident(reason="sign_in", at=NOW)
    confirmed = replace(READY, sign_in=SignIn.CONFIRMED)
    assert judge(GEMINI, confirmed, refused, NOW).state is HealthState.READY


# --- what the last races said --------------------------------------------------------------------


class State_:
    """A state folder with results of races."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def race(self, ago: float, *lanes: dict[str, Any], repository: str = "shop") -> Path:
        self.count += 1
        stamp = time.strftime("%Y%m%dt%H%M%S", time.gmtime(NOW - ago))
        run = self.folder / f"{repository}-0123456789" / "runs" / f"{stamp}-a{self.count:03}"
        run.mkdir(parents=True)
        path = run / "result.json"
        path.write_text(json.dumps({"schema": 1, "seconds": 10.0, "lanes": lanes}))
        return path


def lane(
    agent: str, reason: str = "", kind: str = "AgentFailed", **document: Any
) -> dict[str, Any]:
    error = {"kind": kind, "reason": reason, "message": "so it said", "numbers": document}
    return {
        "lane": agent,
        "adapter": agent,
        "status": "failed" if reason else "completed",
        "error": error if reason else None,
    }


@pytest.fixture
def state(scratch: Path) -> State_:
    return State_(scratch / "state")


def test_the_newest_race_of_any_repository_decides(state: State_) -> None:
    state.race(300, lane("claude", "network"), lane("codex"), lane("gemini", "network"))
    state.race(200, lane("codex", "rate_limit", retry_after=120), repository="other")
    state.race(100, lane("claude"))
    state.race(50, lane("gemini", "exit_code"))  # says nothing of its service
    incidents = health.recent(state.folder, NOW)
    assert set(incidents) == {"codex", "gemini"}
    assert incidents["codex"].until == NOW - 200 + 10 + 120
    assert (incidents["gemini"].reason, incidents["gemini"].at) == ("network", NOW - 290)


def test_one_lane_that_went_well_is_enough(state: State_) -> None:
    state.race(60, lane("claude", "overloaded"), lane("claude"), lane("claude", "network"))
    assert health.recent(state.folder, NOW) == {}


def test_a_refused_key_and_what_was_never_started(state: State_) -> None:
    never = {**lane("codex", "sign_in", "AuthMissing"), "status": "not_started"}
    state.race(60, lane("claude", "sign_in", "AuthMissing"), never)
    assert {key: incident.reason for key, incident in health.recent(state.folder, NOW).items()} == {
        "claude": "sign_in"
    }


def test_what_is_old_damaged_or_too_large_is_passed_over(state: State_) -> None:
    state.race(7 * 3600, lane("claude", "network"))
    state.race(50, lane("claude", "network")).write_text("{")
    state.race(40, lane("claude", "network")).write_text('["x"]')
    state.race(30, {"adapter": 3, "error": []}, lane("claude", "unheard_of"))
    large = state.race(20, lane("claude", "network"))
    large.write_text(large.read_text() + " " * health.BYTES)
    state.race(10, lane("claude", "network")).unlink()
    (state.folder / "notes").mkdir()
    (state.folder / "shop-0123456789" / "runs" / "99999999t999999-x").mkdir()
    assert health.recent(state.folder, NOW) == {}
    assert health.recent(None) == {}
    assert health.recent(state.folder / "none") == {}


def test_it_reads_few_files(state: State_, monkeypatch: pytest.MonkeyPatch) -> None:
    for ago in range(100, 100 + 3 * health.FILES):
        state.race(ago, lane("claude", "network"), repository=f"shop{ago % 5}")
    read: list[Path] = []
    function = health._read

    def noted(path: Path) -> object:
        read.append(path)
        return function(path)

    monkeypatch.setattr(health, "_read", noted)
    assert health.recent(state.folder, NOW)["claude"].at == NOW - 90
    assert len(read) == health.FILES

"""How a person names agents, the lanes that come of it, and an agent's health in one word."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hydra.adapters import registry
from hydra.adapters.config_dirs import folders_of
from hydra.adapters.probe.health import HealthState, judge
from hydra.adapters.registry import EXPERIMENTAL_FLAG, lanes, parse_agent
from hydra.commands.race import command
from hydra.errors import Failure, UsageError
from hydra.process.sandbox.tables import AGENT_PLACES
from hydra.records.agent import DetectResult, SignIn, Tier

SAFE = re.compile(r"[a-z0-9][a-z0-9.-]{0,39}")


def ids(*specs: str) -> list[str]:
    return [lane.id for lane in lanes(specs)]


def test_the_order_and_the_keys() -> None:
    agents = registry.everyone()
    keys = [adapter.key() for adapter in agents]
    assert keys == list(registry.OWN) == list(dict.fromkeys(keys))
    assert keys[:3] == [*registry.TIER1, "cursor-agent"]
    tier1 = [a.key() for a in agents if a.descriptor.tier is Tier.TIER1]
    assert tuple(tier1) == registry.TIER1
    # Where each keeps its settings is known without loading it.
    folders = [folder for a in agents for folder in folders_of(a.descriptor)]
    assert {folder.variable for folder in folders} - {""} == set(registry.VARIABLES)
    home = Path("/home/ada")
    hidden = [home / place for place in AGENT_PLACES]
    for folder in folders:
        place = home / folder.default
        assert any(place == mask or mask in place.parents for mask in hidden), folder.default


def test_an_unknown_agent_names_the_nearest_or_where_they_are_listed() -> None:
    for name, near in (("cluade", "claude"), ("Codex", "codex"), ("cursor", "cursor-agent")):
        with pytest.raises(UsageError, match=f"did you mean {near}"):
            registry.get(name)
    with pytest.raises(UsageError) as error:
        registry.get("zzz")
    assert "did you mean" not in error.value.message
    assert error.value.hint == "`hydra agents` lists them"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("claude", ("claude", None, 1)),
        ("3xclaude:opus", ("claude", "opus", 3)),
        ("claude:us.anthropic.opus-v1:0", ("claude", "us.anthropic.opus-v1:0", 1)),
        (" cursor-agent ", ("cursor-agent", None, 1)),
    ],
)
def test_what_can_be_asked_for(text: str, expected: tuple[str, str | None, int]) -> None:
    lane, count = parse_agent(text)
    assert (lane.adapter, lane.model, count) == expected


WRONG = (
    *("", "2x", "0xclaude", "33xclaude", "99999999999999999999xclaude", "claude:", "claude:-x"),
    *("claude:a b", "claude:a\nb", "xclaude", "no-such-agent"),
)


@pytest.mark.parametrize("text", WRONG)
def test_what_cannot(text: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_agent(text)
    assert error.value.hint


def test_lanes_are_numbered_where_they_would_be_the_same() -> None:
    assert ids("claude", "codex") == ["claude", "codex"]
    assert ids("claude", "claude") == ids("2xclaude") == ["claude", "claude-2"]
    assert ids("codex:gpt-5.5", "codex") == ["codex-gpt-5.5", "codex"]
    assert ids("2xclaude", "claude:2", "claude") == ["claude", "claude-2", "claude-2-2", "claude-3"]


def assert_safe(names: list[str]) -> None:
    """Git and a file system take them, and no two are the same."""
    assert len(set(names)) == len(names)
    for id in names:
        assert SAFE.fullmatch(id)
        assert ".." not in id
        assert not id.endswith((".", "-", ".lock"))


def test_any_models_name_gives_ids_that_git_and_a_file_system_take() -> None:
    for model in ("Provider/Model_1", "x" * 80, "a..b", "a.lock.lock", "\u00fc", "~^:?*[", "x."):
        assert_safe(ids(f"3xclaude:{model}"))


@given(st.lists(st.from_regex(r"[1-3]x(claude|codex)(:[!-~]{1,50})?", fullmatch=True), max_size=4))
def test_ids_are_always_unique_and_safe(specs: list[str]) -> None:
    try:
        names = ids(*specs)
    except UsageError:
        return
    assert_safe(names)


# --- health --------------------------------------------------------------------------------------

GEMINI = registry.OWN["gemini"].descriptor
READY = DetectResult(
    adapter="gemini", binary=Path("/bin/gemini"), version="99.0", sign_in=SignIn.SEEMS_SO
)
ASK = f"`hydra doctor {EXPERIMENTAL_FLAG}` looks for it"
RACE = f'hydra race "your task" -a gemini {EXPERIMENTAL_FLAG}'


def failed(kind: str, hint: str = "do it", **document: Any) -> DetectResult:
    return replace(READY, error=Failure(kind=kind, message="it is so", hint=hint), **document)


OLD = {"version": "0.0.1"}


@pytest.mark.parametrize(
    ("result", "state", "step"),
    [
        (None, HealthState.NOT_PROBED, ASK),
        (READY, HealthState.READY, RACE),
        (replace(READY, sign_in=SignIn.UNKNOWN), HealthState.SIGN_IN, GEMINI.sign_in_hint),
        (failed("AuthMissing"), HealthState.SIGN_IN, GEMINI.sign_in_hint),
        (failed("BinaryMissing"), HealthState.NOT_FOUND, "do it"),
        (failed("BinaryMissing", hint=""), HealthState.NOT_FOUND, GEMINI.install_hint),
        (failed("SpawnFailed"), HealthState.BROKEN, "do it"),
        (failed("UnsupportedFlag"), HealthState.BROKEN, "do it"),
        (failed("UnsupportedVersion", **OLD), HealthState.TOO_OLD, "do it"),
        (failed("UnsupportedFlag", **OLD), HealthState.TOO_OLD, "do it"),
    ],
)
def test_health_by_its_probes(result: DetectResult | None, state: HealthState, step: str) -> None:
    item = judge(GEMINI, result)
    assert (item.state, item.next) == (state, step)
    assert EXPERIMENTAL_FLAG in [name for param in command.params for name in param.opts]
    # Of one whose CLI was asked and gave no answer, nothing is claimed.
    claude = registry.OWN["claude"].descriptor
    assert judge(claude, replace(READY, sign_in=SignIn.UNKNOWN)).state is HealthState.READY


def test_everybody_has_one_next_step() -> None:
    for adapter in registry.everyone():
        for result in (None, READY, failed("SpawnFailed", hint="")):
            step = judge(adapter.descriptor, result).next
            assert step.strip()
            assert "\n" not in step

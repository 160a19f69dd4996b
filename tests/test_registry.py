"""How a person names agents, and the lanes that come of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra.adapters import registry
from hydra.adapters.config_dirs import folders_of
from hydra.adapters.registry import lanes, parse_agent
from hydra.errors import UsageError
from hydra.process.sandbox.tables import AGENT_PLACES
from hydra.records.agent import Tier

SAFE = re.compile(r"[a-z0-9][a-z0-9.-]{0,39}")


def ids(*specs: str) -> list[str]:
    return [lane.id for lane in lanes(specs)]


def test_the_order_and_the_keys() -> None:
    keys = [adapter.key() for adapter in registry.everyone()]
    assert keys == list(registry.OWN) == list(dict.fromkeys(keys))
    assert keys[:3] == [*registry.TIER1, "cursor-agent"]
    assert registry.get("codex").descriptor.label == "OpenAI Codex"
    tier1 = [a.key() for a in registry.everyone() if a.descriptor.tier is Tier.TIER1]
    assert tuple(tier1) == registry.TIER1


def test_where_each_keeps_its_settings_is_known_without_loading_it() -> None:
    folders = [
        config_folder for a in registry.everyone() for config_folder in folders_of(a.descriptor)
    ]
    assert {folder.variable for folder in folders} - {""} == set(registry.VARIABLES)
    home = Path("/home/ada")
    hidden = [home / place for place in AGENT_PLACES]
    for folder in folders:
        place = home / folder.default
        assert any(place == mask or mask in place.parents for mask in hidden), folder.default


@pytest.mark.parametrize(
    ("name", "near"),
    [("cluade", "claude"), ("Codex", "codex"), ("cursor", "cursor-agent")],
)
def test_an_unknown_agent_names_the_nearest(name: str, near: str) -> None:
    with pytest.raises(UsageError, match=f"did you mean {near}"):
        registry.get(name)


def test_a_name_near_to_nothing_lists_what_there_is() -> None:
    for name in ("zzz", "nope"):
        with pytest.raises(UsageError) as error:
            registry.get(name)
    assert "did you mean" not in error.value.message
    assert error.value.hint == "`hydra agents` lists them"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("claude", ("claude", None, 1)),
        ("2xclaude", ("claude", None, 2)),
        ("codex:gpt-5.5", ("codex", "gpt-5.5", 1)),
        ("3xclaude:opus", ("claude", "opus", 3)),
        ("claude:us.anthropic.opus-v1:0", ("claude", "us.anthropic.opus-v1:0", 1)),
        (" cursor-agent ", ("cursor-agent", None, 1)),
    ],
)
def test_what_can_be_asked_for(text: str, expected: tuple[str, str | None, int]) -> None:
    lane, count = parse_agent(text)
    assert (lane.adapter, lane.model, count) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2x",
        "0xclaude",
        "33xclaude",
        "99999999999999999999xclaude",
        "claude:",
        "claude:-x",
        "claude:a b",
        "claude:a\nb",
        "xclaude",
        "no-such-agent",
    ],
)
def test_what_cannot(text: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_agent(text)
    assert error.value.hint


def test_lanes_are_numbered_where_they_would_be_the_same() -> None:
    assert ids("claude", "codex") == ["claude", "codex"]
    assert ids("claude", "claude") == ids("2xclaude") == ["claude", "claude-2"]
    assert ids("codex:gpt-5.5", "codex") == ["codex-gpt-5.5", "codex"]
    assert ids("2xclaude", "claude:2", "claude") == ["claude", "claude-2", "claude-2-2", "claude-3"]
    items = lanes(["2xcodex:gpt-5.5"])
    assert [(lane.adapter, lane.model, lane.id) for lane in items] == [
        ("codex", "gpt-5.5", "codex-gpt-5.5"),
        ("codex", "gpt-5.5", "codex-gpt-5.5-2"),
    ]


@pytest.mark.parametrize(
    "model",
    [
        "Provider/Model_1",
        "x" * 80,
        "a..b",
        "a.lock",
        "a.lock.lock",
        "\u00fc",
        "~^:?*[",
        "x.",
        "v1:0",
    ],
)
def test_any_models_name_gives_ids_that_git_and_a_file_system_take(model: str) -> None:
    names = ids(f"3xclaude:{model}")
    assert len(set(names)) == 3
    for id in names:
        assert SAFE.fullmatch(id)
        assert ".." not in id
        assert not id.endswith((".", "-", ".lock"))


@given(st.lists(st.from_regex(r"[1-3]x(claude|codex)(:[!-~]{1,50})?", fullmatch=True), max_size=4))
def test_ids_are_always_unique_and_safe(specs: list[str]) -> None:
    try:
        names = ids(*specs)
    except UsageError:
        return
    assert len(set(names)) == len(names)
    assert all(SAFE.fullmatch(id) and ".." not in id for id in names)
    assert not [id for id in names if id.endswith((".", ".lock"))]

"""How a person names agents, the lanes that come of it, and an agent's health in one word."""

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


@given(st.lists(st.from_regex(r"[1-3]x(claude|codex)(:[!-~]{1,50})?", fullmatch=True), max_size=4))
def test_ids_are_always_unique_and_safe(specs: list[str]) -> None:
    try:
        names = ids(*specs)
    except UsageError:
        return
    assert_safe(names)

"""A repository's own hooks, helpers and MCP commands do not run; its instructions are sent."""

from __future__ import annotations

import pytest

from tests.live.conftest import MakePlace
from tests.live.fingerprint import apart_from_pins, changes, fingerprint
from tests.live.repository import (
    AGENTS_TEXT,
    CLAUDE_TEXT,
    HOOK_EVENTS,
    edited_by,
    marks,
    settings,
    with_traps,
)
from tests.live.support import AGENTS, BIN

pytestmark = pytest.mark.live


def test_nothing_of_the_repository_runs_and_its_instructions_are_sent(
    make_place: MakePlace,
) -> None:
    place = make_place("edit")
    settings(place)
    with_traps(place)
    before = fingerprint(place.repo)

    race = place.race("--keep", "all")

    assert race.exit_code == 1, str(race)
    for lane in AGENTS:
        assert race.error(lane) == ("completed", ""), str(race)
        assert place.patch_files(lane) == edited_by(lane), "a mark in the patch is a trap gone off"
    assert marks(place.root) == []
    assert CLAUDE_TEXT in place.server.sent("claude")
    assert AGENTS_TEXT in place.server.sent("codex")
    assert "from-the-helper" not in place.server.sent("claude")
    assert apart_from_pins(changes(before, fingerprint(place.repo))) == {}
    place.assert_nothing_left()


def test_the_traps_of_claude_are_real(own_place: MakePlace) -> None:
    """Without Hydra the same repository's commands do run: the test above can fail."""
    place = own_place("edit")
    settings(place)
    with_traps(place)
    place.variables |= {"IS_SANDBOX": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    stream = ("--output-format", "stream-json", "--verbose")
    place.run(str(BIN / "claude"), "-p", "Do the task", *stream, "--permission-mode", "acceptEdits")
    expected = {f"mark-hook-{event}" for event in HOOK_EVENTS} | {"mark-mcp", "mark-mcp2"}
    assert expected <= set(marks(place.repo))
    place.variables |= {"ANTHROPIC_API_KEY": ""}
    place.run(str(BIN / "claude"), "-p", "Do the task", *stream, "--permission-mode", "acceptEdits")
    assert "mark-helper" in marks(place.repo)


def test_the_traps_of_codex_are_real(own_place: MakePlace) -> None:
    """Where the user trusts the repository, Codex runs its MCP servers."""
    place = own_place("edit")
    settings(place)
    with_traps(place)
    config = place.home / ".codex/config.toml"
    trusted = f'[projects."{place.repo}"]\ntrust_level = "trusted"\n'
    config.write_text(config.read_text() + trusted)
    place.run(str(BIN / "codex"), "exec", "--json", "--sandbox", "workspace-write", "Do the task")
    assert "mark-codex-mcp" in marks(place.repo)

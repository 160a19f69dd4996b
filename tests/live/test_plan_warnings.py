"""The plan that a race has by default warns of no flag of the pinned agents; and of what it does
not know it does."""

from __future__ import annotations

import json

import pytest

from tests.live.conftest import MakePlace
from tests.live.repository import lived_in
from tests.live.support import AGENTS

pytestmark = pytest.mark.live


def test_no_flag_of_the_real_agents_is_warned_of(make_place: MakePlace) -> None:
    place = make_place("edit")
    lived_in(place)
    plan = json.loads(place.hydra("race", "Do the task", "--dry-run", "--json"))
    assert [lane["adapter"] for lane in plan["lanes"]] == list(AGENTS)
    assert plan["left_out"] == []
    for lane in plan["lanes"]:
        assert lane["error"] is None
        assert [*lane["warnings"], *lane["command"]["warnings"]] == []


def test_one_that_their_help_does_not_show_is(own_place: MakePlace) -> None:
    place = own_place("edit")
    lived_in(place)
    settings = "".join(f'[agents.{key}]\nargs = ["--no-such-flag"]\n' for key in AGENTS)
    (place.home / "own.toml").write_text(settings)
    place.variables["HYDRA_CONFIG"] = str(place.home / "own.toml")
    plan = json.loads(place.hydra("race", "Do the task", "--dry-run", "--json"))
    for lane in plan["lanes"]:
        (warning,) = lane["warnings"]
        assert "does not show --no-such-flag in its help" in warning

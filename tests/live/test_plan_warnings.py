"""The plan that a race has by default warns of nothing with the pinned agents."""

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

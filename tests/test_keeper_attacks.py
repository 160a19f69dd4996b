"""Agents that attack the process which runs them, from inside of a real lane (docs/trust.md).

Each attack has to succeed on a process of the attacker's own; what came of it on the keeper is
judged from outside: by the keeper itself, the run's record, the loot in the patch.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support import attacks_on_keeper as attacks
from tests.support import fakes
from tests.support.attacks import arm, attack, loot_of
from tests.support.trust import Place
from tests.test_trust import ACCOUNTS, DONE, needs_bwrap, place_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="system calls go by number"),
]

REACH = [attack.__name__ for attack in attacks.REACH]
HAMPERING = [attack.__name__ for attack in attacks.HAMPERING]


@dataclass
class Siege:
    """One race of attacks: the loot, the record, the keeper before they were carried out."""

    loot: dict[str, dict[str, str]]
    name: str
    exited: dict[str, Any]
    lane: dict[str, Any]


def besiege(place: Place, names: list[str], *options: str, steps: int = 0) -> Siege:
    arm(place, "attacks_on_keeper")
    step = attack(place, "attacks_on_keeper", attacks=names, steps=steps)
    place.agent("claude", [step, DONE])
    place.hand_over()
    race = place.race("-a", "claude", *options)
    taken = loot_of(place, race, "keeper")
    lines = Path(race.document["folder"], "events.jsonl").read_text().splitlines()
    exited = [e["data"] for e in map(json.loads, lines) if e["kind"] == "agent_exited"]
    return Siege(taken["loot"], taken["name"], exited[0], dict(race.lane("claude")))


@pytest.fixture(scope="module", params=ACCOUNTS, ids=lambda uid: "root" if uid == 0 else "user")
def siege(request: pytest.FixtureRequest) -> Iterator[Siege]:
    with ExitStack() as stack:
        monkey = stack.enter_context(pytest.MonkeyPatch.context())
        monkey.setenv("HOME", "/nonexistent")
        needs_bwrap(request.param)
        place = place_for(request.param, stack)
        yield besiege(place, REACH)
        assert fakes.left(str(place.scratch)) == []


@pytest.mark.parametrize("name", REACH)
def test_the_keeper_is_out_of_reach(siege: Siege, name: str) -> None:
    loot = siege.loot[name]
    assert loot["own"].startswith("took: "), "an attack that never works shows nothing"
    assert loot["keeper"].startswith("denied: ")


def test_whatever_was_tried_the_lane_ended_as_it_ended(siege: Siege) -> None:
    assert siege.lane["status"] == "completed"
    assert (siege.exited["code"], siege.exited["signal"]) == (0, None)
    assert siege.exited["survivors"] == []
    assert siege.exited["stopped"] == ""

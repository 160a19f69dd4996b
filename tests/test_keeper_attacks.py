"""Agents that attack the process which runs them, from inside of a real lane (docs/trust.md).

Each attack has to succeed on a process of the attacker's own; what came of it on the keeper is
judged from outside: by the keeper itself, the run's record, the loot in the patch.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hydra.process import proc, scopes_work
from tests.support import attacks_on_keeper as attacks
from tests.support import fakes
from tests.support.trust import Place
from tests.test_trust import ACCOUNTS, DONE, by_account, by_ordinary, needs_bwrap, place_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="system calls go by number"),
]

SUPPORT = Path(__file__).parent / "support"
REACH = [attack.__name__ for attack in attacks.REACH]
HAMPERING = [attack.__name__ for attack in attacks.HAMPERING]
READY = "attacked"


def arm(place: Place, *modules: str) -> None:
    """Commits the attacks' modules to the repository that is raced on."""
    folder = place.repo / "tests" / "support"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent):
        (package / "__init__.py").touch()
    for module in ("attack_tools", *modules):
        shutil.copy(SUPPORT / f"{module}.py", folder)
    place.hand_over()
    place.git("add", "-A")
    place.git("commit", "-qm", "Attacks")


def attack(place: Place, module: str, **facts: object) -> fakes.Step:
    """One shell tool call that carries out a module's attacks."""
    python = os.path.realpath(place.python)
    line = (python, "-m", f"tests.support.{module}", json.dumps(facts))
    return fakes.shell("sh", "-c", 'exec "$@" >said 2>&1', "sh", *line, show="attacks")


@dataclass
class Keeper:
    """A keeper as it is seen from outside."""

    state: bytes
    nice: int
    tracer: int
    links: tuple[str, ...]


def look(pid: int) -> Keeper:
    status = dict(
        line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    links = tuple(sorted(str(p.readlink()) for p in Path(f"/proc/{pid}/fd").iterdir()))
    state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    return Keeper(state, os.getpriority(os.PRIO_PROCESS, pid), int(status["TracerPid"]), links)


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
    assert "folder" in race.document, race
    folder = race.document["folder"]
    taken = json.loads(place.taken(folder, "claude", "keeper.json"))
    lines = Path(folder, "events.jsonl").read_text().splitlines()
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

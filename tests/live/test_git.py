"""Real agents work with git in their lane as they do in the user's checkout."""

from __future__ import annotations

import json

import pytest

from hydra.conformance.script import parse
from hydra.conformance.server import serve
from tests.live.conftest import MakePlace
from tests.live.fingerprint import apart_from_pins, changes, fingerprint
from tests.live.repository import lived_in, settings
from tests.live.support import AGENTS, hydra_program

pytestmark = pytest.mark.live

WORK = """(git stash -q; git stash pop -q; git checkout -qb mine; echo x > new.txt; git add new.txt
git commit -qm work; git branch --show-current; git log --format=%s main..mine) > said.txt 2>&1"""
TURNS = [{"tool": [{"kind": "shell", "command": WORK}]}, {"say": "Done."}]
SCRIPT = parse("git", {"turn": TURNS})


def test_they_commit_and_codex_does_not_where_its_sandbox_is_its_only_wall(
    own_place: MakePlace,
) -> None:
    place = own_place(SCRIPT)
    settings(place)
    lived_in(place)
    before = fingerprint(place.repo)

    race = place.race()

    for lane in AGENTS:
        assert race.error(lane) == ("completed", ""), str(race)
        assert "+mine\n+work\n" in place.hydra("diff", lane), str(race)
    assert apart_from_pins(changes(before, fingerprint(place.repo))) == {}
    with serve(SCRIPT) as place.server:
        settings(place)
        line = (hydra_program(), "race", "Do the task", "-a", "codex", "--no-network", "--json")
        stdout, stderr = place.finish(place.start(*line), 180)
    assert "holds its .git read-only" in stdout, stderr
    assert json.loads(stdout)["lanes"][0]["status"] == "completed", stderr
    assert "Read-only file system" in place.hydra("diff", "codex"), stderr

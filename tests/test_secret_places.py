"""What a lane may reach, by trial: a secret in every place of `secret_places`, and who finds it.

A real race, whose set-up, agent and check each try to read all of them: by name, by a walk through
everything that they see, by connecting to every socket.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.conftest import git
from tests.support import fakes
from tests.support.laying import Secrets
from tests.support.trust import Place
from tests.test_trust import ACCOUNTS, DONE, needs_bwrap, place_for

LEAST = 300
ABSTRACT = {"@{tag}-X11", "@{tag}-dbus"}
by_account = pytest.mark.parametrize(
    "uid", ACCOUNTS, ids=lambda uid: "root" if uid == 0 else "user"
)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def besiege(place: Place, secrets: Secrets) -> dict[str, str]:
    """Who tries, and all that it printed."""
    reach = secrets.write_script(place.repo)
    settings = f"[race]\nsetup = [\"{reach} > set-up.out\"]\ncheck = ['reach={reach}']\n"
    (place.repo / "hydra.toml").write_text(settings)
    git(place.repo, "add", "reach.py", "places.json", "hydra.toml")
    git(place.repo, "commit", "-qm", "reach")
    place.agent("claude", [fakes.shell("sh", "-c", f"{reach} > agent.out"), DONE])
    place.hand_over()
    race = place.race("-a", "claude")
    assert race.code == 0, race
    folder = Path(race.document["folder"])
    printed = {who: place.taken(str(folder), "claude", f"{who}.out") for who in ("set-up", "agent")}
    outputs = [path.read_bytes() for path in folder.rglob("*.out")]
    return {**printed, "check": b"\n".join(outputs).decode("utf-8", "replace")}


@pytest.mark.slow
@by_account
def test_no_secret_of_three_hundred_places_can_be_reached(uid: int, stack: ExitStack) -> None:
    needs_bwrap(uid)
    place = place_for(uid, stack)
    secrets = Secrets(place, stack)
    assert len(secrets.places) >= LEAST
    printed = besiege(place, secrets)
    reached = {who: secrets.names_in(text) for who, text in printed.items()}
    for who, rows in reached.items():
        print(f"{who}: {len(rows)} of {len(secrets.places)} places")
    for who, text in printed.items():
        assert set(reached[who]) <= open_here(), (who, reached[who])
        assert "ended whole" in text, (who, text[-500:])


def open_here() -> set[str]:
    """What docs/trust.md says stays open: before Linux 6.12 no kernel closes abstract sockets."""
    release = tuple(int(part) for part in os.uname().release.split(".")[:2])
    return set() if release >= (6, 12) else ABSTRACT

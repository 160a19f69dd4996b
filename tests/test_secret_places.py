"""What a lane may reach, by trial: a secret in every place of `secret_places`, and who finds it.

A real race, whose set-up, agent and check each try to read all of them: by name, by a walk through
everything that they see, by connecting to every socket.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from hydra.process.sandbox.discovery import compute_view
from tests.conftest import git
from tests.support import fakes
from tests.support.laying import Secrets
from tests.support.trust import PROJECT, Place, by_account_in_full, needs_bwrap, place_for

LEAST = 300
DONE = fakes.finish("done")
REMADE = "made anew from harmless settings"
ABSTRACT = frozenset(("@{tag}-X11", "@{tag}-dbus"))
# What is laid in /etc and goes again would be missed by any other test's view of the machine.
pytestmark = pytest.mark.serial


def besiege(place: Place, secrets: Secrets) -> tuple[dict[str, str], list[str]]:
    """Who tries, and all that it printed; the run's warnings."""
    reach = secrets.write_script(place.repo)
    settings = f"[race]\nsetup = [\"{reach} > set-up.out\"]\ncheck = ['reach={reach}']\n"
    (place.repo / "hydra.toml").write_text(settings)
    git(place.repo, "add", "reach.py", "places.json", "hydra.toml")
    git(place.repo, "commit", "-qm", "reach")
    tries = f"{reach} > agent.out; cp set-up.out seen.out"
    place.agent("claude", [fakes.shell("sh", "-c", tries), DONE])
    # A scripted agent's script, and nothing else of the scratch folder.
    place.extra["HYDRA_SHOW"] = f"{place.scratch}/agents:{PROJECT}/fixtures"
    place.hand_over()
    race = place.race("-a", "claude")
    assert race.lane("claude")["status"] == "completed", race
    folder = Path(race.document["folder"])
    printed = {who: place.taken(str(folder), "claude", f"{who}.out") for who in ("seen", "agent")}
    recorded = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pack"]
    everything = b"\n".join(path.read_bytes() for path in recorded).decode("utf-8", "replace")
    check = (folder / race.lane("claude")["checks"][0]["output"]).read_text()
    recorded_text = everything + "\nended whole"
    return {**printed, "check": check, "the record": recorded_text}, race.document["warnings"]


@pytest.mark.slow
@by_account_in_full
def test_no_secret_of_three_hundred_places_can_be_reached(uid: int, stack: ExitStack) -> None:
    needs_bwrap(uid)
    place = place_for(uid, stack)
    secrets = Secrets(place, stack)
    assert len(secrets.places) >= LEAST
    printed, warnings = besiege(place, secrets)
    reached = {who: secrets.names_in(text) for who, text in printed.items()}
    for who, text in printed.items():
        assert reached[who].keys() <= open_by_its_word(warnings), (who, reached[who])
        assert "ended whole" in text, (who, text[-500:])


def open_by_its_word(warnings: list[str]) -> frozenset[str]:
    """What the run itself says that it leaves open: abstract sockets before Linux 6.12."""
    says_so = any("abstract sockets" in warning for warning in warnings)
    return ABSTRACT if says_so else frozenset()


def test_the_view_shows_none_of_three_hundred_places(stack: ExitStack) -> None:
    """The same by what is computed, without a race."""
    place = place_for(os.geteuid(), stack)
    secrets = Secrets(place, stack)
    view = compute_view(place.home, place.environ, guarded=[place.state], repository=place.repo)
    for secret, entry in secrets.places.items():
        place_of_it = secrets.path(entry.target if entry.kind == "link" else entry.path)
        if entry.kind != "abstract" and view.reason(place_of_it) not in ("", REMADE):
            pytest.fail(f"{entry} can be seen: {view.reason(place_of_it)}")
        assert not any(secret.encode() in text for text in view.settings.values()), entry

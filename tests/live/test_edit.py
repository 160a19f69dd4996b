"""Both agents edit, both patches are there, and the user's repository is as it was."""

from __future__ import annotations

import pytest

from tests.live.conftest import MakePlace
from tests.live.fingerprint import apart_from_pins, changes, fingerprint
from tests.live.repository import edited_by, lived_in, settings
from tests.live.support import AGENTS, CLAUDE_KEY, CODEX_KEY, Place, hydra_program

pytestmark = pytest.mark.live


def fetched(place: Place, lane: str) -> str:
    """The created file, by the very line that `hydra runs path` is documented with."""
    line = f'git fetch -q "$({hydra_program()} runs path)/patches.git" {lane}'
    place.run("sh", "-c", line)
    return place.git("show", f"FETCH_HEAD:created-by-{lane}.txt")


def test_both_edit_and_the_users_repository_stays_byte_for_byte(make_place: MakePlace) -> None:
    place = make_place("edit")
    settings(place)
    lived_in(place)
    head = place.git("rev-parse", "HEAD")
    before, home = fingerprint(place.repo), fingerprint(place.home)

    race = place.race()

    assert race.exit_code == 1, str(race)
    changed = changes(before, fingerprint(place.repo))
    assert apart_from_pins(changed) == {}, str(race)
    run = race.document["run"]
    assert (place.repo / f".git/refs/hydra/{run}/base").read_text().strip() == head
    assert [path for path in changed if not path.endswith("/")] == [f".git/refs/hydra/{run}/base"]
    lost = {p: w for p, w in changes(home, fingerprint(place.home)).items() if w[0]}
    assert lost == {}, "a file of the user's HOME changed or went"
    place.assert_nothing_left()
    for lane in AGENTS:
        assert race.error(lane) == ("completed", ""), str(race)
        assert race.lane(lane)["patch"]["files"] == 2
        assert race.lane(lane)["usage"]["output_tokens"] == 320
        assert place.patch_files(lane) == edited_by(lane)
        assert fetched(place, lane) == f"created by {lane}\nsecond line"


def test_no_key_gets_into_the_record(own_place: MakePlace) -> None:
    place = own_place("edit")
    settings(place)
    lived_in(place)
    assert place.race("--keep", "all").exit_code == 1
    paths = [path for path in place.state.rglob("*") if path.is_file()]
    assert paths
    for path in paths:
        content = path.read_bytes()
        assert CLAUDE_KEY.encode() not in content, path
        assert CODEX_KEY.encode() not in content, path
    sent = [request for request in place.server.requests if request.method == "POST"]
    assert {request.agent for request in sent} == set(AGENTS)
    for request in sent:
        name = "x-api-key" if request.agent == "claude" else "authorization"
        assert request.headers[name] == "[scrubbed]", "the agent was given no key"

"""More situations, each as whoever runs the tests: permission plan, and what models do and fail."""

from __future__ import annotations

import pytest

from tests.live.conftest import MakePlace
from tests.live.fingerprint import apart_from_pins, changes, fingerprint
from tests.live.repository import lived_in, settings
from tests.live.support import AGENTS

pytestmark = [pytest.mark.live, pytest.mark.full]


def test_permission_plan_changes_nothing(make_place: MakePlace) -> None:
    place = make_place("edit")
    settings(place)
    lived_in(place)
    before = fingerprint(place.repo)

    race = place.race("--permission", "plan")

    assert race.exit_code == 1, str(race)
    for lane in AGENTS:
        assert race.lane(lane)["patch"]["empty"], str(race)
        assert race.lane(lane)["status"] in ("no_changes", "failed"), str(race)
        assert place.patch_files(lane) == {}
    assert apart_from_pins(changes(before, fingerprint(place.repo))) == {}
    place.assert_nothing_left()


def test_permission_edit_edits(own_place: MakePlace) -> None:
    place = own_place("edit")
    settings(place)
    lived_in(place)
    race = place.race("--permission", "edit")
    assert race.exit_code == 1, str(race)
    for lane in AGENTS:
        assert race.error(lane) == ("completed", ""), str(race)


@pytest.mark.parametrize(
    ("script", "status", "files"),
    [
        ("several_tools", "completed", {"three.txt"}),
        ("failing_tool", "completed", {"created-by-{agent}.txt"}),
        ("server_error_once", "completed", {"created-by-{agent}.txt"}),
        ("nothing", "no_changes", set()),
    ],
)
def test_what_a_model_does_is_in_the_patch(
    own_place: MakePlace, script: str, status: str, files: set[str]
) -> None:
    place = own_place(script)
    settings(place)
    lived_in(place)
    race = place.race()
    assert race.exit_code == 1, str(race)
    for lane in AGENTS:
        assert race.error(lane) == (status, ""), str(race)
        assert set(place.patch_files(lane)) == {name.replace("{agent}", lane) for name in files}
    place.assert_nothing_left()


def test_a_conversation_that_is_too_long_is_named(own_place: MakePlace) -> None:
    place = own_place("overflow")
    settings(place)
    lived_in(place)
    race = place.race()
    assert race.exit_code == 1, str(race)
    for lane in AGENTS:
        assert race.lane(lane)["error"]["reason"] == "context_overflow", str(race)


def test_garbage_in_the_stream_ends_both_lanes_by_themselves(own_place: MakePlace) -> None:
    """Claude asks again without streaming and recovers; Codex gives up after five retries."""
    place = own_place("garbage")
    settings(place)
    lived_in(place)
    race = place.race()
    assert race.exit_code == 1, str(race)
    assert race.lane("claude")["status"] == "no_changes", str(race)
    assert race.error("codex") == ("failed", "AgentFailed"), str(race)
    place.assert_nothing_left()

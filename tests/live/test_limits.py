"""A model that never answers, and a key that is refused: both lanes end, in time and by name."""

from __future__ import annotations

import pytest

from hydra.conformance.request_log import LoggedRequest
from tests.live.conftest import MakePlace
from tests.live.fingerprint import apart_from_pins, changes, fingerprint
from tests.live.repository import lived_in, settings
from tests.live.support import AGENTS

pytestmark = pytest.mark.live

IDLE = 8.0
SLACK = 20.0
"""For the start, the graces and the patch, on a machine that has more to do."""


@pytest.mark.full
def test_the_idle_limit_ends_both_on_a_model_that_never_answers(make_place: MakePlace) -> None:
    place = make_place("hang_after_edit")
    settings(place)
    lived_in(place)
    before = fingerprint(place.repo)

    race = place.race("--idle-timeout", f"{IDLE:g}s")

    assert race.exit_code == 1, str(race)
    for lane in AGENTS:
        assert race.error(lane) == ("timed_out", "TimedOut"), str(race)
        seconds = race.lane(lane)["seconds"]
        longest = worked(place.server.requests, lane) + IDLE + SLACK
        assert IDLE <= seconds <= longest, f"{lane}: {seconds} s, at most {longest} s\n{race}"
        assert race.lane(lane)["error"]["numbers"]["limit"] == IDLE
        assert place.patch_files(lane) == {f"before-{lane}.txt": "A"}
    assert apart_from_pins(changes(before, fingerprint(place.repo))) == {}
    place.assert_nothing_left()


@pytest.mark.full
def test_the_idle_limit_also_holds_when_nothing_was_ever_answered(own_place: MakePlace) -> None:
    place = own_place("hang")
    settings(place)
    lived_in(place)

    race = place.race("--idle-timeout", f"{IDLE:g}s")

    assert race.exit_code == 1, str(race)
    for lane in AGENTS:
        assert race.error(lane) == ("timed_out", "TimedOut"), str(race)
        assert IDLE <= race.lane(lane)["seconds"] <= IDLE + SLACK, str(race)
        assert race.lane(lane)["patch"]["empty"]
    place.assert_nothing_left()


def worked(requests: list[LoggedRequest], lane: str) -> float:
    """Seconds from an agent's first request to its last: how long it worked until the silence."""
    times = [request.seconds for request in requests if request.agent == lane]
    return times[-1] - times[0]


def test_a_refused_key_is_auth_missing_in_under_30_seconds(make_place: MakePlace) -> None:
    place = make_place("unauthorized")
    settings(place)
    lived_in(place)
    before = fingerprint(place.repo)

    race = place.race()

    assert race.exit_code == 1, str(race)
    assert race.seconds < 30, str(race)
    for lane in AGENTS:
        assert race.error(lane) == ("failed", "AuthMissing"), str(race)
        error = race.lane(lane)["error"]
        assert error["adapter"] == lane
        assert error["command"]
        assert error["hint"]
    assert apart_from_pins(changes(before, fingerprint(place.repo))) == {}
    place.assert_nothing_left()

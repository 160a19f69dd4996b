"""Ctrl-C during a long shell tool: no process is left, both patches are there."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.live.conftest import MakePlace
from tests.live.fingerprint import apart_from_pins, changes, fingerprint
from tests.live.repository import lived_in, settings
from tests.live.support import AGENTS, Place, Race

pytestmark = pytest.mark.live


def wait_for_the_tools(place: Place, race_pid: int, *, limit: float = 60) -> None:
    """Until each agent's tool has written that its child runs."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        # os.walk, unlike rglob, takes it well when a folder goes while it looks.
        walk = os.walk(place.state / "g")
        started = {name for _, _, names in walk for name in names if name.startswith("started-")}
        if started == {f"started-{agent}.txt" for agent in AGENTS}:
            return
        assert os.waitid(os.P_PID, race_pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None, (
            "hydra ended before the tools had started"
        )
        time.sleep(0.1)
    pytest.fail(f"only {started} after {limit:g} s")


def test_ctrl_c_leaves_no_process_and_both_patches(make_place: MakePlace) -> None:
    place = make_place("long_shell")
    settings(place)
    lived_in(place)
    before = fingerprint(place.repo)
    started = time.monotonic()
    process = place.start_race()
    wait_for_the_tools(place, process.pid)

    # As a terminal sends it: to the whole foreground process group.
    os.killpg(process.pid, signal.SIGINT)
    interrupted = time.monotonic()
    stdout, stderr = place.finish(process, 60)

    race = Race(process.returncode, stdout, stderr, time.monotonic() - started)
    assert race.exit_code == 130, str(race)
    assert time.monotonic() - interrupted < 30, str(race)
    place.assert_nothing_left()
    for lane in AGENTS:
        assert race.error(lane) == ("interrupted", "Interrupted"), str(race)
        files = place.patch_files(lane)
        assert files == {f"before-{lane}.txt": "A", f"started-{lane}.txt": "A"}, str(race)
    assert apart_from_pins(changes(before, fingerprint(place.repo))) == {}

"""`hydra demo`: a true race over scripted agents, with nothing of the user's in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass

from hydra.app.check import check_commit
from hydra.app.follow import Watcher
from hydra.app.merge import Landing, MergeRequest, merge
from hydra.app.race import RaceReport
from hydra.app.scene import RaceRequest
from hydra.app.start import race
from hydra.demo.race import LANDED, Demo, new_folder, prepare

_WHO = {
    f"GIT_{role}_{word}": value
    for role in ("AUTHOR", "COMMITTER")
    for word, value in (("NAME", "You"), ("EMAIL", "you@localhost"))
}
"""The demo reads nothing of the user's, their name neither."""


@dataclass(frozen=True, slots=True)
class DemoReport:
    """The demo's folder, which is kept, its race, and what was landed of it, if anything."""

    demo: Demo
    report: RaceReport
    landing: Landing | None


def demo(watcher: Watcher | None, announce: Callable[[Demo], None]) -> DemoReport:
    """Makes the small repository and races the scripted agents in it.

    `announce` is told where it all lies before the race starts.
    """
    folder = new_folder()
    try:
        prepared = prepare(folder)
    except BaseException:
        # No git, a full disk, Ctrl-C: nothing has been shown that would be worth keeping.
        shutil.rmtree(folder, ignore_errors=True)
        raise
    announce(prepared)
    request = RaceRequest(
        prompt=prepared.task,
        directory=prepared.repository,
        flags={
            "race.agents": prepared.agents,
            "race.check": (prepared.check,),
            "race.allow_experimental_adapters": prepared.allow_experimental,
        },
        environ=prepared.environment(os.environ),
    )
    report = race(request, watcher)
    lanes = report.result.outcomes if report.result else ()
    usable = any(lane.lane == LANDED and lane.usable for lane in lanes)
    return DemoReport(prepared, report, _land(prepared) if usable else None)


def _land(prepared: Demo) -> Landing:
    """Lands the lane that fixed the bug and tested it, on the demo's own branch."""
    return merge(
        MergeRequest(
            lane=LANDED,
            environ={**prepared.environment(os.environ), **_WHO},
            directory=prepared.repository,
            check=check_commit,
        )
    )

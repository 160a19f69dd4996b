"""`hydra demo`: a true race over scripted agents, with nothing of the user's in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass

from hydra.app.follow import Watcher
from hydra.app.race import RaceReport
from hydra.app.scene import RaceRequest
from hydra.app.start import race
from hydra.demo.race import Demo, new_folder, prepare


@dataclass(frozen=True, slots=True)
class DemoReport:
    """The demo's folder, which is kept, and its race."""

    demo: Demo
    report: RaceReport


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
    return DemoReport(prepared, race(request, watcher))

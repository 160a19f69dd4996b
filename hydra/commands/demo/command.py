"""`hydra demo`: a true race over scripted agents, with nothing of the user's in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from hydra.commands.check import check_commit
from hydra.commands.compare import compare, write_page
from hydra.commands.demo.race import Demo, new_folder, prepare
from hydra.commands.merge import Landing, merge
from hydra.commands.merge_selection import MergeRequest
from hydra.commands.race import RaceReport
from hydra.commands.race_start import start
from hydra.errors import LandingRefused
from hydra.race.follower import RaceWatcher
from hydra.race.preflight import RaceRequest
from hydra.records.events import Event


class DemoReport(Struct, frozen=True):
    """The demo's folder, which is kept, its race, the page of its verdict, and what was landed.

    `landing` is None where the ranking named no lane to land, `page` where there was no verdict.
    """

    demo: Demo
    report: RaceReport
    page: Path | None
    landing: Landing | None


class _Calm:
    """Shows a race without what is not sure of the real CLIs: here they are scripts."""

    def __init__(self, watcher: RaceWatcher) -> None:
        self._watcher = watcher
        self.tick, self.close = watcher.tick, watcher.close

    def event(self, event: Event) -> None:
        """All but a lane's warning."""
        if event.kind != "lane_warning":
            self._watcher.event(event)


def demo(watcher: RaceWatcher | None, announce: Callable[[Demo], None]) -> DemoReport:
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
    environ = prepared.environment(os.environ)
    # What is started from here on, git too, has none of the user's settings.
    os.environ.clear()
    os.environ.update(environ)
    watcher = None if watcher is None else _Calm(watcher)
    request = RaceRequest(
        prompt=prepared.task,
        directory=prepared.repository,
        flags={
            "race.agents": prepared.agents,
            "race.check": (prepared.check,),
            "race.allow_experimental_adapters": prepared.allow_experimental,
        },
        environ=environ,
    )
    report = start(request, watcher)
    if report.result is None or report.result.verdict is None:
        return DemoReport(prepared, report, None, None)
    return DemoReport(prepared, report, _page(prepared, environ), _land(prepared, environ))


def _page(prepared: Demo, environ: Mapping[str, str]) -> Path:
    done = compare(environ=environ, directory=prepared.repository)
    return write_page(done, prepared.folder / "page.html")


def _land(prepared: Demo, environ: Mapping[str, str]) -> Landing | None:
    """Lands the top of the ranking, on the demo's own branch."""
    try:
        return merge(
            MergeRequest(
                environ=environ,
                directory=prepared.repository,
                check=check_commit,
            )
        )
    except LandingRefused:  # a tie: the summary says so
        return None

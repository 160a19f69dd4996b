"""`hydra demo`: see a race without a key, a CLI or a network, and nothing of the user's in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hydra.cli.common import Command, invoked_as, json_option
from hydra.cli.streams import cells, looks, note, part, show, watcher

if TYPE_CHECKING:
    from hydra.commands.demo.race import Demo
    from hydra.race.follower import RaceWatcher
    from hydra.records.events import Event
    from hydra.report.landing import Landing


@click.command(cls=Command, races=True, examples=("hydra demo", "hydra demo --json"))
@click.option("-q", "--quiet", is_flag=True, help="Say nothing until the end.")
@json_option
def command(quiet: bool, as_json: bool) -> int:
    """Race scripted agents on a small repository: no key, no CLI, no network, no cost.

    Their patches are checked and ranked, the page of the verdict is written, and the first of them
    is landed on the repository's branch.

    The agents are scripts that speak the real CLIs' formats; everything else is the real thing.
    The folder is kept, so that you can look at the patches.
    """
    from hydra.commands.demo.race import TEACHES, new_demo
    from hydra.race.candidates import of_race
    from hydra.race.start import start
    from hydra.ranking.model import EndedRace
    from hydra.records.codec import shaped
    from hydra.report.demo import introduction, what_next
    from hydra.report.landing import landed_text
    from hydra.report.race_end import race_end

    demo = new_demo()
    if not quiet:
        note(introduction(demo.folder, demo.task, demo.agents, width=cells(sys.stderr)))
    # What is started from here on, git too, has none of the user's settings.
    environ = demo.environment(os.environ)
    os.environ.clear()
    os.environ.update(environ)
    report = start(demo.request(environ), None if quiet else _Calm(watcher(sys.stderr)))
    assert report.result is not None
    page, landing = None, None
    if report.result.verdict is not None:
        page, landing = str(_page(demo, environ)), _land(demo, environ)
    document = report.result.document(report.plan)
    if not quiet:
        part()
    if as_json:
        show({**document, "page": page, "landing": landing and landing.document()})
        return report.exit_code
    look, race = looks(), shaped(document, EndedRace)
    show(race_end(race, of_race(race, report.result.verdict), **look, steps=False))
    lines = {
        "see the patch that passes its tests by changing one": demo.command("diff", "cursor-agent"),
        "see why claude's is first": demo.command("compare"),
    }
    if page is not None:
        lines["the same as a page for your browser"] = page
    if landing is not None:
        show(f"\n{landed_text(landing, color=look['color'], steps=False)}")
        lines["take the landing back"] = demo.command("merge", "--undo")
    show(what_next(TEACHES, lines, demo.removal, program=invoked_as(), width=look["width"]))
    return report.exit_code


class _Calm:
    """Shows a race without what is not sure of the real CLIs: here they are scripts."""

    def __init__(self, watcher: RaceWatcher) -> None:
        self._watcher = watcher
        self.tick, self.close = watcher.tick, watcher.close

    def event(self, event: Event) -> None:
        """All but a lane's warning."""
        if event.kind != "lane_warning":
            self._watcher.event(event)


def _page(demo: Demo, environ: Mapping[str, str]) -> Path:
    from hydra.commands.html_page import write_page
    from hydra.race.candidates import with_candidates
    from hydra.race.recovery import runs
    from hydra.race.verdict import judgement

    place = runs.repository_runs(environ, demo.repository)
    run = runs.find(place, "")
    verdict = judgement(runs.read(run), environ)
    verdict = with_candidates(verdict, place.repository.root, run)
    return write_page(run, verdict, demo.folder / "page.html")


def _land(demo: Demo, environ: Mapping[str, str]) -> Landing | None:
    """Lands the top of the ranking, on the demo's own branch."""
    from hydra.commands.check_round import check_commit
    from hydra.commands.merge_landing import merge
    from hydra.commands.merge_selection import MergeRequest
    from hydra.errors import LandingRefused

    try:
        return merge(MergeRequest(environ=environ, directory=demo.repository, check=check_commit))
    except LandingRefused:  # a tie: the summary says so
        return None

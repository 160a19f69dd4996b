"""`hydra demo`: see a race without a key, a CLI or a network."""

from __future__ import annotations

import sys
from typing import Any

import click

from hydra.cli.common import Command, invoked_as, json_option
from hydra.cli.streams import cells, looks, note, part, show, watcher


@click.command(cls=Command, races=True, examples=("hydra demo", "hydra demo --json"))
@click.option("-q", "--quiet", is_flag=True, help="Say nothing until the end.")
@json_option
def command(quiet: bool, **options: Any) -> None:
    """Race scripted agents on a small repository: no key, no CLI, no network, no cost.

    Their patches are checked and ranked, the page of the verdict is written, and the first of them
    is landed on the repository's branch.

    The agents are scripts that speak the real CLIs' formats; everything else is the real thing.
    The folder is kept, so that you can look at the patches.
    """
    from hydra.commands.demo.landed import demo
    from hydra.commands.demo.race import TEACHES, Demo
    from hydra.race.candidates import of_race
    from hydra.ranking.model import EndedRace
    from hydra.records.codec import shaped
    from hydra.report.demo import introduction, what_next
    from hydra.report.document import result_document
    from hydra.report.landing import landed_text, landing_document
    from hydra.report.race_end import race_end

    def announce(prepared: Demo) -> None:
        if not quiet:
            width = cells(sys.stderr)
            text = introduction(prepared.folder, prepared.task, prepared.agents, width=width)
            note(text)

    done = demo(None if quiet else watcher(sys.stderr), announce)
    assert done.report.result is not None
    document = result_document(done.report.plan, done.report.result)
    landing, page = done.landing, None if done.page is None else str(done.page)
    if not quiet:
        part()
    if options["as_json"]:
        landed = landing and landing_document(landing.record, hooks=landing.hooks)
        show({**document, "page": page, "landing": landed})
    else:
        look = looks()
        race = shaped(document, EndedRace)
        verdict = of_race(race, done.report.result.verdict)
        show(race_end(race, verdict, **look, steps=False))
        line_of = done.demo.command
        lines = {
            "see the patch that passes its tests by changing one": line_of("diff", "cursor-agent"),
            "see why claude's is first": line_of("compare"),
        }
        if page is not None:
            lines["the same as a page for your browser"] = page
        if landing is not None:
            text = landed_text(landing.record, landing.files, color=look["color"], steps=False)
            show(f"\n{text}")
            lines["take the landing back"] = line_of("merge", "--undo")
        program, width = invoked_as(), look["width"]
        removal = done.demo.removal
        show(what_next(TEACHES, lines, removal, program=program, width=width))
    sys.exit(done.report.exit_code)

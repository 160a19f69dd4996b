"""`hydra demo`: see a race without a key, a CLI or a network."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from hydra.cli.common import Command, invoked_as, json_option, use_color
from hydra.cli.display import cells, part, watcher

if TYPE_CHECKING:
    from hydra.commands.merge import Landing


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
    from hydra.commands.demo.command import demo
    from hydra.commands.demo.race import TEACHES, Demo
    from hydra.commands.merge_candidates import of_race
    from hydra.ranking.model import EndedRace
    from hydra.records.codec import dump, shaped
    from hydra.report.demo import introduction, what_next
    from hydra.report.document import result_document
    from hydra.report.race_end import race_end

    def announce(prepared: Demo) -> None:
        if not quiet:
            width = cells(sys.stderr)
            text = introduction(prepared.folder, prepared.task, prepared.agents, width=width)
            sys.stderr.write(text)

    done = demo(None if quiet else watcher(sys.stderr), announce)
    assert done.report.result is not None
    document = result_document(done.report.plan, done.report.result)
    if not quiet:
        part()
    if options["as_json"]:
        page = None if done.page is None else str(done.page)
        sys.stdout.write(dump({**document, "page": page, "landing": _landing(done.landing)}))
    else:
        columns, color = cells(sys.stdout), use_color(sys.stdout)
        race = shaped(document, EndedRace)
        verdict = of_race(race, done.report.result.verdict)
        sys.stdout.write(race_end(race, verdict, width=columns, color=color, steps=False))
        if done.landing is not None:
            sys.stdout.write("\n" + _landed(done.landing, color=color))
        program = invoked_as()
        lines = {
            "see the patch that passes its tests by changing one": done.demo.command(
                "diff", "cursor-agent"
            ),
            "see why claude's is first": done.demo.command("compare"),
        }
        if done.page is not None:
            lines["the same as a page for your browser"] = str(done.page)
        if done.landing is not None:
            lines["take the landing back"] = done.demo.command("merge", "--undo")
        removal = done.demo.removal
        sys.stdout.write(what_next(TEACHES, lines, removal, program=program, width=columns))
    sys.stdout.flush()
    sys.exit(done.report.exit_code)


def _landing(landing: Landing | None) -> dict[str, Any] | None:
    from hydra.report.landing import landing_document

    return None if landing is None else landing_document(landing.record, hooks=landing.hooks)


def _landed(landing: Landing, *, color: bool) -> str:
    from hydra.report.landing import landed_text

    return landed_text(landing.record, landing.files, color=color, steps=False)

"""`hydra demo`: see a race without a key, a CLI or a network."""

from __future__ import annotations

import sys
from typing import Any

import click

from hydra.cli.common import Command, invoked_as, json_option, use_color
from hydra.cli.display import cells, part, watcher


@click.command(cls=Command, races=True, examples=("hydra demo", "hydra demo --json"))
@click.option("-q", "--quiet", is_flag=True, help="Say nothing until the end.")
@json_option
def command(quiet: bool, **options: Any) -> None:
    """Race scripted agents on a small repository: no key, no CLI, no network, no cost.

    The agents are scripts that speak the real CLIs' formats; everything else is the real thing.
    The folder is kept, so that you can look at the patches.
    """
    from hydra.app.demo import demo
    from hydra.demo.race import TEACHES, Demo
    from hydra.reporters.demo import introduction, what_next
    from hydra.reporters.document import dump, result_document
    from hydra.reporters.summary import summary

    def announce(prepared: Demo) -> None:
        if not quiet:
            width = cells(sys.stderr)
            said = introduction(prepared.folder, prepared.task, prepared.agents, width=width)
            sys.stderr.write(said)

    done = demo(None if quiet else watcher(sys.stderr), announce)
    assert done.report.result is not None
    document = result_document(done.report.plan, done.report.result)
    if not quiet:
        part()
    if options["as_json"]:
        sys.stdout.write(dump(document))
    else:
        columns, color = cells(sys.stdout), use_color(sys.stdout)
        sys.stdout.write(summary(document, width=columns, color=color, steps=False))
        program = invoked_as()
        look = done.demo.command("diff", "cursor-agent", program=program)
        steps = what_next(TEACHES, look, done.demo.removal, program=program, width=columns)
        sys.stdout.write(steps)
    sys.stdout.flush()
    sys.exit(done.report.exit_code)

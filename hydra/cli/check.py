"""`hydra check`: checks on patches that are there."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from hydra.cli.common import Command, json_option, run_option, use_color
from hydra.cli.display import cells


@click.command(
    cls=Command,
    races=True,
    examples=(
        "hydra check",
        "hydra check claude codex",
        'hydra check --check "pytest -q" --check "lint=ruff check ."',
        'hydra check --setup "npm ci"',
        "hydra check --drop pytest-2",
        "hydra check -r @-1 --json",
    ),
)
@click.argument("lanes", nargs=-1, metavar="[LANE...]")
@click.option(
    "--check",
    "checks",
    multiple=True,
    metavar="CMD",
    help="Run this where you stand, not the race's own checks (repeatable).",
)
@click.option(
    "--setup", "setup", multiple=True, metavar="CMD", help='Run this first, such as "npm ci".'
)
@click.option(
    "--copy", "copies", multiple=True, metavar="PATH", help="Copy this ignored file, such as .env."
)
@click.option("--share", multiple=True, metavar="FOLDER", help="Show this ignored folder.")
@click.option(
    "--drop",
    "dropped",
    multiple=True,
    metavar="NAME",
    help="Run nothing: leave this check out of the verdict.",
)
@click.option(
    "--trial-runs",
    type=click.IntRange(0, 10_000),
    metavar="N",
    help="Run patches' new tests on each other in at most N runs (40).",
)
@run_option
@click.option("-q", "--quiet", is_flag=True, help="Say nothing until the end.")
@json_option
def command(lanes: tuple[str, ...], **options: Any) -> None:
    """Run the checks of a race on its patches: again, or others.

    Without a LANE: on every patch. Each runs in a clean worktree of its own, and is compared
    with the base. Results are added to the run's folder; older ones stay. With every patch checked,
    each is also tried by the base's own tests and by the other lanes' new ones.

    A check whose name is another command's already is given one of its own (pytest-2).
    """
    if options["dropped"]:
        _drop(lanes, options)
        return
    from hydra.commands.check import CheckRequest, check
    from hydra.race.recovery import runs
    from hydra.records.codec import dump
    from hydra.records.store.reader import RunRecord
    from hydra.report.checks import line, table_text

    def tell(lane: str, kind: str, data: Mapping[str, object]) -> None:
        text = line(lane, kind, data)
        if text and not options["quiet"]:
            sys.stderr.write(f"{text}\n")

    flags = {
        "race.check": options["checks"],
        "race.setup": options["setup"],
        "race.copy": options["copies"],
        "race.share": options["share"],
        "judge.trial_runs": options["trial_runs"],
    }
    request = CheckRequest(run=options["run"], lanes=lanes, flags=flags, tell=tell)
    done = check(request)
    document = done.document()
    if options["as_json"]:
        sys.stdout.write(dump(document))
    else:
        width, color = cells(sys.stdout), use_color(sys.stdout)
        of_run = runs.option(RunRecord(done.folder.parent.parent), options["run"])
        sys.stdout.write(table_text(document, width=width, color=color, of_run=of_run))
    sys.stdout.flush()
    sys.exit(done.exit_code)


def _drop(lanes: tuple[str, ...], options: Mapping[str, Any]) -> None:
    from hydra.commands.known_checks import drop
    from hydra.errors import UsageError
    from hydra.race.recovery import runs
    from hydra.records.codec import dump
    from hydra.report.text import clean

    others = ("checks", "setup", "copies", "share", "trial_runs")
    if lanes or any(options[name] for name in others):
        raise UsageError("--drop runs no check, and one was asked for", hint="give it alone")
    record, folder = drop(options["run"], options["dropped"])
    names = list(dict.fromkeys(options["dropped"]))
    if options["as_json"]:
        document = {"schema": 1, "kind": "dropped", "run": record.id, "checks": names}
        sys.stdout.write(dump({**document, "folder": str(folder)}))
    else:
        of_run = runs.option(record, options["run"])
        sys.stdout.write(f"dropped: {clean(', '.join(names))}\n")
        sys.stdout.write(f"compare again:  hydra compare{of_run}\n")

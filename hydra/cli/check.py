"""`hydra check`: checks on patches that are there."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from hydra.cli.common import Command, json_option, run_option, use_color
from hydra.cli.display import cells, progress
from hydra.cli.options import flags, setting


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
@setting("race.check", "Run this where you stand, not the race's own checks (repeatable).", "CMD")
@setting("race.setup", 'Run this first, such as "npm ci".', "CMD")
@setting("race.copy", "Copy this ignored file, such as .env.", "PATH")
@setting("race.share", "Show this ignored folder.", "FOLDER")
@click.option(
    "--drop",
    "dropped",
    multiple=True,
    metavar="NAME",
    help="Run nothing: leave this check out of the verdict.",
)
@setting("judge.trial_runs", "Run patches' new tests on each other in at most N runs ({}).", "N")
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
    progress(options)("looking at the race and its checks")
    from hydra.commands.check import CheckRequest, check
    from hydra.records.codec import as_json, dump
    from hydra.report.checks import line, table_text

    def tell(lane: str, kind: str, data: Mapping[str, object]) -> None:
        text = line(lane, kind, data)
        if text and not options["quiet"]:
            sys.stderr.write(f"{text}\n")

    request = CheckRequest(run=options["run"], lanes=lanes, flags=flags(options), tell=tell)
    done = check(request)
    document = done.document()
    if options["as_json"]:
        sys.stdout.write(dump(as_json(document)))
    else:
        width, color = cells(sys.stdout), use_color(sys.stdout)
        sys.stdout.write(table_text(document, width=width, color=color))
    sys.stdout.flush()
    sys.exit(done.exit_code)


def _drop(lanes: tuple[str, ...], options: Mapping[str, Any]) -> None:
    from hydra.commands.known_checks import drop
    from hydra.errors import UsageError
    from hydra.records.codec import dump
    from hydra.report.checks import compare_again
    from hydra.report.text import clean

    others = ("check", "setup", "copy", "share", "trial_runs")
    if lanes or any(options[name] for name in others):
        raise UsageError("--drop runs no check, and one was asked for", hint="give it alone")
    record, folder = drop(options["run"], options["dropped"])
    names = list(dict.fromkeys(options["dropped"]))
    if options["as_json"]:
        document = {"schema": 1, "kind": "dropped", "run": record.id, "checks": names}
        sys.stdout.write(dump({**document, "folder": str(folder)}))
    else:
        sys.stdout.write(f"dropped: {clean(', '.join(names))}\n{compare_again(record.id)}\n")

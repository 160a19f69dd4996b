"""`hydra check`: checks on patches that are there."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from hydra.cli.common import Command, json_option, refuse, run_option
from hydra.cli.options import flags, settings
from hydra.cli.streams import looks, note, progress, show


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
@settings("race.check", text="Run this where you stand, not the race's own checks (repeatable).")
@settings("race.setup", "race.copy", "race.share")
@click.option(
    "--drop",
    "dropped",
    multiple=True,
    metavar="NAME",
    help="Run nothing: leave this check out of the verdict.",
)
@settings("judge.trial_runs")
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
    from hydra.commands.check_plan import CheckRequest, check
    from hydra.records.codec import as_json
    from hydra.report.checks import line, table_text

    def tell(lane: str, kind: str, data: Mapping[str, object]) -> None:
        text = line(lane, kind, data)
        if text and not options["quiet"]:
            note(f"{text}\n")

    request = CheckRequest(run=options["run"], lanes=lanes, flags=flags(options), tell=tell)
    done = check(request)
    document = done.document()
    if options["as_json"]:
        show(as_json(document))
    else:
        show(table_text(document, **looks()))
    sys.exit(done.exit_code)


def _drop(lanes: tuple[str, ...], options: Mapping[str, Any]) -> None:
    from hydra.commands.known_checks import drop
    from hydra.report.checks import compare_again
    from hydra.report.text import clean

    others = any(options[name] for name in ("check", "setup", "copy", "share", "trial_runs"))
    refuse((lanes or others, "--drop runs no check, and one was asked for", "give it alone"))
    record, folder = drop(options["run"], options["dropped"])
    names = list(dict.fromkeys(options["dropped"]))
    if options["as_json"]:
        document = {"schema": 1, "kind": "dropped", "run": record.id, "checks": names}
        show({**document, "folder": str(folder)})
    else:
        show(f"dropped: {clean(', '.join(names))}\n{compare_again(record.id)}\n")

"""`hydra check`: checks on patches that are there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from hydra.cli.common import Command, json_option, refuse, run_option
from hydra.cli.options import flags, settings
from hydra.cli.streams import looks, progress, show, tell_check


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
def command(lanes: tuple[str, ...], **options: Any) -> int:
    """Run the checks of a race on its patches: again, or others.

    Without a LANE: on every patch. Each runs in a clean worktree of its own, and is compared
    with the base. Results are added to the run's folder; older ones stay. With every patch checked,
    each is also tried by the base's own tests and by the other lanes' new ones.

    A check whose name is another command's already is given one of its own (pytest-2).
    """
    if options["dropped"]:
        _drop(lanes, options)
        return 0
    progress(options)("looking at the race and its checks")
    from hydra.commands.check_round import check, silent
    from hydra.records.codec import as_json
    from hydra.report.checks import table_text

    tell = silent if options["quiet"] else tell_check
    done = check(options["run"], lanes, flags(options), tell)
    document = done.document()
    show(as_json(document) if options["as_json"] else table_text(document, **looks()))
    return done.exit_code


def _drop(lanes: tuple[str, ...], options: Mapping[str, Any]) -> None:
    """Leaves checks out of what the verdict is made of. What they came to stays in their folder."""
    from hydra.checks.baseline import DROPPED, all_checks, all_dropped
    from hydra.checks.round import new_folder
    from hydra.errors import Refused
    from hydra.race.recovery import runs
    from hydra.records.store.files import shared, write_json
    from hydra.report.checks import compare_again
    from hydra.report.text import clean

    others = any(options[name] for name in ("check", "setup", "copy", "share", "trial_runs"))
    refuse((lanes or others, "--drop runs no check, and one was asked for", "give it alone"))
    names = list(dict.fromkeys(options["dropped"]))
    record = runs.find(runs.repository_runs(), options["run"])
    runs.check_ended(record)
    with shared(record.folder):
        own = [check.check for lane in runs.read(record).race.lanes for check in lane.checks]
        gone = all_dropped(record.folder)
        all_names = dict.fromkeys((*(n for n in own if n not in gone), *all_checks(record.folder)))
        for name in names:
            hint = f"its checks: {', '.join(all_names)}" if all_names else "it has none"
            refuse((name not in all_names, f"run {record.id} has no check {name!r}", hint))
        try:
            folder = new_folder(record.folder)
            write_json(folder / DROPPED, {"schema": 1, "checks": options["dropped"]})
        except OSError as error:
            raise Refused(f"the run's folder cannot be written: {error.strerror}") from error
    if options["as_json"]:
        document = {"schema": 1, "kind": "dropped", "run": record.id, "checks": names}
        show({**document, "folder": str(folder)})
    else:
        show(f"dropped: {clean(', '.join(names))}\n{compare_again(record.id)}\n")

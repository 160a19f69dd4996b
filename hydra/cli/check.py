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
        "hydra check -r @-1 --json",
    ),
)
@click.argument("lanes", nargs=-1, metavar="[LANE...]")
@click.option("--check", "checks", multiple=True, metavar="CMD", help="Others than the run's own.")
@click.option(
    "--trial-runs",
    type=click.IntRange(0, 10_000),
    metavar="N",
    help="Run each other's new tests at most so often (40).",
)
@run_option
@click.option("-q", "--quiet", is_flag=True, help="Say nothing until the end.")
@json_option
def command(lanes: tuple[str, ...], **options: Any) -> None:
    """Run the checks of a race on its patches: again, or others.

    Without a LANE: on every patch. Each runs in a clean worktree of its own, and is held against
    the base. Results are added to the run's folder; older ones stay. With every patch checked,
    each is also tried by the base's own tests and by the other lanes' new ones.
    """
    from hydra.app.check import CheckRequest, check
    from hydra.reporters.checks import line, table_text
    from hydra.reporters.document import dump

    def tell(lane: str, kind: str, data: Mapping[str, object]) -> None:
        said = line(lane, kind, data)
        if said and not options["quiet"]:
            sys.stderr.write(f"{said}\n")

    flags = {"race.check": options["checks"], "judge.trial_runs": options["trial_runs"]}
    request = CheckRequest(run=options["run"], lanes=lanes, flags=flags, tell=tell)
    done = check(request)
    document = done.document()
    if options["as_json"]:
        sys.stdout.write(dump(document))
    else:
        width, color = cells(sys.stdout), use_color(sys.stdout)
        sys.stdout.write(table_text(document, width=width, color=color))
    sys.stdout.flush()
    sys.exit(done.exit_code)

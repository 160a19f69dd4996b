"""`hydra runs`: the races of this repository."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from hydra.cli.common import Command, Group, json_option, run_option, use_color
from hydra.cli.display import cells

if TYPE_CHECKING:
    from hydra.app.runs import Reading
    from hydra.reporters.listing import RunRow


@click.group(
    invoke_without_command=True,
    cls=Group,
    examples=(
        "hydra runs",
        "hydra runs show -r @-1",
        'git fetch "$(hydra runs path)/patches.git" claude',
        "hydra runs rm 20261121t203415-k3f",
    ),
)
@json_option
@click.pass_context
def command(context: click.Context, /, **options: Any) -> None:
    """List this repository's races, newest first; show, name or remove one."""
    if context.invoked_subcommand is not None:
        return
    from hydra.app import runs
    from hydra.reporters.document import dump
    from hydra.reporters.listing import runs_table

    readings = [runs.read(run) for run in runs.list_runs(runs.here())]
    rows = [_row(reading) for reading in readings]
    if options["as_json"]:
        documents = [_document(row, reading) for row, reading in zip(rows, readings, strict=True)]
        sys.stdout.write(dump({"schema": 1, "kind": "runs", "runs": documents}))
    elif rows:
        text = runs_table(rows, width=cells(sys.stdout), color=use_color(sys.stdout))
        sys.stdout.write(text)
    else:
        sys.stderr.write('no races yet: hydra race "your task"\n')
    _end_by([reading for reading in readings if reading.damage], as_json=options["as_json"])


@command.command("show", cls=Command, examples=("hydra runs show", "hydra runs show -r @-1 --json"))
@run_option
@json_option
def show(**options: Any) -> None:
    """Show how a race ended: every lane, its patch, and why."""
    from hydra.app import runs
    from hydra.reporters.document import dump
    from hydra.reporters.listing import run_text
    from hydra.reporters.summary import summary

    reading = runs.read(runs.find(runs.here(), options["run"]), events=True)
    row, result = _row(reading), reading.result
    if options["as_json"]:
        sys.stdout.write(dump(result if result is not None else _unended(row, reading)))
    else:
        columns, color = cells(sys.stdout), use_color(sys.stdout)
        ending = summary(result, width=columns, color=color, run=row.run) if result else ""
        sys.stdout.write(run_text(row, ending, width=columns, color=color))
    _end_by([reading] if reading.damage else [], as_json=options["as_json"])


def _end_by(damaged: Sequence[Reading], *, as_json: bool) -> None:
    """What is readable has been shown: says what is not, and ends with 6."""
    if not damaged:
        return
    sys.stdout.flush()
    error = damaged[0].damage
    assert error is not None
    if as_json:  # the document has been printed, with the problem in it
        sys.exit(error.exit_code)
    raise error


@command.command(
    "path", cls=Command, examples=('git fetch "$(hydra runs path)/patches.git" claude',)
)
@run_option
def path(**options: Any) -> None:
    """Print a race's folder."""
    from hydra.app import runs

    click.echo(str(runs.find(runs.here(), options["run"]).folder))


@command.command(
    "rm", cls=Command, examples=("hydra runs rm 20261121t203415-k3f", "hydra runs rm @-1 -y")
)
@click.argument("names", nargs=-1, required=True, metavar="RUN...")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def rm(names: tuple[str, ...], yes: bool) -> None:
    """Remove races for good: their patches, worktrees and records. Says first what goes."""
    from hydra.app import runs
    from hydra.errors import UsageError
    from hydra.reporters.text import clean, plural, size

    place = runs.here()
    found = {run.id: run for run in (runs.find(place, name) for name in names)}
    removals = [runs.plan_removal(place, run) for run in found.values()]
    for removal in removals:
        held = f"patches of {', '.join(removal.patches)}" if removal.patches else "no patch"
        kept = f", {plural(len(removal.grounds), 'worktree')}" if removal.grounds else ""
        click.echo(clean(f"{removal.run.id}: {held}{kept}, {size(removal.bytes)}"), err=True)
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("nothing was removed: there is nobody to ask", hint="add --yes")
        if not click.confirm("remove for good?", err=True):
            click.echo("nothing was removed", err=True)
            return
    for removal in removals:
        runs.remove(place, removal)


def _row(reading: Reading) -> RunRow:
    from hydra.reporters.listing import RunRow

    run, manifest = reading.run, reading.manifest
    started = manifest.get("started")
    lanes = tuple((lane, str(outcome.get("status"))) for lane, outcome in reading.lanes.items())
    return RunRow(
        run=run.id,
        age=time.time() - started if isinstance(started, int | float) else None,
        title=str(manifest.get("title") or ""),
        lanes=lanes,
        size=run.size(),
        state=reading.state,
        folder=str(run.folder),
    )


def _document(row: RunRow, reading: Reading) -> dict[str, object]:
    return {
        "run": row.run,
        "age": None if row.age is None else round(row.age, 1),
        "title": row.title,
        "lanes": [{"lane": lane, "status": status} for lane, status in row.lanes],
        "size": row.size,
        "state": row.state,
        "folder": row.folder,
        "problem": reading.damage.message if reading.damage else None,
    }


def _unended(row: RunRow, reading: Reading) -> dict[str, object]:
    """A run without a readable result: its manifest, and the lanes as far as they are known."""
    return {**reading.manifest, "schema": 1, "kind": "run", **_document(row, reading)}

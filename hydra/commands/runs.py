"""`hydra runs`: the races of this repository."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from hydra.cli.common import (
    DURATION,
    Command,
    CommandGroup,
    json_option,
    refuse,
    run_argument,
    usage,
)
from hydra.cli.streams import flush, is_terminal, looks, note, say, show

if TYPE_CHECKING:
    from hydra.race.command_context import CommandContext
    from hydra.race.recovery.runs import RunReading
    from hydra.ranking.model import Verdict
    from hydra.records.store.reader import RunRecord
    from hydra.report.runs import RunRow


class RunsGroup(CommandGroup):
    """Knows a race's id where a command is due."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it; what is no command is asked back as a race."""
        if args[0] in self.commands or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        from shlex import quote

        from hydra.text import nearest

        hint = f"to see a race: hydra runs show {quote(args[0])}"
        if near := nearest(args[0], self.commands):
            hint = f"did you mean `hydra runs {near}`?"
        if args[0] in ("list", "ls"):
            hint = "`hydra runs` lists them"
        raise usage(f"there is no command `hydra runs {args[0]}`", hint)


@click.group(
    invoke_without_command=True,
    cls=RunsGroup,
    examples=(
        "hydra runs",
        "hydra runs show @-1",
        'git fetch "$(hydra runs path)/patches.git" claude',
        "hydra runs rm 20261121t203415-hk3f",
    ),
)
@json_option
@click.pass_context
def command(context: click.Context, /, **options: Any) -> int:
    """List this repository's races, newest first; show or remove one, or print its folder.

    A race is named by its id, by how that begins or ends, or by @-1 (the one before), @-2 ...
    A cost with a + is at least that much: not every agent says what it spends.
    """
    if context.invoked_subcommand is not None:
        return 0
    from hydra.race.recovery import runs
    from hydra.report.runs import runs_table

    place = runs.repository_runs()
    run_readings = [runs.read(run) for run in runs.list_runs(place)]
    # One that goes by itself may go while it is read.
    readings = [reading for reading in run_readings if reading.run.folder.is_dir()]
    rows = [_row(place, reading, _verdict(reading)[0]) for reading in readings]
    if options["as_json"]:
        documents = [_document(row, reading) for row, reading in zip(rows, readings, strict=True)]
        show({"schema": 1, "kind": "runs", "runs": documents})
    elif rows:
        from hydra.race.recovery.housekeeping import hint

        show(runs_table(rows, **looks()))
        flush()
        sizes = {row.run: row.size or 0 for row in rows}
        if text := hint(place.folder, place.state, os.environ, sizes):
            say(text)
    else:
        if elsewhere := runs.moved(place.state, place.repository.root):
            raise elsewhere
        note('no races yet: hydra race "your task"\n')
    return _end_by(readings, as_json=options["as_json"])


@command.command("show", cls=Command, examples=("hydra runs show", "hydra runs show @-1 --json"))
@run_argument
@json_option
def show_run(**options: Any) -> int:
    """Show how a race ended.

    Every lane's rank, its patch, and why; what was landed. RUN is an id, how it begins or ends, or
    @-1: the one before. Default: the latest.
    """
    from hydra.landing.record import landings
    from hydra.race.candidates import unjudged, with_candidates
    from hydra.race.recovery import runs
    from hydra.records.codec import as_json
    from hydra.records.store.files import shared
    from hydra.report.runs import run_text
    from hydra.report.summary import summary

    place = runs.repository_runs()
    run = runs.find(place, options["run"])
    with shared(run.folder):
        reading = runs.read(run, events=True)
        verdict, problem = _verdict(runs.read(run))  # of which events are no part
    problem = "" if reading.damage else problem
    landed = landings(run.folder)
    row, result = _row(place, reading, verdict), reading.result
    if options["as_json"]:
        if result is None:
            show(_unended(row, reading))
        else:
            judged = verdict.document() if verdict else reading.race.verdict or None
            more = {"verdict": judged, "landings": as_json(landed), "problem": problem or None}
            show({**result, **more})
    else:
        look, ending = looks(), ""
        data = with_candidates(verdict or unjudged(reading.race), place.repository.root, run)
        if result is not None:
            ending = summary(reading.race, data, **look, problem=problem)
        show(run_text(row, ending, landed=landed, **look))
    return _end_by([reading], as_json=options["as_json"])


def _end_by(readings: Sequence[RunReading], *, as_json: bool) -> int:
    """What is readable has been shown: says what is not, and ends with 6."""
    damaged = [reading.damage for reading in readings if reading.damage]
    if not damaged:
        return 0
    flush()
    if as_json:  # the document has been printed, with the problem in it
        return damaged[0].exit_code
    raise damaged[0]


@command.command(
    "path", cls=Command, examples=('git fetch "$(hydra runs path)/patches.git" claude',)
)
@run_argument
def path(**options: Any) -> None:
    """Print a race's folder. RUN as in `hydra runs show`."""
    from hydra.race.recovery import runs

    click.echo(str(runs.find(runs.repository_runs(), options["run"]).folder))


@command.command(
    "rm",
    cls=Command,
    examples=(
        "hydra runs rm 20261121t203415-hk3f",
        "hydra runs rm --older-than 30d --dry-run",
        "hydra runs rm --empty --yes",
    ),
)
@click.argument("names", nargs=-1, metavar="[RUN]...")
@click.option("-r", "--run", "more", multiple=True, metavar="RUN", help="As RUN (repeatable).")
@click.option(
    "--older-than", type=DURATION, metavar="AGE", help="Races that began longer ago, such as 30d."
)
@click.option("--empty", is_flag=True, help="Races with which nothing would be lost.")
@click.option("--all", "everything", is_flag=True, help="Every race of this repository.")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would go; remove nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
def rm(names: tuple[str, ...], **options: Any) -> None:
    """Remove races for good.

    Their patches, worktrees and records go; it says which, and asks. A race that is still running
    is left alone.
    """
    from hydra.race.recovery import runs
    from hydra.report.text import size
    from hydra.text import plural

    place = runs.repository_runs()
    chosen = _chosen(place, (*names, *options["more"]), options)
    losses = [loss_of(place, run) for run in chosen]
    dry, as_json = options["dry_run"], options["as_json"]
    total = f"{plural(len(losses), 'run')}, {size(sum(loss['size'] for loss in losses))}"
    kind = "empty race" if options["empty"] else "race"
    since = " that began before then" if options["older_than"] is not None else ""
    # Those that are still running are none of them.
    nothing = f"there is no {kind} here{since}: nothing to remove\n"
    text = _losses_text(losses, total) or nothing
    if not as_json:
        (show if dry else note)(text)
    removed: list[str] = []
    if losses and not dry and (options["yes"] or _may_go(text if as_json else "")):
        for run in chosen:
            _remove(place, run)
            removed.append(run.id)
        if not as_json:
            note(f"removed {total}\n")
    if as_json:
        rows = [{**loss, "removed": loss["run"] in removed} for loss in losses]
        show({"schema": 1, "kind": "removal", "dry_run": dry, "runs": rows})


def _chosen(
    place: CommandContext, names: Sequence[str], options: Mapping[str, Any]
) -> list[RunRecord]:
    """The runs that are meant, newest first: named ones, or those that fit every condition. A run
    that is still running is none of the latter."""
    from hydra.race.recovery import runs
    from hydra.race.recovery.retention import is_empty, started

    older_than, empty, everything = (
        options[name] for name in ("older_than", "empty", "everything")
    )
    conditions = older_than is not None or empty
    refuse(
        (
            everything and conditions,
            "--all leaves nothing to choose",
            "leave out --older-than or --empty",
        ),
        (
            names and (everything or conditions),
            "runs were named, and chosen by a condition too",
            "do one after the other",
        ),
        # Elsewhere it means the latest; here it is a variable that was never set.
        (not all(names), "a run's name is empty", "`hydra runs` lists them; @-0 is the latest"),
        (
            not (names or everything or conditions),
            "which races?",
            "name them as `hydra runs` lists them, or say --older-than 30d, --empty or --all",
        ),
    )
    if names:
        return list({run.id: run for run in (runs.find(place, name) for name in names)}.values())
    now = time.time()
    return [
        run
        for run in runs.list_runs(place)
        if not run.live
        and (older_than is None or now - started(run) >= older_than)
        and (not empty or is_empty(run, place.state))
    ]


def loss_of(place: CommandContext, run: RunRecord) -> dict[str, Any]:
    """What goes for good with a run: of its lanes those that changed something (where that is not
    known, those that may have), and those whose worktree stands. Raises `Refused` while it is
    running, or where git could not be asked."""
    from hydra.errors import Exhausted, HydraError, Refused
    from hydra.git import patches
    from hydra.race.recovery import runs
    from hydra.race.recovery.retention import grounds, size, started

    if run.live:
        raise Refused(f"run {run.id} is still running", hint="end it first (Ctrl-C there)")
    reading = runs.read(run)
    changed = {lane.lane for lane in reading.race.lanes if lane.patch and lane.patch.files}
    try:
        changed |= patches.with_work(run.patches, reading.manifest.base)
    except Exhausted:
        raise
    except HydraError:
        pass  # the result alone tells
    return {
        "run": run.id,
        "age": round(time.time() - started(run), 1),
        "size": size(run, place.state),
        "patches": sorted(changed),
        "worktrees": [path.name for path in grounds(run, place.state)],
        "uncommitted": reading.manifest.is_uncommitted,
    }


def _losses_text(losses: Sequence[Mapping[str, Any]], total: str) -> str:
    """A line a run, and a line for all where there are several; ends with a newline."""
    from hydra.report.runs import age
    from hydra.report.text import clean, size

    lines = []
    for loss in losses:
        parts = [f"patches of {', '.join(loss['patches'])}" if loss["patches"] else "no patch"]
        if loss["worktrees"]:
            parts.append(f"worktrees of {', '.join(loss['worktrees'])}")
        if loss["uncommitted"]:
            parts.append("your uncommitted changes as the race began")
        ages = f"{age(loss['age'])}, {size(loss['size'])}"
        lines.append(f"{loss['run']}: {'; '.join(parts)}; {ages}")
    if len(losses) > 1:
        kinds = ("patches", "worktrees", "uncommitted")
        count = sum(any(loss[kind] for kind in kinds) for loss in losses)
        lines.append(total + (f"; {count} of them with work in them" if count else ""))
    return "".join(f"{clean(line)}\n" for line in lines)


def _remove(place: CommandContext, run: RunRecord) -> None:
    """Removes a run: its worktrees, its ref in the repository, and its record. One that breaks off
    is ended by the next command."""
    from hydra.errors import Refused
    from hydra.race.recovery.retention import remove_run
    from hydra.records.store.files import alone

    try:
        with alone(run.folder) as mine:
            if not mine:
                raise Refused(f"run {run.id} is in use", hint="wait for the other hydra")
            remove_run(place.state, run.folder)
    except OSError as error:
        raise Refused(
            f"run {run.id} could not be removed: {error}",
            hint="see who may write there; what has begun to go is gone on with by every command",
        ) from error


def _may_go(unsaid: str) -> bool:
    """Asks; `unsaid` is what has not been shown yet of what would go."""
    refuse(
        (
            not is_terminal(sys.stdin),
            "nothing was removed: without a terminal you cannot be asked",
            "add --yes to remove, or --dry-run to see what would go",
        )
    )
    note(unsaid)
    if click.confirm("remove for good?", err=True):
        return True
    note("nothing was removed\n")
    return False


def _verdict(reading: RunReading) -> tuple[Verdict | None, str]:
    """The verdict on a run as it stands, if any, or why there is none to read; it raises nothing:
    of the rest there is something to show."""
    from hydra.errors import HydraError
    from hydra.race.verdict import judgement_to_land

    try:
        return judgement_to_land(reading), ""
    except HydraError as error:
        # What is wrong with all of the run is told at the end.
        return None, "" if reading.damage else error.message


def _row(place: CommandContext, reading: RunReading, verdict: Verdict | None) -> RunRow:
    """A run in a line: who won, who was landed, and what it cost."""
    from hydra.landing.record import landings
    from hydra.race.recovery.retention import size
    from hydra.report.runs import RaceCost, RunRow, spending

    run, manifest = reading.run, reading.manifest
    landed = landings(run.folder)
    standing = [landing for landing in landed if not landing.undone]
    lanes = [lane for landing in standing for lane in landing.lanes]
    whole = [lane for landing in standing for lane in landing.whole]
    return RunRow(
        run=run.id,
        age=None if manifest.started is None else time.time() - manifest.started,
        title=manifest.title,
        prompt=manifest.prompt,
        lanes=tuple((lane.lane, lane.status) for lane in reading.race.lanes),
        size=size(run, place.state),
        state=reading.state,
        folder=str(run.folder),
        winner=(verdict and verdict.top) or "",
        landed=tuple(dict.fromkeys(lanes)),
        partial=tuple({*lanes} - {*whole}),
        undone=bool(landed) and not lanes,
        spending=RaceCost() if reading.result is None else spending(reading.race),
    )


def _document(row: RunRow, reading: RunReading) -> dict[str, object]:
    return {
        "run": row.run,
        "age": None if row.age is None else round(row.age, 1),
        "title": row.title,
        "lanes": [{"lane": lane, "status": status} for lane, status in row.lanes],
        "size": row.size,
        "state": row.state,
        "winner": row.winner or None,
        "landed": list(row.landed),
        "cost_usd": row.spending.dollars,
        "folder": row.folder,
        "problem": reading.damage.message if reading.damage else None,
    }


def _unended(row: RunRow, reading: RunReading) -> dict[str, object]:
    """A run without a readable result: its manifest, and the lanes as far as they are known."""
    from hydra.records.codec import as_json

    manifest = as_json(reading.manifest) if reading.manifest.run else {}
    return {**manifest, "schema": 1, "kind": "run", **_document(row, reading)}

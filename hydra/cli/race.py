"""`hydra race`: options to a request, a watcher to the terminal, the result to stdout."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hydra.cli.common import Command, json_option, use_color
from hydra.cli.display import cells, part, progress, watcher
from hydra.cli.options import flags, setting
from hydra.cli.streams import write_through

if TYPE_CHECKING:
    from hydra.commands.race import RaceReport
    from hydra.race.follower import RaceWatcher


class RaceCommand(Command):
    """Knows the two ways in which a task comes apart into words before it gets here."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does it; but what was not quoted is told to be a task, with how to write it."""
        terms = tuple(args)  # click empties the list while it reads
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if not any(" " in term and term.startswith("-") for term in terms):
                raise
            from hydra.errors import UsageError

            raise UsageError(
                f"there is no option {error.option_name.split()[0]}: does the task begin with it?",
                hint='put -- before the task: hydra race [OPTIONS] -- "-..."',
            ) from error
        except click.UsageError as error:
            if not error.format_message().startswith("Got unexpected extra argument"):
                raise
            from hydra.errors import UsageError

            raise UsageError(
                "the task is one argument, and there are several",
                hint='put it in quotes: hydra race "what is to be done"',
            ) from error


@click.command(
    cls=RaceCommand,
    races=True,
    common=(
        *("--agent", "--check", "--setup", "--copy", "--share", "--include-dirty", "--file"),
        *("--permission", "--timeout", "--dry-run"),
    ),
    examples=(
        'hydra race "Fix the off-by-one in pager.py"',
        'hydra race "Fix the off-by-one in pager.py" --check "make test"',
        'hydra race "Add a --json flag" -a claude -a codex:gpt-5.5 --idle-timeout 5m',
        "hydra race --file task.md -a 2xclaude --include-dirty",
        'hydra race "Plan the migration" --permission plan --dry-run',
    ),
)
@click.argument("task", required=False)
@click.option("--file", "file", type=click.Path(path_type=Path), help="Read the task from a file.")
@setting(
    "race.agents",
    "Who races: claude, codex:MODEL, 2xclaude ... (repeatable). Default: claude and codex,"
    " where they are ready.",
    "AGENT",
    "-a",
)
@click.option("--base", default="HEAD", metavar="REF", help="Race from this commit, not HEAD.")
@setting("race.include_dirty", "Take uncommitted changes along.")
@setting("race.copy", "Copy this ignored file, such as .env.", "PATH")
@setting(
    "race.share",
    "Show this ignored folder, copy-on-write, as .venv and node_modules are.",
    "FOLDER",
)
@setting(
    "race.check",
    "Run this on each patch (repeatable; NAME=CMD names it). Default: the tests that "
    "Hydra finds, which it names; --no-check: none.",
    "CMD",
)
@click.option("--no-check", is_flag=True, help="Run no checks, not even guessed ones.")
@setting("judge.trial_runs", "Run patches' new tests on each other in at most N runs ({}).", "N")
@setting("race.setup", 'Run this first, such as "npm ci".', "CMD")
@setting("limits.total", "Stop an agent after so long ({}).", "TIME")
@setting("limits.idle", "Stop an agent that makes no progress for so long ({}).", "TIME")
@setting("retry.times", "Try again after a failure of the agent's service ({}).", "N")
@setting("race.max_parallel", "Agents at once ({}).", "N")
@setting(
    "race.permission",
    "What agents may do unasked: plan, edit, full-auto; default and config: as the agent has"
    " it. Default: full-auto where they are confined.",
    "LEVEL",
)
@setting(
    "race.effort",
    "How hard the models think: low, medium, high, max; of one agent: AGENT@high.",
    "LEVEL",
)
@setting("race.unsafe_full_access", "Confine nothing: the whole machine.")
@setting("race.network", "Whether the agents' commands have a network.")
@setting("race.allow_filter", "Race although git would run this filter (.gitattributes).", "NAME")
@setting(
    "race.allow_experimental_adapters",
    "Let experimental agents run (`hydra agents` lists them).",
)
@setting("race.keep", "Whose folders to keep as they are ({}). Patches are always kept.")
@click.option("--dry-run", is_flag=True, help="Show what would run; start nothing.")
@click.option("--events", is_flag=True, help="Print each event as a line of JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing until the end.")
@json_option
def command(**options: Any) -> None:
    """Give one TASK to several agents, each on a copy of its own.

    TASK is a sentence, "-" for standard input, or left out for your $EDITOR. Each agent has a
    lane: a copy of the checkout with its dependencies. What it changes there becomes a patch;
    your checkout, branches and dependencies stay as they are.
    """
    _check_outputs(options)
    prompt = _prompt(options["task"], options["file"])
    tell = progress(options)
    tell(_first_look(options))  # before the imports, which take seconds on a busy machine
    from hydra.commands.race_start import start
    from hydra.race.preflight import RaceRequest

    request = RaceRequest(
        prompt=prompt,
        base=options["base"],
        flags=flags(options),
        dry_run=options["dry_run"],
        no_check=options["no_check"],
        tell=tell,
    )
    output = _Output()
    report = start(request, _watcher(options, output))
    if output.lost is not None:
        raise output.lost
    try:
        _show(report, options)
    except OSError:
        if report.result is None or not report.result.interrupted:
            raise
        from hydra.cli.exit_report import silence

        silence(sys.stdout)  # the terminal has gone, which is what ended the race
        sys.exit(report.exit_code)
    if report.hint and not (options["quiet"] or options["as_json"] or options["events"]):
        click.echo(f"hydra: {report.hint}", err=True)
    sys.exit(report.exit_code)


def _first_look(options: Mapping[str, Any]) -> str:
    """What a race waits for first, as far as the command line says it."""
    from hydra.text import joined

    agents = joined(options["agent"]) if options["agent"] else "which agents are ready"
    tests = "whether your checks start" if options["check"] else "how your tests run"
    more = "" if options["no_check"] else f", and at {tests}"
    return f"looking at your repository, at {agents}{more}"


def _check_outputs(options: Mapping[str, Any]) -> None:
    from hydra.errors import UsageError

    if options["events"] and options["as_json"]:
        raise UsageError(
            "--events and --json both go to standard output: give one",
            hint="with --events, the document is in the run's folder: "
            'cat "$(hydra runs path)/result.json"',
        )
    if options["no_check"] and options["check"]:
        raise UsageError("--check and --no-check were both given", hint="give one of them")
    if options["events"] and options["dry_run"]:
        raise UsageError(
            "a dry run has no events", hint="--dry-run --json prints what would be run"
        )


def _prompt(task: str | None, file: Path | None) -> str:
    from hydra.errors import UsageError

    if file is not None and task is not None:
        raise UsageError("TASK and --file were both given", hint="give one of them")
    if file is not None and str(file) != "-":
        return _decode(_read(file), str(file))
    if task == "-" or file is not None:
        return _decode(sys.stdin.buffer.read(), "standard input")
    if task is not None:
        return task
    return _edited()


def _read(file: Path) -> bytes:
    from hydra.errors import UsageError

    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{file} cannot be read: {error.strerror}", hint="name a file with the task in it"
        ) from error


def _decode(data: bytes, where: str) -> str:
    from hydra.errors import UsageError

    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"the task from {where} is not text: {error.reason}", hint="give UTF-8 text"
        ) from error


def _edited() -> str:
    from hydra.errors import UsageError

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("no task was given", hint='hydra race "what is to be done"')
    hint = "\n# The task, in your own words. Lines that start with # are left out.\n"
    try:
        text = click.edit(hint, extension=".md") or ""
    except click.ClickException as error:
        raise UsageError(
            f"your editor did not give a task ({error.format_message()})",
            hint='set $EDITOR, or write it here: hydra race "what is to be done"',
        ) from error
    return "\n".join(line for line in text.splitlines() if not line.startswith("#")).strip()


def _watcher(options: Mapping[str, Any], output: _Output) -> RaceWatcher | None:
    if options["dry_run"]:
        return None
    if options["events"]:
        from hydra.report.stream import JsonLines

        return JsonLines(output.write)
    return None if options["quiet"] else watcher(sys.stderr)


class _Output:
    """Standard output under `--events`. A full disk ends no race: `lost` tells of it afterwards."""

    lost: OSError | None = None

    def write(self, data: bytes) -> None:
        """Writes one event. Raises `BrokenPipeError` where the reader has gone."""
        if self.lost is not None:
            return
        try:
            write_through(sys.stdout, data)
        except OSError as error:
            self.lost = error
            if isinstance(error, BrokenPipeError):
                raise


def _show(report: RaceReport, options: Mapping[str, Any]) -> None:
    from hydra.records.codec import dump, shaped
    from hydra.report.document import plan_document, result_document

    if options["events"]:
        return
    columns, color = cells(sys.stdout), use_color(sys.stdout)
    if report.result is not None:
        from hydra.commands.merge_candidates import of_race, with_candidates
        from hydra.ranking.model import EndedRace
        from hydra.report.race_end import race_end

        document = result_document(report.plan, report.result)
        race = shaped(document, EndedRace)
        verdict = with_candidates(of_race(race, report.result.verdict), report.plan.repository)
        text = race_end(race, verdict, width=columns, color=color)
    else:
        from hydra.report.dryrun import plan_text

        document = plan_document(report.plan, report.view)
        text = plan_text(report.plan, report.view, width=columns, color=color)
    if report.result is not None and not options["quiet"]:
        part()
    sys.stdout.write(dump(document) if options["as_json"] else text)
    sys.stdout.flush()

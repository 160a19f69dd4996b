"""`hydra race`: options to a request, a watcher to the terminal, the result to stdout."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hydra.cli.common import Command, edited, json_option, refuse, usage
from hydra.cli.options import flags, settings
from hydra.cli.streams import flush, looks, part, progress, say, show, watcher, write_through

if TYPE_CHECKING:
    from hydra.race.follower import RaceWatcher
    from hydra.race.run import RaceReport


_EXAMPLE = 'hydra race "what is to be done"'


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
            raise usage(
                f"there is no option {error.option_name.split()[0]}: does the task begin with it?",
                'put -- before the task: hydra race [OPTIONS] -- "-..."',
            ) from error
        except click.UsageError as error:
            if not error.format_message().startswith("Got unexpected extra argument"):
                raise
            raise usage(
                "the task is one argument, and there are several",
                f"put it in quotes: {_EXAMPLE}",
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
@settings("race.agents")
@click.option("--base", default="HEAD", metavar="REF", help="Race from this commit, not HEAD.")
@settings("race.include_dirty", "race.copy", "race.share", "race.check")
@click.option("--no-check", is_flag=True, help="Run no checks, not even guessed ones.")
@settings(
    *("judge.trial_runs", "race.setup", "limits.total", "limits.idle", "retry.times"),
    *("race.max_parallel", "race.permission", "race.effort", "race.unsafe_full_access"),
    *("race.network", "race.allow_filter", "race.allow_experimental_adapters", "race.keep"),
)
@click.option("--dry-run", is_flag=True, help="Show what would run; start nothing.")
@click.option("--events", is_flag=True, help="Print each event as a line of JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing until the end.")
@json_option
def command(**options: Any) -> int:
    """Give one TASK to several agents, each on a copy of its own.

    TASK is a sentence, "-" for standard input, or left out for your $EDITOR. Each agent has a
    lane: a copy of the checkout with its dependencies. What it changes there becomes a patch;
    your checkout, branches and dependencies stay as they are.
    """
    _check_outputs(options)
    prompt = _prompt(options["task"], options["file"])
    tell = progress(options)
    tell(_first_look(options))  # before the imports, which take seconds on a busy machine
    from hydra.race.preflight import RaceRequest
    from hydra.race.start import start

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
        return report.exit_code
    if report.hint and not (options["quiet"] or options["as_json"] or options["events"]):
        say(report.hint)
    return report.exit_code


def _first_look(options: Mapping[str, Any]) -> str:
    """What a race waits for first, as far as the command line says it."""
    from hydra.text import joined

    agents = joined(options["agent"]) if options["agent"] else "which agents are ready"
    tests = "whether your checks start" if options["check"] else "how your tests run"
    more = "" if options["no_check"] else f", and at {tests}"
    return f"looking at your repository, at {agents}{more}"


def _check_outputs(options: Mapping[str, Any]) -> None:
    events = options["events"]
    refuse(
        (
            events and options["as_json"],
            "--events and --json both go to standard output: give one",
            "with --events, the document is in the run's folder: "
            'cat "$(hydra runs path)/result.json"',
        ),
        (
            options["no_check"] and options["check"],
            "--check and --no-check were both given",
            "give one of them",
        ),
        (
            events and options["dry_run"],
            "a dry run has no events",
            "--dry-run --json prints what would be run",
        ),
        (
            options["file"] is not None and options["task"] is not None,
            "TASK and --file were both given",
            "give one of them",
        ),
    )


def _prompt(task: str | None, file: Path | None) -> str:
    if file is None and task != "-":
        return _edited() if task is None else task
    named = file if file is not None and str(file) != "-" else None
    try:
        data = named.read_bytes() if named else sys.stdin.buffer.read()
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"the task from {named or 'standard input'} is not text: {error.reason}"
        raise usage(message, "give UTF-8 text") from error
    except OSError as error:
        message = f"{named or 'standard input'} cannot be read: {error.strerror}"
        raise usage(message, "name a file with the task in it") from error


def _edited() -> str:
    terminal = sys.stdin.isatty() and sys.stderr.isatty()
    refuse((not terminal, "no task was given", _EXAMPLE))
    hint = "\n# The task, in your own words. Lines that start with # are left out.\n"
    return edited(hint, "a task", f"write it here: {_EXAMPLE}", extension=".md")


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
    from hydra.report.document import plan_document

    if options["events"]:
        return
    if report.result is not None:
        from hydra.race.candidates import of_race, with_candidates
        from hydra.ranking.model import EndedRace
        from hydra.records.codec import shaped
        from hydra.report.race_end import race_end

        document = report.result.document(report.plan)
        race = shaped(document, EndedRace)
        verdict = with_candidates(of_race(race, report.result.verdict), report.plan.repository)
        text = race_end(race, verdict, **looks())
        if not options["quiet"]:
            part()
    else:
        from hydra.report.dryrun import plan_text

        document = plan_document(report.plan, report.view)
        text = plan_text(report.plan, report.view, **looks())
    if options["as_json"]:
        show(document)
    else:
        show(text)
    flush()

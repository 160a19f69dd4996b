"""`hydra race`: options to a request, a watcher to the terminal, the result to stdout."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hydra.cli.common import DURATION, Command, is_terminal, json_option, use_color
from hydra.cli.display import cells, part, watcher
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
@click.option(
    "-a",
    "--agent",
    "agents",
    multiple=True,
    metavar="AGENT",
    help="Who races: claude, codex:MODEL, 2xclaude ... (repeatable). Default: claude and codex,"
    " where they are ready.",
)
@click.option("--base", default="HEAD", metavar="REF", help="Race from this commit, not HEAD.")
@click.option("--include-dirty", is_flag=True, default=None, help="Take uncommitted changes along.")
@click.option(
    "--copy", "copies", multiple=True, metavar="PATH", help="Copy this ignored file, such as .env."
)
@click.option(
    "--share",
    multiple=True,
    metavar="FOLDER",
    help="Show this ignored folder, copy-on-write, as .venv and node_modules are.",
)
@click.option(
    "--check",
    "checks",
    multiple=True,
    metavar="CMD",
    help="Run this on each patch (repeatable; NAME=CMD names it). Default: the tests that "
    "Hydra finds, which it names; --no-check: none.",
)
@click.option("--no-check", is_flag=True, help="Run no checks, not even guessed ones.")
@click.option(
    "--trial-runs",
    type=click.IntRange(0, 10_000),
    metavar="N",
    help="Run patches' new tests on each other in at most N runs (40).",
)
@click.option(
    "--setup", "setup", multiple=True, metavar="CMD", help='Run this first, such as "npm ci".'
)
@click.option(
    "--timeout", "total", type=DURATION, metavar="TIME", help="Stop an agent after so long (60m)."
)
@click.option(
    "--idle-timeout",
    "idle",
    type=DURATION,
    metavar="TIME",
    help="Stop an agent that makes no progress for so long (10m).",
)
@click.option(
    "--retry",
    type=click.IntRange(0, 10),
    metavar="N",
    help="Try again after a failure of the agent's service (0).",
)
@click.option("--max-parallel", type=click.IntRange(1, 64), metavar="N", help="Agents at once (4).")
@click.option(
    "--permission",
    type=click.Choice(["plan", "edit", "full-auto", "default", "config"]),
    metavar="LEVEL",
    help="What agents may do unasked: plan, edit, full-auto; default and config: as the agent has"
    " it. Default: full-auto where they are confined.",
)
@click.option(
    "--effort",
    type=click.Choice(["low", "medium", "high", "max"]),
    metavar="LEVEL",
    help="How hard the models think: low, medium, high, max; of one agent: AGENT@high.",
)
@click.option("--unsafe-full-access", is_flag=True, help="Confine nothing: the whole machine.")
@click.option(
    "--network/--no-network", default=None, help="Whether the agents' commands have a network."
)
@click.option(
    "--allow-filter",
    "filters",
    multiple=True,
    metavar="NAME",
    help="Race although git would run this filter (.gitattributes).",
)
@click.option(
    "--allow-experimental-adapters",
    "experimental",
    is_flag=True,
    help="Let experimental agents run (`hydra agents` lists them).",
)
@click.option(
    "--keep",
    type=click.Choice(["all", "failed", "none"]),
    help="Whose folders to keep as they are (failed). Patches are always kept.",
)
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
    tells = is_terminal(sys.stderr) and not options["quiet"]
    if tells:  # before the imports, which take seconds on a busy machine
        _tell("looking at your repository and for agents that are ready")
    from hydra.commands.race_start import start
    from hydra.race.preflight import RaceRequest, silent

    request = RaceRequest(
        prompt=_prompt(options["task"], options["file"]),
        base=options["base"],
        flags=_flags(options),
        dry_run=options["dry_run"],
        no_check=options["no_check"],
        tell=_tell if tells else silent,
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


def _tell(text: str) -> None:
    click.echo(text, err=True)


def _check_outputs(options: Mapping[str, Any]) -> None:
    from hydra.errors import UsageError

    if options["events"] and options["as_json"]:
        raise UsageError(
            "--events and --json both go to standard output: give one",
            hint="with --events, the document is in the run's folder: "
            'cat "$(hydra runs path)/result.json"',
        )
    if options["no_check"] and options["checks"]:
        raise UsageError("--check and --no-check were both given", hint="give one of them")
    if options["events"] and options["dry_run"]:
        raise UsageError(
            "a dry run has no events", hint="--dry-run --json prints what would be run"
        )


def _flags(options: Mapping[str, Any]) -> dict[str, object]:
    return {
        "race.agents": options["agents"],
        "race.permission": options["permission"],
        "race.effort": options["effort"],
        "retry.times": options["retry"],
        "race.unsafe_full_access": options["unsafe_full_access"],
        "race.allow_experimental_adapters": options["experimental"],
        "race.network": options["network"],
        "race.max_parallel": options["max_parallel"],
        "race.keep": options["keep"],
        "race.include_dirty": options["include_dirty"],
        "race.copy": options["copies"],
        "race.share": options["share"],
        "race.setup": options["setup"],
        "race.check": options["checks"],
        "judge.trial_runs": options["trial_runs"],
        "race.allow_filter": options["filters"],
        "limits.idle": options["idle"],
        "limits.total": options["total"],
    }


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
    from hydra.records.codec import dump
    from hydra.report.document import plan_document, result_document

    if options["events"]:
        return
    columns, color = cells(sys.stdout), use_color(sys.stdout)
    if report.result is not None:
        from hydra.commands.merge_candidates import with_candidates
        from hydra.report.race_end import race_end

        document = result_document(report.plan, report.result)
        text = race_end(
            with_candidates(document, report.plan.repository), width=columns, color=color
        )
    else:
        from hydra.report.dryrun import plan_text

        document = plan_document(report.plan, report.view)
        text = plan_text(report.plan, report.view, width=columns, color=color)
    if report.result is not None and not options["quiet"]:
        part()
    sys.stdout.write(dump(document) if options["as_json"] else text)
    sys.stdout.flush()

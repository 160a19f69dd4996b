"""`hydra conformance`: is what Hydra takes for true of each agent CLI still so?"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hydra.cli.common import (
    Command,
    is_terminal,
    json_option,
    require_race_platform,
    terminal_width,
    use_color,
)
from hydra.cli.display import cells, lines_width

if TYPE_CHECKING:
    from hydra.conformance.command.request import ConformanceRequest
    from hydra.conformance.report.progress import Progress

_FACTS = {"listing": "--list", "matrix": "--matrix", "promotion": "--promotion"}
_OF_LIVE = {"situations": "--situation", "keep": "--keep", "jobs": "--jobs"}


def _names_of(module: str, function: str) -> Callable[..., Any]:
    """What a shell completes: the names that a function gives, loaded when they are asked for."""

    def complete(_context: object, _option: object, begun: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        texts = getattr(import_module(f"hydra.conformance.{module}"), function)()
        return [CompletionItem(text) for text in texts if text.startswith(begun)]

    return complete


@click.command(
    cls=Command,
    common=(
        *("--live", "--situation", "--adapter", "--drift", "--record", "--list", "--matrix"),
        *("--junit", "--markdown", "--json"),
    ),
    examples=(
        "hydra conformance",
        "hydra conformance --live",
        "hydra conformance --live --situation edit claude",
        "hydra conformance --adapter my_pkg:ADAPTER",
        "hydra conformance --drift claude@2.1.197",
        "hydra conformance --live --drift recorded --markdown --junit conformance.xml",
    ),
)
@click.argument(
    "agents", nargs=-1, metavar="[AGENT...]", shell_complete=_names_of("command.subjects", "keys")
)
@click.option(
    "--adapter",
    "adapters",
    multiple=True,
    metavar="MODULE:NAME",
    help="A third party's adapter (repeatable).",
)
@click.option(
    "--case",
    "cases",
    multiple=True,
    metavar="NAME",
    shell_complete=_names_of("contract.suite", "names"),
    help="Only this case of the contract (repeatable).",
)
@click.option("--live", is_flag=True, help="Run the installed CLIs too, without an account.")
@click.option(
    "--situation",
    "situations",
    multiple=True,
    metavar="NAME",
    shell_complete=_names_of("live.situation", "names"),
    help="With --live: only this situation, no contract (repeatable).",
)
@click.option("--jobs", type=click.IntRange(1, 16), help="With --live: situations at once (2).")
@click.option("--keep", is_flag=True, help="With --live: keep the scratch folder, to look at.")
@click.option(
    "--drift",
    metavar="OLD",
    shell_complete=_names_of("command.drift", "version_words"),
    help='Name what changed since OLD: a version, a folder, a program, or "recorded".',
)
@click.option("--record", is_flag=True, help="Write what the installed CLIs said to --fixtures.")
@click.option(
    "--fixtures",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where recordings lie. Default: those that come with the adapter.",
)
@click.option("--list", "listing", is_flag=True, help="Name the cases and the situations.")
@click.option("--matrix", is_flag=True, help="What is proved of each agent, from the records.")
@click.option("--promotion", is_flag=True, help="What each agent lacks for the next stage.")
@click.option("--markdown", is_flag=True, help="Print Markdown, for a CI job's summary.")
@click.option(
    "--junit",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write JUnit XML as well.",
)
@json_option
def command(**options: Any) -> None:
    """Prove each agent's adapter, offline or against the real CLI.

    Exit 0: all as expected; 1: a case failed, something changed that Hydra minds, or a CLI sought
    the network; 4: --live, and an agent is not installed. docs/reference/conformance.md tells more.
    """
    _check(options)
    if options["live"]:
        require_race_platform()
    if named := [name for name in _FACTS if options[name]]:
        _show_facts(named[0], options)
        return
    from hydra.conformance.command.report import conformance

    progress = _progress()
    try:
        done = conformance(_request(options), progress)
    finally:
        progress.close()
    document = done.document()
    _show(document, options)
    sys.stdout.flush()
    sys.exit(_write_junit(document, options["junit"]) or document["exit_code"])


def _check(options: dict[str, Any]) -> None:
    """Raises `UsageError` for options that do not go together."""
    from hydra.errors import UsageError

    if options["as_json"] and options["markdown"]:
        raise UsageError("--json and --markdown both go to standard output", hint="give one")
    facts = [term for name, term in _FACTS.items() if options[name]]
    if len(facts) > 1:
        raise UsageError(f"{' and '.join(facts)} were both given", hint="give one")
    if options["drift"] == "":  # an empty variable in CI is no wish to compare nothing
        raise UsageError("--drift names nothing", hint="`hydra conformance --drift recorded`")
    _check_live(options, facts[0] if facts else "")
    fixtures = options["fixtures"]
    if fixtures is not None and not options["record"] and not fixtures.is_dir():
        raise UsageError(
            f"--fixtures: there is no folder {fixtures}", hint="--live --record makes one"
        )
    junit = options["junit"]
    if junit is not None and not junit.absolute().parent.is_dir():
        raise UsageError(
            f"--junit: there is no folder {junit.parent}", hint=f"mkdir -p {junit.parent}"
        )


def _check_live(options: dict[str, Any], fact: str) -> None:
    from hydra.errors import UsageError

    runs = ("live", "record", "cases", "drift", "junit")
    if fact and (named := [f"--{n.rstrip('s')}" for n in runs if options[n]]):
        raise UsageError(f"{fact} takes no {named[0]}", hint="give one of them")
    of_live = [term for name, term in _OF_LIVE.items() if options[name]]
    if of_live and not options["live"]:
        raise UsageError(
            f"{of_live[0]} is of --live, which was not given",
            hint="`hydra conformance --live --help` has examples",
        )
    if options["cases"] and options["situations"]:
        raise UsageError(
            "--situation runs no contract, and --case was given", hint="give one of them"
        )


def _request(options: dict[str, Any]) -> ConformanceRequest:
    from hydra.conformance.command.request import ConformanceRequest

    return ConformanceRequest(
        agents=options["agents"],
        adapters=options["adapters"],
        fixtures=options["fixtures"],
        cases=options["cases"],
        live=options["live"],
        situations=options["situations"],
        jobs=options["jobs"] or 2,
        drift=options["drift"] or "",
        record=options["record"],
        keep=options["keep"],
    )


def _progress() -> Progress:
    import os

    from hydra.conformance.report.progress import Progress
    from hydra.report.style import wants_live

    def write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    live = wants_live(os.environ, is_terminal(sys.stderr))
    return Progress(write, (lambda: terminal_width(sys.stderr)) if live else None)


def _write_junit(document: dict[str, Any], file: Path | None) -> int:
    """What it must exit with, 0 where all is well. The report is out already: only a file that
    cannot be written is not to cost a run of minutes."""
    from hydra.conformance.command.facts import write_junit
    from hydra.errors import Refused
    from hydra.report.text import error_text

    if file is not None:
        try:
            write_junit(file, document)
        except Refused as error:
            width = lines_width(sys.stderr)
            sys.stderr.write(error_text(error, color=use_color(sys.stderr), width=width))
            return error.exit_code
    return 0


def _show(document: dict[str, Any], options: dict[str, Any]) -> None:
    if options["as_json"]:
        from hydra.records.codec import dump

        sys.stdout.write(dump(document))
    elif options["markdown"]:
        from hydra.conformance.report.markdown import conformance_markdown

        sys.stdout.write(conformance_markdown(document))
    else:
        from hydra.conformance.report.terminal import conformance_text

        columns, color = cells(sys.stdout), use_color(sys.stdout)
        sys.stdout.write(conformance_text(document, width=columns, color=color))


def _show_facts(name: str, options: dict[str, Any]) -> None:
    """`--list`, `--matrix` or `--promotion`."""
    from hydra.conformance.command import facts
    from hydra.records.codec import dump

    progress = _progress()
    try:
        table = facts.facts(name, _request(options), progress)
    finally:
        progress.close()
    if options["as_json"]:
        sys.stdout.write(dump(table.document))
    elif options["markdown"]:
        sys.stdout.write(table.markdown)
    else:
        sys.stdout.write(table.text(cells(sys.stdout), use_color(sys.stdout)))

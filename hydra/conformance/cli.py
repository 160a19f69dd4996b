"""`hydra conformance`: is what Hydra takes for true of each agent CLI still so?"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hydra.cli.common import Command, json_option, require_race_platform
from hydra.cli.streams import cells, is_terminal, lines_width, note, terminal_width, use_color

if TYPE_CHECKING:
    from hydra.conformance.command import ConformanceRequest
    from hydra.conformance.listing import Names
    from hydra.conformance.matrix import Matrix
    from hydra.conformance.promotion import Promotions
    from hydra.conformance.report import Progress
    from hydra.conformance.results import Report

_FACTS = {"listing": "--list", "matrix": "--matrix", "promotion": "--promotion"}
_OF_LIVE = {"situations": "--situation", "keep": "--keep", "jobs": "--jobs"}
_RUNS = ("live", "record", "cases", "drift", "junit")


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
    "agents", nargs=-1, metavar="[AGENT...]", shell_complete=_names_of("selection", "keys")
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
    shell_complete=_names_of("selection", "version_words"),
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
    from hydra.conformance.command import conformance

    progress = _progress()
    try:
        if _facts(options):
            _show_facts(options, progress)
            return
        report = conformance(_request(options), progress)
    finally:
        progress.close()
    _show_report(report, options)
    sys.stdout.flush()
    sys.exit(_write_junit(report, options["junit"]) or report.exit_code)


def _facts(options: dict[str, Any]) -> list[str]:
    """Which of `--list`, `--matrix` and `--promotion` were given."""
    return [name for name in _FACTS if options[name]]


def _check(options: dict[str, Any]) -> None:
    """Raises `UsageError` for options that do not go together."""
    for message, hint in _refusals(options):
        from hydra.errors import UsageError

        raise UsageError(message, hint=hint)


def _refusals(options: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Each with its next step."""
    if options["as_json"] and options["markdown"]:
        yield "--json and --markdown both go to standard output", "give one"
    facts = [_FACTS[name] for name in _facts(options)]
    if len(facts) > 1:
        yield f"{' and '.join(facts)} were both given", "give one"
    if options["drift"] == "":  # an empty variable in CI is no wish to compare nothing
        yield "--drift names nothing", "`hydra conformance --drift recorded`"
    for name in _RUNS:
        if facts and options[name]:
            yield f"{facts[0]} takes no --{name.rstrip('s')}", "give one of them"
    for name, term in _OF_LIVE.items():
        if options[name] and not options["live"]:
            hint = "`hydra conformance --live --help` has examples"
            yield f"{term} is of --live, which was not given", hint
    if options["cases"] and options["situations"]:
        yield "--situation runs no contract, and --case was given", "give one of them"
    fixtures, junit = options["fixtures"], options["junit"]
    if fixtures is not None and not options["record"] and not fixtures.is_dir():
        yield f"--fixtures: there is no folder {fixtures}", "--live --record makes one"
    if junit is not None and not junit.absolute().parent.is_dir():
        yield f"--junit: there is no folder {junit.parent}", f"mkdir -p {junit.parent}"


def _request(options: dict[str, Any]) -> ConformanceRequest:
    from hydra.conformance.command import ConformanceRequest

    values = {name: options[name] for name in ConformanceRequest.__struct_fields__[:-1]}
    unset = {"jobs": options["jobs"] or 2, "drift": options["drift"] or ""}
    return ConformanceRequest(**values | unset)


def _progress() -> Progress:
    import os

    from hydra.conformance.report import Progress
    from hydra.report.style import wants_live

    live = wants_live(os.environ, is_terminal(sys.stderr))
    return Progress(note, (lambda: terminal_width(sys.stderr)) if live else None)


def _write_junit(report: Report, file: Path | None) -> int:
    """What it must exit with, 0 where all is well. The report is out already: only a file that
    cannot be written is not to cost a run of minutes."""
    if file is None:
        return 0
    from hydra.conformance.report_markup import conformance_junit
    from hydra.errors import Refused
    from hydra.report.text import error_text

    try:
        file.write_bytes(conformance_junit(report))
    except OSError as error:
        refused = Refused(
            f"{file} cannot be written: {error.strerror}", hint="name another file: --junit FILE"
        )
        width = lines_width(sys.stderr)
        sys.stderr.write(error_text(refused, color=use_color(sys.stderr), width=width))
        return refused.exit_code
    return 0


def _show_report(report: Report, options: dict[str, Any]) -> None:
    from hydra.conformance.report import conformance_text
    from hydra.conformance.report_markup import conformance_markdown

    _show(
        options,
        report.document,
        lambda: conformance_markdown(report),
        lambda width, color: conformance_text(report, width, color),
    )


def _show_facts(options: dict[str, Any], progress: Progress) -> None:
    """`--list`, `--matrix` or `--promotion`; only the last takes its time: it runs the contract."""
    from hydra.conformance.command import contract_cases
    from hydra.conformance.selection import chosen

    agents, specs = options["agents"], options["adapters"]
    request = _request(options)
    subjects, _ = chosen(agents, specs, request.fixtures, request.environ)
    table: Names | Matrix | Promotions
    if options["listing"]:
        from hydra.conformance.listing import names

        table = names(subjects)
    elif options["matrix"]:
        from hydra.conformance.matrix import matrix

        table = matrix(subjects, all=bool(agents or specs))
    else:
        from hydra.conformance.promotion import promotion

        table = promotion(subjects, contract_cases((), subjects, progress))
    _show(options, table.document, table.markdown, table.text)


def _show(
    options: dict[str, Any],
    document: Callable[[], dict[str, Any]],
    markdown: Callable[[], str],
    text: Callable[[int | None, bool], str],
) -> None:
    if options["as_json"]:
        from hydra.records.codec import dump

        sys.stdout.write(dump(document()))
    elif options["markdown"]:
        sys.stdout.write(markdown())
    else:
        sys.stdout.write(text(cells(sys.stdout), use_color(sys.stdout)))

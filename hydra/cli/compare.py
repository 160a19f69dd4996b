"""`hydra compare`: the verdict on a race, as a table, a document, a comment or a page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from hydra.cli import review
from hydra.cli.common import Command, json_option, run_option, use_color
from hydra.cli.display import cells

if TYPE_CHECKING:
    from hydra.commands.compare import JudgedRun
    from hydra.ranking.model import Verdict

_NO_PATH = "\0"
"""`--html` without a FILE: no file can be called that."""


@click.command(
    cls=Command,
    common=("--html", "--open", "--markdown", "--review", "--separate", "--run", "--json"),
    examples=(
        "hydra compare",
        "hydra compare codex",
        "hydra compare --html --open",
        "hydra compare --markdown > comment.md && gh pr comment --body-file comment.md",
        "hydra compare -r @-1 --json | jq -r .top",
        "hydra compare --review claude --separate codex",
    ),
)
@click.argument("lanes", nargs=-1, metavar="[LANE...]")
@click.option("--markdown", is_flag=True, help="A comment for a pull request.")
@click.option(
    "--html",
    is_flag=False,
    flag_value=_NO_PATH,
    metavar="[FILE]",
    help="Write one page (default: beside the race's records; - is stdout).",
)
@click.option("--open", "opens", is_flag=True, help="Show the page of --html in your browser.")
@review.options
@run_option
@json_option
def command(lanes: tuple[str, ...], **options: Any) -> None:
    """Rank the lanes of a race: which patch, why, and how sure.

    Exit 0: a lane is proved, or no check ran and the only lane may land; 1: none is. With LANE,
    only these are told of in full, and the exit code is theirs; ranks are those of all.
    """
    from hydra.commands.compare import CompareRequest, compare

    _check_outputs(options)
    if stopped := review.consult(options):
        sys.exit(stopped)
    html = options["html"]
    request = CompareRequest(run=options["run"], lanes=lanes)
    done = compare(request)
    if html is not None and done.verdict.lane(html):
        # `--html claude`: a lane, for whoever does not write ./claude.
        done, html = compare(_with_lane(request, html)), _NO_PATH
    _show(done, html, options)
    sys.stdout.flush()
    sys.exit(done.exit_code)


def _check_outputs(options: dict[str, Any]) -> None:
    from hydra.errors import UsageError

    named = [f"--{name.removeprefix('as_')}" for name in ("as_json", "markdown") if options[name]]
    named += ["--html -"] if options["html"] == "-" else []
    if len(named) > 1:
        raise UsageError(f"{' and '.join(named)} both go to standard output", hint="give one")
    if options["opens"] and options["html"] in (None, "-"):
        raise UsageError("--open shows the page of --html", hint="hydra compare --html --open")
    if options["html"] == "":
        raise UsageError("--html has no name", hint="--html verdict.html")


def _with_lane(request: Any, lane: str) -> Any:
    from msgspec.structs import replace

    return replace(request, lanes=(*request.lanes, lane))


def _show(done: JudgedRun, html: str | None, options: dict[str, Any]) -> None:
    from hydra.records.codec import dump

    if html == "-":
        from hydra.commands.compare import page_of

        sys.stdout.buffer.write(page_of(done))
        return
    page = None if html is None else _write(done, html)
    if options["as_json"]:
        sys.stdout.write(dump(done.document()))
    elif options["markdown"]:
        from hydra.report.markdown import comment

        sys.stdout.write(comment(_candidates(done), lanes=done.lanes))
    elif page is None:
        sys.stdout.write(_text(done))
    if page is not None:
        _tell(page, sys.stderr if options["as_json"] or options["markdown"] else sys.stdout)
        sys.stdout.flush()
        if options["opens"]:
            _open(page)


def _text(done: JudgedRun) -> str:
    from hydra.report.compare import compare_text

    return compare_text(
        _candidates(done), lanes=done.lanes, width=cells(sys.stdout), color=use_color(sys.stdout)
    )


def _candidates(done: JudgedRun) -> Verdict:
    from hydra.commands.merge_candidates import with_candidates

    return with_candidates(done.verdict, done.root, done.record)


def _write(done: JudgedRun, html: str) -> Path:
    from hydra.commands.compare import write_page

    return write_page(done, None if html == _NO_PATH else Path(html))


def _tell(page: Path, stream: TextIO) -> None:
    """Where it is, so that `$(hydra compare --html)` is its name."""
    from hydra.report.text import clean

    stream.write(f"{clean(str(page))}\n")


def _open(page: Path) -> None:
    from hydra.commands.compare import open_page

    if not open_page(page):
        sys.stderr.write("hydra: no browser could be opened: open that file yourself\n")

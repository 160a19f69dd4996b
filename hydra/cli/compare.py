"""`hydra compare`: the verdict on a race, as a table, a document, a comment or a page; what asks an
agent of it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hydra.cli.common import (
    DURATION,
    Command,
    json_option,
    refuse,
    require_race_platform,
    run_option,
)
from hydra.cli.display import experimental_option, looks, print_json, say

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
@click.option(
    "--review",
    metavar="AGENT",
    help="Ask this agent what is to be known of the patches; it changes no rank.",
)
@click.option(
    "--separate",
    metavar="AGENT",
    help="Ask this agent for tests that tell the patches apart, and run them.",
)
@click.option("--budget", type=DURATION, help="The longest that each of the two may take (5m).")
@experimental_option("Let an experimental agent be asked.")
@run_option
@json_option
def command(lanes: tuple[str, ...], **options: Any) -> None:
    """Rank the lanes of a race: which patch, why, and how sure.

    Exit 0: a lane is proved, or no check ran and the only lane may land; 1: none is. With LANE,
    only these are told of in full, and the exit code is theirs; ranks are those of all.
    """
    from hydra.commands.compare import compare

    _check_outputs(options)
    if stopped := _consult(options):
        sys.exit(stopped)
    html = options["html"]
    done = compare(options["run"], lanes)
    if html is not None and done.verdict.lane(html):
        # `--html claude`: a lane, for whoever does not write ./claude.
        done = compare(options["run"], (*lanes, html))
        html = _NO_PATH
    _show(done, html, options)
    sys.stdout.flush()
    sys.exit(done.exit_code)


def _check_outputs(options: Mapping[str, Any]) -> None:
    named = [f"--{name.removeprefix('as_')}" for name in ("as_json", "markdown") if options[name]]
    named += ["--html -"] if options["html"] == "-" else []
    asks = options["review"] is not None or options["separate"] is not None
    budget = "--budget" if options["budget"] else ""
    bound = budget or ("--allow-experimental-adapters" if options["experimental"] else "")
    refuse(
        (len(named) > 1, f"{' and '.join(named)} both go to standard output", "give one"),
        (
            options["opens"] and options["html"] in (None, "-"),
            "--open shows the page of --html",
            "hydra compare --html --open",
        ),
        (options["html"] == "", "--html has no name", "--html verdict.html"),
        (
            bound and not asks,
            f"{bound} is for --review and --separate",
            "name an agent: hydra compare --review claude",
        ),
    )


def _consult(options: Mapping[str, Any]) -> int:
    """Asks whom the options name; 0, or the exit code where it was interrupted."""
    names = [name for name in ("review", "separate") if options[name] is not None]
    if not names:
        return 0
    require_race_platform()
    from hydra.commands.review import discriminate, review
    from hydra.commands.review.reviewer import BUDGET, Asker

    ways = {"review": review.review, "separate": discriminate.separate}
    for name in names:
        asker = Asker(
            agent=options[name],
            budget=BUDGET if options["budget"] is None else options["budget"],
            experimental=options["experimental"],
            tell=say,
        )
        done = ways[name](asker, options["run"])
        for line in (*(f"warning: {warning}" for warning in done.warnings), done.says):
            if line:
                say(line)
        if done.interrupted:
            from hydra.errors import EXIT_INTERRUPTED, EXIT_TERMINATED

            return EXIT_INTERRUPTED if done.interrupted == 2 else EXIT_TERMINATED
    return 0


def _show(done: JudgedRun, html: str | None, options: Mapping[str, Any]) -> None:
    from hydra.commands.compare import open_page, page_of, write_page

    if html == "-":
        sys.stdout.buffer.write(page_of(done))
        return
    path = Path(html) if html and html != _NO_PATH else None
    page = None if html is None else write_page(done, path)
    if options["as_json"]:
        print_json(done.document())
    elif options["markdown"]:
        from hydra.report.markdown import comment

        sys.stdout.write(comment(_candidates(done), lanes=done.lanes))
    elif page is None:
        from hydra.report.compare import compare_text

        sys.stdout.write(compare_text(_candidates(done), lanes=done.lanes, **looks()))
    if page is None:
        return
    from hydra.report.text import clean

    # Where it is, so that `$(hydra compare --html)` is its name.
    stream = sys.stderr if options["as_json"] or options["markdown"] else sys.stdout
    stream.write(f"{clean(str(page))}\n")
    sys.stdout.flush()
    if options["opens"] and not open_page(page):
        say("no browser could be opened: open that file yourself")


def _candidates(done: JudgedRun) -> Verdict:
    from hydra.commands.merge_candidates import with_candidates

    return with_candidates(done.verdict, done.root, done.record)

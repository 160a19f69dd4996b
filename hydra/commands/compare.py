"""`hydra compare`: the verdict on a race, as a table, a document, a comment or a page; what asks an
agent of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hydra.cli.common import (
    DURATION,
    Command,
    experimental_option,
    json_option,
    refuse,
    require_race_platform,
    run_option,
)
from hydra.cli.streams import flush, looks, note, say, show

if TYPE_CHECKING:
    from hydra.ranking.model import Verdict
    from hydra.records.store.reader import RunRecord

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
def command(lanes: tuple[str, ...], **options: Any) -> int:
    """Rank the lanes of a race: which patch, why, and how sure.

    Exit 0: a lane is proved, or no check ran and the only lane may land; 1: none is. With LANE,
    only these are told of in full, and the exit code is theirs; ranks are those of all.
    """
    _check_outputs(options)
    if stopped := _consult(options):
        return stopped
    from msgspec.structs import replace

    from hydra.errors import EXIT_NO_USABLE_LANE, EXIT_OK
    from hydra.race.recovery import runs
    from hydra.race.verdict import judgement
    from hydra.records.store.files import shared

    place = runs.repository_runs()
    record, html = runs.find(place, options["run"]), options["html"]
    with shared(record.folder):
        runs.check_patches(record)
        reading = runs.read(record)
        verdict = judgement(reading, place.environ)
    for lane in lanes:
        runs.check_lane(reading, lane)
    if html is not None and verdict.lane(html):
        # `--html claude`: a lane, for whoever does not write ./claude.
        lanes, html = (*lanes, html), _NO_PATH
    lanes = tuple(dict.fromkeys(lanes))
    mine = [lane for lane in verdict.lanes if not lanes or lane.lane in lanes]
    code = EXIT_OK if any(map(verdict.lands, mine)) else EXIT_NO_USABLE_LANE
    document = replace(verdict, exit_code=code).document() if options["as_json"] else None
    if document is None or html is not None:
        from hydra.race.candidates import with_candidates

        verdict = with_candidates(verdict, place.repository.root, record)
    page = None if html is None else _page(record, verdict, html)
    if document is not None:
        show(document)
    elif options["markdown"]:
        from hydra.report.markdown import comment

        show(comment(verdict, lanes=lanes))
    elif html is None:
        from hydra.report.compare import compare_text

        show(compare_text(verdict, lanes=lanes, **looks()))
    if page is not None:
        _show_page(page, options)
    return code


def _page(record: RunRecord, verdict: Verdict, html: str) -> Path | None:
    """Where the page lies by now; None where it was printed."""
    from hydra.commands.html_page import page, write_page

    if html == "-":
        show(page(record, verdict))
        return None
    return write_page(record, verdict, None if html == _NO_PATH else Path(html))


def _show_page(page: Path, options: Mapping[str, Any]) -> None:
    """Where it is, so that `$(hydra compare --html)` is its name; and the page itself."""
    from hydra.report.text import clean

    (note if options["as_json"] or options["markdown"] else show)(f"{clean(str(page))}\n")
    flush()
    if not options["opens"]:
        return
    import webbrowser

    try:
        opened = webbrowser.open(page.as_uri())
    except (webbrowser.Error, OSError, ValueError):
        opened = False
    if not opened:
        say("no browser could be opened: open that file yourself")


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
    from hydra.commands.review.session import BUDGET, Asker

    ways = {"review": review.review, "separate": discriminate.separate}
    for name in names:
        asker = Asker(
            agent=options[name],
            budget=BUDGET if options["budget"] is None else options["budget"],
            experimental=options["experimental"],
            tell=say,
        )
        lines, interrupted = ways[name](asker, options["run"])
        for line in filter(None, lines):
            say(line)
        if interrupted:
            from hydra.errors import EXIT_INTERRUPTED, EXIT_TERMINATED

            return EXIT_INTERRUPTED if interrupted == 2 else EXIT_TERMINATED
    return 0

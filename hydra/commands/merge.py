"""`hydra merge`: lands a lane's patch, or parts of several, on the user's branch."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from hydra import executables
from hydra.cli.common import Command, edited, json_option, refuse, run_option
from hydra.cli.streams import is_terminal, note, progress, show, tell_check, use_color

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hydra.commands.merge_selection import MergeRequest
    from hydra.landing.picks import Pick
    from hydra.race.command_context import CommandContext
    from hydra.records.store.reader import RunRecord

_HINT = """
# The message of the commit. Lines that start with # are left out;
# without any other, nothing is landed.
"""


@click.command(
    cls=Command,
    common=(
        *("--branch", "--message", "--no-commit", "--pick", "--hunk", "--no-check"),
        *("--override", "--dry-run", "--undo", "--run"),
    ),
    examples=(
        "hydra merge                          # the top of the ranking",
        "hydra merge claude",
        "hydra merge --pick codex:src/a.py --pick claude:tests/",
        "hydra merge --hunk codex:1f3a9c --dry-run",
        'hydra merge claude --branch try-claude -m "Fix the pager"',
        "hydra merge --undo",
    ),
)
@click.argument("lane", required=False)
@click.option(
    "--pick", "picks", multiple=True, metavar="LANE:PATH", help="Only this file or folder of LANE."
)
@click.option(
    "--hunk",
    "hunks",
    multiple=True,
    metavar="LANE:ID",
    help="Only this part of a file (hydra diff LANE --hunks).",
)
@click.option(
    "--except",
    "without",
    multiple=True,
    metavar="PATH",
    help="All but this file or folder of a whole lane.",
)
@click.option("--branch", metavar="NAME", help="Land on a new branch of this name.")
@click.option("--no-commit", is_flag=True, help="Change and stage your files, commit nothing.")
@click.option("-m", "--message", metavar="TEXT", help="The commit's message.")
@click.option("--edit", is_flag=True, help="Edit the message first.")
@click.option("--no-check", is_flag=True, help="Do not run the checks on the result first.")
@click.option(
    "--override", metavar="REASON", help="Land it whatever is against it; the reason is kept."
)
@click.option("--dry-run", is_flag=True, help="Look and check as a landing would; touch nothing.")
@click.option("--undo", is_flag=True, help="Take the last landing back, if nothing has moved.")
@click.option(
    "--abort", is_flag=True, help="Undo a landing that was broken off; keep what changed since."
)
@run_option
@json_option
def command(lane: str | None, **options: Any) -> None:
    """Land LANE's patch, or picks of several, on your branch.

    Without LANE and picks: the first of the ranking (`hydra compare`), if it is proved; of a race
    of one lane in which no check ran (--no-check), that lane. An untested patch lands by its name,
    one that is broken or held back only with --override. Where one demands of a test what no other
    patch does, you are asked first.

    Nothing is touched that you have changed, staged, ignored or not yet added: where a patch would
    touch it, it is refused and every path is named.
    """
    _refuse_mixtures(lane, options)
    if not (options["abort"] or options["undo"]):
        progress(options)("looking at the race and at your branch")
    environ, as_json = executables.users_environment(), options["as_json"]
    if options["abort"]:
        show(_abort(environ, as_json=as_json))
        return
    from hydra.report.landing import landed_text

    if options["undo"]:
        from hydra.commands.merge_undo import undo

        landing = undo(environ, options["run"])
    else:
        from hydra.commands.merge_landing import merge

        landing = merge(_request(lane or "", options))
    show(landing.document() if as_json else landed_text(landing, color=use_color(sys.stdout)))


_NOT_ALONE = ("picks", "hunks", "without", "branch", "no_commit", "message", "edit", "no_check")


def _refuse_mixtures(lane: str | None, options: Mapping[str, Any]) -> None:
    more = lane or any(options[name] for name in (*_NOT_ALONE, "dry_run"))
    more = more or options["override"] is not None
    message = options["message"]
    refuse(
        (options["undo"] and more, "--undo takes nothing else", "hydra merge --undo"),
        (
            options["abort"] and (more or options["run"]),
            "--abort takes nothing else",
            "hydra merge --abort",
        ),
        (
            options["undo"] and options["abort"],
            "--undo and --abort exclude each other",
            "`hydra merge --help`",
        ),
        (options["branch"] == "", "--branch has no name", "--branch my-branch"),
        (
            message is not None and not message.strip(),
            "-m has no message",
            "leave it out for the task's own words",
        ),
        (
            options["branch"] and options["no_commit"],
            "--branch and --no-commit exclude each other",
            "leave one out",
        ),
        (
            options["no_commit"] and (message or options["edit"]),
            "--no-commit has no message",
            "leave -m and --edit out",
        ),
    )


def _request(lane: str, options: Mapping[str, Any]) -> MergeRequest:
    from hydra.commands.merge_selection import MergeRequest
    from hydra.landing.picks import Pick, read_pick
    from hydra.race.recovery import runs
    from hydra.report.text import gist

    place = runs.repository_runs() if options["picks"] or options["without"] else None
    # A dry run asks nothing, so it needs nobody at the terminal.
    person = is_terminal(sys.stdin) and is_terminal(sys.stderr)
    picks = [_placed(place, *read_pick(text, "--pick")) for text in options["picks"]]
    for text in options["hunks"]:
        named, part = read_pick(text, "--hunk")
        picks.append(Pick(named, hunk=part))
    return MergeRequest(
        run=options["run"],
        lane=lane,
        picks=tuple(picks),
        without=tuple(_placed(place, "", path, without=True) for path in options["without"]),
        branch=options["branch"] or "",
        commit=not options["no_commit"],
        dry_run=options["dry_run"],
        message=options["message"],
        edit=_edit if options["edit"] else None,
        check=None if options["no_check"] else _check,
        override=options["override"],
        warn=lambda sentence: note(f"warning: {gist(sentence)}\n"),
        tell=progress(options),
        confirm=partial(_ask, options["dry_run"]) if options["dry_run"] or person else None,
    )


def _placed(place: CommandContext | None, lane: str, path: str, *, without: bool = False) -> Pick:
    from hydra.landing.picks import Pick
    from hydra.race.recovery import runs

    assert place is not None
    top = runs.from_top(place, [path])
    meant = path.startswith(("/", "./", "../")) or path in (".", "..")
    other = "" if meant else os.path.normpath(path)
    return Pick(lane, path=top[0] if top else "", other=other, without=without)


def _ask(dry_run: bool, sentence: str) -> bool:
    from hydra.report.text import gist

    question = f"{gist(sentence, 600)}. Land it?"
    if dry_run:
        note(f"it would ask: {question} [y/N]\n")
        return True
    try:
        return click.confirm(question, prompt_suffix=" ", err=True)
    except click.Abort:  # Ctrl-C, or no answer will come
        note("\nnothing was landed\n")
        raise


def _check(record: RunRecord, commit: str) -> Mapping[str, Any]:
    """Runs the race's checks on what is to be landed; a line each on stderr."""
    from hydra.commands.check_round import check_commit

    return check_commit(record, commit, tell=tell_check)


def _edit(text: str, editor: str) -> str:
    way = "give the message: -m"
    return edited(text + _HINT, "a message", way, editor=editor, extension=".txt") + "\n"


def _abort(environ: Mapping[str, str], *, as_json: bool) -> Mapping[str, object] | str:
    from hydra.commands.merge_undo import abort
    from hydra.report.text import clean

    folder, changed = abort(environ)
    text = None if folder is None else str(folder)
    if as_json:
        return {"schema": 1, "kind": "abort", "kept": text, "left": list(changed)}
    lines = ["the landing is undone", *(f"left as it is now: {clean(path)}" for path in changed)]
    lines += [f"what these were before is in {clean(text)}"] if text else []
    return "".join(f"{line}\n" for line in lines)

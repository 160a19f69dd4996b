"""`hydra merge`: lands a lane's patch, or parts of several, on the user's branch."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from hydra.cli.common import Command, is_terminal, json_option, run_option, use_color
from hydra.cli.display import progress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hydra.commands.merge import Landing
    from hydra.commands.merge_selection import Confirm, MergeRequest
    from hydra.landing.picks import Pick
    from hydra.race.command_context import CommandContext
    from hydra.records.store.reader import RunRecord

_ALONE = ("undo", "abort")

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
    from hydra.commands import merge, merge_undo

    if options["abort"]:
        _abort(options)
    elif options["undo"]:
        _show_undone(merge_undo.undo(_environ(), options["run"]), options)
    else:
        _show(merge.merge(_request(lane or "", options)), options)


def _refuse_mixtures(lane: str | None, options: dict[str, Any]) -> None:
    from hydra.errors import UsageError

    others = (
        "picks",
        "hunks",
        "without",
        "branch",
        "no_commit",
        "message",
        "edit",
        "no_check",
        "dry_run",
    )
    for name in _ALONE:
        is_set = any(options[other] for other in others) or options["override"] is not None
        is_set = is_set or (name == "abort" and bool(options["run"]))
        if options[name] and (lane or is_set):
            raise UsageError(f"--{name} takes nothing else", hint=f"hydra merge --{name}")
    if options["undo"] and options["abort"]:
        raise UsageError("--undo and --abort exclude each other", hint="`hydra merge --help`")
    if options["branch"] == "":
        raise UsageError("--branch has no name", hint="--branch my-branch")
    if options["message"] is not None and not options["message"].strip():
        raise UsageError("-m has no message", hint="leave it out for the task's own words")
    if options["branch"] and options["no_commit"]:
        raise UsageError("--branch and --no-commit exclude each other", hint="leave one out")
    if options["no_commit"] and (options["message"] or options["edit"]):
        raise UsageError("--no-commit has no message", hint="leave -m and --edit out")


def _request(lane: str, options: dict[str, Any]) -> MergeRequest:
    from hydra.commands.merge_selection import MergeRequest
    from hydra.landing.picks import Pick, read_pick
    from hydra.race.recovery import runs

    place = runs.repository_runs() if options["picks"] or options["without"] else None
    picks = []
    for text in options["picks"]:
        named, path = read_pick(text, "--pick")
        picks.append(_placed(place, named, path))
    without = [_placed(place, "", path, without=True) for path in options["without"]]
    picks += [
        Pick(*read_pick(text, "--hunk")[:1], hunk=read_pick(text, "--hunk")[1])
        for text in options["hunks"]
    ]
    return MergeRequest(
        run=options["run"],
        lane=lane,
        picks=tuple(picks),
        without=tuple(without),
        branch=options["branch"] or "",
        commit=not options["no_commit"],
        dry_run=options["dry_run"],
        message=options["message"],
        edit=_edit if options["edit"] else None,
        check=None if options["no_check"] else _check,
        override=options["override"],
        warn=_warn,
        tell=progress(options),
        confirm=_confirm(dry_run=options["dry_run"]),
    )


def _placed(place: CommandContext | None, lane: str, path: str, *, without: bool = False) -> Pick:
    from hydra.landing.picks import Pick
    from hydra.race.recovery import runs

    assert place is not None
    top = runs.from_top(place, [path])
    meant = path.startswith(("/", "./", "../")) or path in (".", "..")
    other = "" if meant else os.path.normpath(path)
    return Pick(lane, path=top[0] if top else "", other=other, without=without)


def _confirm(*, dry_run: bool) -> Confirm | None:
    """Who asks the person that stands at the terminal; None where there is none. A dry run asks
    nothing, so it needs none."""
    if dry_run:
        return _would_ask
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        return None
    return _ask


def _ask(sentence: str) -> bool:
    try:
        return click.confirm(_question(sentence), prompt_suffix=" ", err=True)
    except click.Abort:  # Ctrl-C, or no answer will come
        sys.stderr.write("\nnothing was landed\n")
        raise


def _would_ask(sentence: str) -> bool:
    sys.stderr.write(f"it would ask: {_question(sentence)} [y/N]\n")
    return True


def _question(sentence: str) -> str:
    from hydra.report.text import gist

    return f"{gist(sentence, 600)}. Land it?"


def _warn(sentence: str) -> None:
    from hydra.report.text import gist

    sys.stderr.write(f"warning: {gist(sentence)}\n")
    sys.stderr.flush()


def _check(record: RunRecord, commit: str) -> Mapping[str, Any]:
    """Runs the race's checks on what is to be landed; a line each on stderr."""
    from hydra.commands.check import check_commit
    from hydra.report.checks import line

    def tell(lane: str, kind: str, data: Mapping[str, object]) -> None:
        if text := line(lane.removeprefix("_"), kind, data):
            sys.stderr.write(f"{text}\n")

    return check_commit(record, commit, tell=tell)


def _edit(text: str, editor: str) -> str:
    from hydra.errors import UsageError

    try:
        edited = click.edit(text + _HINT, editor=editor, extension=".txt")
    except (click.ClickException, OSError, UnicodeError) as error:
        value = error.format_message() if isinstance(error, click.ClickException) else error
        raise UsageError(
            f"your editor did not give a message ({value})",
            hint="set $EDITOR, or give the message: -m",
        ) from error
    names = (line for line in (edited or "").splitlines() if not line.startswith("#"))
    return "\n".join(names).strip() + "\n"


def _show(landing: Landing, options: dict[str, Any]) -> None:
    from hydra.records.codec import dump
    from hydra.report.landing import landed_text, landing_document

    data: dict[str, Any] = {"hooks": landing.hooks, "notes": landing.notes}
    data["remarks"] = landing.remarks
    if options["as_json"]:
        document = landing_document(landing.record, dry_run=landing.dry_run, **data)
        sys.stdout.write(dump(document))
        return
    sys.stdout.write(
        landed_text(
            landing.record,
            landing.files,
            dry_run=landing.dry_run,
            color=use_color(sys.stdout),
            **data,
        )
    )


def _show_undone(landing: Landing, options: dict[str, Any]) -> None:
    from hydra.records.codec import dump
    from hydra.report.landing import landing_document, undone_text

    if options["as_json"]:
        sys.stdout.write(dump(landing_document(landing.record)))
    else:
        color = use_color(sys.stdout)
        sys.stdout.write(undone_text(landing.record, landing.files, color=color))


def _abort(options: dict[str, Any]) -> None:
    from hydra.commands import merge_undo
    from hydra.records.codec import dump
    from hydra.report.text import clean

    folder, changed = merge_undo.abort(_environ())
    text = None if folder is None else str(folder)
    if options["as_json"]:
        document = {"schema": 1, "kind": "abort", "kept": text, "left": list(changed)}
        sys.stdout.write(dump(document))
        return
    sys.stdout.write("the landing is undone\n")
    for path in changed:
        sys.stdout.write(f"left as it is now: {clean(path)}\n")
    if text:
        sys.stdout.write(f"what these were before is in {clean(text)}\n")


def _environ() -> dict[str, str]:
    from hydra import executables

    return executables.users_environment()

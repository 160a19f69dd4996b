"""`hydra diff`: a lane's patch, or the difference between two."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hydra.cli.common import Command, json_option, refuse, run_option
from hydra.cli.streams import is_terminal, note, show, use_color

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hydra.race.command_context import CommandContext
    from hydra.records.store.reader import RunRecord


class WithPaths(Command):
    """Takes what stands behind `--` away as paths, before click forgets where they began."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments before `--`; those behind it wait in `ctx.obj`."""
        at = args.index("--") if "--" in args else len(args)
        ctx.obj = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])


@click.command(
    cls=WithPaths,
    examples=(
        "hydra diff claude",
        "hydra diff claude codex --stat",
        "hydra diff codex -- src/",
        "hydra diff codex --hunks",
        "hydra diff claude > claude.patch",
        "hydra diff claude --mbox -o claude.mbox && git am claude.mbox",
        "hydra diff codex --bundle -o codex.bundle && git fetch codex.bundle codex",
    ),
)
@click.argument("lane", required=False, metavar="[LANE]")
@click.argument("other", required=False, metavar="[LANE2] [-- PATH...]")
@click.option("--stat", is_flag=True, help="Only the files, and how much of each changed.")
@click.option("--hunks", is_flag=True, help="With the id of each hunk, for `hydra merge --hunk`.")
@click.option("--mbox", is_flag=True, help="As mail, which `git am` takes.")
@click.option("--bundle", is_flag=True, help="As a git bundle: `git fetch FILE LANE` takes it.")
@click.option("-o", "--output", metavar="FILE", help="Write into this new file, not to stdout.")
@run_option
@json_option
@click.pass_obj
def command(paths: tuple[str, ...], /, lane: str | None, other: str | None, **options: Any) -> None:
    """Show LANE's patch against its base, or against LANE2's patch.

    On a terminal it goes through your pager, clean of control characters; into a pipe or a file
    it is byte-exact. --mbox and --bundle are for somebody else's git.

    LANE can be left out in a race of one.
    """
    _refuse_mixtures(paths, other, options)
    from hydra.git import patches
    from hydra.landing.hunks import hunks
    from hydra.race.recovery import runs
    from hydra.records.store.files import shared
    from hydra.report.hunks import hunk_rows, hunks_text, short_ids, shown

    place = runs.repository_runs()
    run = runs.find(place, options["run"])
    lane = lane or runs.only_lane(run)
    if options["mbox"] or options["bundle"]:
        _hand_over(place, run, lane, options)
        return
    paths = runs.from_top(place, paths)
    with shared(run.folder):
        ends = runs.ends_of(run, lane, other)
        pieces = hunks(run.patches, *ends) if options["hunks"] else ()
        picked = [hunk for hunk in pieces if _within(hunk.path, paths)]
        if options["as_json"]:
            document = {
                **{"schema": 1, "run": run.id, "lane": lane, "against": other},
                **{"from": ends[0], "to": ends[1], "files": _files(run, ends, paths)},
            }
            if options["hunks"]:
                document["hunks"] = hunk_rows(picked, short_ids(pieces))
            show(document)
            return
        if options["hunks"]:
            text = hunks_text(picked, short_ids(pieces))
        else:
            text = patches.diff(run.patches, *ends, paths=paths, stat=options["stat"])
    if not text and not paths:
        what = f"{lane} and {other} left the same" if other else f"{lane} changed nothing"
        note(f"{what}\n")
    if options["output"] is not None:
        _write(text, Path(options["output"]))
    elif not sys.stdout.isatty():
        show(text)
    else:
        from hydra.process.foreground import page, pager_of

        page(shown(text, color=use_color(sys.stdout)), pager_of(patches.users_own(run.patches)))


def _hand_over(
    place: CommandContext, run: RunRecord, lane: str, options: Mapping[str, Any]
) -> None:
    """A lane's patch as mail or as a bundle, into a new file or to stdout."""
    from hydra.commands.export import export
    from hydra.report.hunks import shown

    bundle, output = options["bundle"], options["output"]
    screen = output is None and is_terminal(sys.stdout)
    refuse((bundle and screen, "a bundle is no text for a terminal", "-o FILE"))
    data = export(place, run, lane, bundle=bundle)
    if output is not None:
        _write(data, Path(output))
    else:
        show(shown(data, color=False) if screen else data)


def _write(data: bytes, file: Path) -> None:
    """Into a file that is not there yet. Raises `Refused`."""
    from hydra.errors import Refused

    try:
        with file.open("xb") as out:
            out.write(data)
    except FileExistsError:
        raise Refused(f"{file} is there already", hint="choose another name: -o FILE") from None
    except OSError as error:
        raise Refused(f"{file} cannot be written: {error.strerror}") from error


def _refuse_mixtures(paths: Sequence[str], other: str | None, options: Mapping[str, Any]) -> None:
    forms = [name for name in ("mbox", "bundle", "hunks", "stat") if options[name]]
    forms += ["json"] if options["as_json"] and forms != ["hunks"] else []
    first, second, *_ = (*forms, "", "")
    whole = first in ("mbox", "bundle")
    refuse(
        (
            second and forms != ["stat", "json"],
            f"--{first} and --{second} exclude each other",
            "give one",
        ),
        (
            (whole or first == "hunks") and other,
            f"--{first} shows one lane's patch, whole",
            f"hydra diff LANE --{first}",
        ),
        (whole and paths, f"--{first} is of a whole patch", "leave the paths out"),
        (
            options["output"] is not None and options["as_json"],
            "--json goes to standard output",
            "leave -o out",
        ),
    )


def _files(
    run: RunRecord, ends: tuple[str, str], folders: tuple[str, ...]
) -> list[dict[str, object]]:
    from hydra.git import patches

    return [
        {"path": path.decode("utf-8", "backslashreplace"), "added": added, "deleted": deleted}
        for path, added, deleted in patches.numstat(run.patches, *ends)
        if _within(path, folders)
    ]


def _within(path: bytes, folders: tuple[str, ...]) -> bool:
    """Whether git would show `path` where it is asked for these alone."""
    names = [os.fsencode(folder) for folder in folders]
    return not names or any(path == name or path.startswith(name + b"/") for name in names)

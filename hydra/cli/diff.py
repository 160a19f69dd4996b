"""`hydra diff`: a lane's patch, or the difference between two."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from hydra.cli.common import Command, json_option, run_option, use_color

if TYPE_CHECKING:
    from hydra.errors import UsageError


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
    ),
)
@click.argument("lane")
@click.argument("other", required=False, metavar="[LANE2] [-- PATH...]")
@click.option("--stat", is_flag=True, help="Only the files, and how much of each changed.")
@click.option("--hunks", is_flag=True, help="With the id of each hunk, for `hydra merge --hunk`.")
@run_option
@json_option
@click.pass_obj
def command(paths: tuple[str, ...], /, lane: str, other: str | None, **options: Any) -> None:
    """Show LANE's patch against its base, or against LANE2's patch.

    On a terminal it goes through your pager, clean of control characters; into a pipe or a file
    it is byte-exact.
    """
    from hydra.app import runs
    from hydra.git import patches
    from hydra.landing.hunks import hunks
    from hydra.reporters.hunks import hunk_rows, hunks_text, short_ids
    from hydra.store import shared

    place = runs.here()
    run = runs.find(place, options["run"])
    paths = runs.from_top(place, paths)
    if options["hunks"] and (other or options["stat"]):
        raise _no_hunks()
    with shared(run.folder):
        ends = runs.ends_of(run, lane, other)
        found = hunks(run.patches, *ends) if options["hunks"] else ()
        picked = [hunk for hunk in found if _within(hunk.path, paths)]
        if options["as_json"]:
            rows = [row for row in patches.numstat(run.patches, *ends) if _within(row[0], paths)]
            document = _document(run.id, lane, other, ends, rows)
            if options["hunks"]:
                document["hunks"] = hunk_rows(picked, short_ids(found))
            click.echo(json.dumps(document, indent=2))
            return
        if options["hunks"]:
            text = hunks_text(picked, short_ids(found))
        else:
            text = patches.diff(run.patches, *ends, paths=paths, stat=options["stat"])
    if not sys.stdout.isatty():
        sys.stdout.buffer.write(text)
        return
    from hydra.process.foreground import page, pager_of
    from hydra.reporters.diff import shown

    color = use_color(sys.stdout)
    page(shown(text, color=color), pager_of(patches.users_own(run.patches)))


def _no_hunks() -> UsageError:
    from hydra.errors import UsageError

    return UsageError("--hunks shows one lane's patch, whole", hint="hydra diff LANE --hunks")


def _document(
    run: str,
    lane: str,
    other: str | None,
    ends: tuple[str, str],
    rows: list[tuple[bytes, int | None, int | None]],
) -> dict[str, object]:
    return {
        "schema": 1,
        "run": run,
        "lane": lane,
        "against": other,
        "from": ends[0],
        "to": ends[1],
        "files": [
            {"path": path.decode("utf-8", "backslashreplace"), "added": added, "deleted": deleted}
            for path, added, deleted in rows
        ],
    }


def _within(path: bytes, folders: tuple[str, ...]) -> bool:
    """Whether git would show `path` where it is asked for these alone."""
    names = [os.fsencode(folder) for folder in folders]
    return not names or any(path == name or path.startswith(name + b"/") for name in names)

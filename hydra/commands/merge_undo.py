"""`hydra merge --undo` and `--abort`: a landing taken back, or one that broke off."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from hydra.commands.merge_landing import as_landing, carry_out, desk, scratch_of
from hydra.errors import LandingRefused, RecordError, UsageError
from hydra.git import attributes
from hydra.git.diff import changes
from hydra.git.runner import GitFailed, run
from hydra.landing import completion, transaction
from hydra.landing.journal import LandingOrder, LandingStore
from hydra.landing.record import LandingRecord, SalvagedFile
from hydra.landing.salvage import exact_folder
from hydra.race.command_context import CommandContext
from hydra.race.recovery import runs
from hydra.race.recovery.processes import end_left
from hydra.records.store.files import shared
from hydra.records.store.reader import RunRecord
from hydra.records.store.writer import new_run_id
from hydra.report.landing import Landing


def undo(environ: Mapping[str, str], run: str = "") -> Landing:
    """Takes the last landing back, of `run` where that is named. Raises `LandingRefused` where
    something has moved since."""
    place = runs.repository_runs(environ)
    at = desk(place)
    if run:
        with suppress(UsageError):  # it was removed, and its landing stands
            run = runs.find(place, run).id
    document = _last(at, run)
    record = runs.find(place, document.run)
    with shared(record.folder), as_landing():
        return _undone(place, record, document, at)


def _undone(
    place: CommandContext, record: RunRecord, document: LandingRecord, at: LandingStore
) -> Landing:
    back = tuple(
        change.reversed for change in changes(record.patches, document.head, document.result)
    )
    ref, commit = document.ref, document.commit
    added = [change.path for change in back if change.old is None]
    with scratch_of(place) as scratch:
        outside = attributes.left_out(place.repository, added, scratch)
    undone = replace(document, undone=time.time())
    order = LandingOrder(
        id=new_run_id(),
        run=record.id,
        repository=place.repository,
        patches=record.patches,
        changes=back,
        ref=ref if commit else "",
        head=commit or document.head,
        commit=document.onto if commit else "",
        reason=f"hydra merge --undo: {document.title}",
        loose=[os.fsencode(path) for path in document.loose],
        outside=outside,
        exact=_exact(document),
        flags={os.fsencode(path): row for path, row in (document.flags or {}).items()},
        record=Path(document.record),
        document=undone,
    )
    _check_unmoved(place, document)
    files: tuple[SalvagedFile, ...] = ()
    if document.branch:
        _remove_branch(place, ref, commit)
        completion.write_record(undone, at)
    else:
        try:
            files = carry_out(order, at)
        except LandingRefused as refused:  # the move's own, in the words of an undoing
            refused.message = refused.message.replace("nothing was landed", "nothing was undone", 1)
            refused.args = (refused.message,)
            if isinstance(refused, transaction.RolledBack):
                refused.hint = "undo again: the tree is looked at anew"
            elif refused.paths:
                refused.hint = "commit, move or stash what is named, then undo again"
            raise
    return Landing(record=replace(undone, kept=files), files=back)


def _exact(document: LandingRecord) -> dict[bytes, Path]:
    """What the landing took out of its place, but for links: git makes the same."""
    folder = exact_folder(Path(document.record))
    named = (document.exact or {}).items()
    files = ((os.fsencode(path), folder / name) for path, name in named)
    return {path: file for path, file in files if not file.is_symlink()}


def abort(environ: Mapping[str, str]) -> tuple[Path | None, tuple[str, ...]]:
    """Undoes a landing that was broken off and could not be decided (`after.abort`). Gives the
    folder in which old files are kept, if any is, and the paths that stay as they are."""
    place = runs.repository_runs(environ)
    files, paths = completion.abort(desk(place), partial(end_left, lanes=()))
    return (Path(files[0].file).parent if files else None), paths


def _remove_branch(place: CommandContext, ref: str, commit: str) -> None:
    if place.repository.branch == ref.removeprefix("refs/heads/"):
        raise LandingRefused(
            "nothing was undone: you are on that branch", hint="switch to another one first"
        )
    root, name = place.repository.root, ref.removeprefix("refs/heads/")
    if run("rev-parse", "-q", "--verify", ref, cwd=root, check=False).code != 0:
        raise LandingRefused(
            f"nothing was undone: the branch {name} is not there any more",
            hint=f"nothing is left to take back; if you renamed it, it stays: {commit[:12]}",
        )
    listed = run("worktree", "list", "--porcelain", "-z", cwd=root).stdout
    if b"branch " + os.fsencode(ref) in listed.split(b"\0"):
        raise LandingRefused(
            "nothing was undone: another worktree is on that branch",
            hint="switch to another one there first: `git worktree list`",
        )
    try:
        run("update-ref", "-d", ref, commit, cwd=root)
    except GitFailed as failed:
        raise LandingRefused(
            f"nothing was undone: the branch has moved since ({failed.result.reason})",
            hint="`git log` shows what came after",
        ) from failed


def _last(store: LandingStore, run: str) -> LandingRecord:
    try:
        rows = completion.standing(store)
        if run:
            rows = [row for row in rows if Path(row.record).parent.parent.name.endswith(run)]
        document = LandingRecord.read(Path(rows[-1].record)) if rows else None
    except FileNotFoundError:
        document = None
    except (OSError, ValueError) as damage:
        raise RecordError(f"the last landing's record cannot be read: {damage}") from damage
    if document is not None and document.undone is None:
        return document
    if rows and document is None:
        commit = rows[-1].commit
        raise LandingRefused(
            "nothing was undone: the run of the last landing was removed, and its record with it",
            hint=f"git revert {commit[:12]}" if commit else "take it back by hand: git restore",
        )
    if run:
        raise LandingRefused(
            f"nothing was undone: no landing of run {run} stands here",
            hint="`hydra merge --undo` takes the last one back, whichever it is of",
        )
    if store.last.exists():
        raise LandingRefused(
            "nothing was undone: each landing here was undone already", hint="hydra merge LANE"
        )
    raise LandingRefused("nothing was landed here yet", hint="hydra merge LANE")


def _check_unmoved(place: CommandContext, document: LandingRecord) -> None:
    """The branch stands where the landing left it. The files are looked at by the engine."""
    repository, commit = place.repository, document.commit
    if document.branch:
        return
    text = f"refs/heads/{repository.branch}" if repository.branch else "HEAD"
    if text != document.ref:
        raise LandingRefused(
            f"nothing was undone: the landing was on {document.ref}, and you are on {text}",
            hint="switch to that branch first",
        )
    if repository.head != (commit or document.onto):
        raise LandingRefused(
            "nothing was undone: the branch has moved since the landing",
            hint=f"git revert {commit[:12]}" if commit else "take it back by hand: git restore",
        )

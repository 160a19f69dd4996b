"""How a landing ends: it stands, or it is undone from its staging folder. For the landing itself
when something goes wrong, and for the next command where it was killed.

What is undone is judged by `rollback`; what is left in the staging folder by `salvage`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from hydra.errors import Exhausted, HydraError, LandingRefused
from hydra.git.attributes import parents
from hydra.git.index import clear_drafts
from hydra.git.runner import run
from hydra.landing.journal import DONE, MOVING, PREPARING, Journal, LandingStore
from hydra.landing.record import LandingRecord, SalvagedFile
from hydra.landing.rollback import Act, Unsure, displaced, full, way_back
from hydra.landing.salvage import files_in_short, keep_displaced, salvage
from hydra.landing.swap import free
from hydra.log import get_logger
from hydra.paths import make_private
from hydra.records.codec import DiskName, shaped
from hydra.records.store.files import read_object, write_json
from hydra.text import join_names, plural
from hydra.workspace import tree

_log = get_logger(__name__)


class UndecidedLanding(LandingRefused):
    """A landing was killed, and its files were changed since: nothing is touched."""


_STANDING = 100
"""Landings that can be taken back, the last one first."""

_SHOWN = 3
"""Files that are named in a sentence; with more, the others are counted."""


class LandingEnd(Struct, frozen=True):
    """What became of a landing that was killed, and what of the user's is kept besides.

    `gone`: the tree it was in was removed since; `files` were under way there.
    """

    run: str
    is_complete: bool
    salvaged: tuple[SalvagedFile, ...] = ()
    gone: str = ""
    files: int = 0

    @property
    def sentence(self) -> str:
        """For a person, in one line."""
        return f"a landing of run {self.run} was broken off{self._how}{self._besides}"

    @property
    def _how(self) -> str:
        if self.gone:
            files = plural(self.files, "file")
            return f" in {self.gone}, which is gone since: ended ({files} were under way)"
        if self.is_complete:
            return " after it had landed: finished"
        return ": undone, your tree is as it was"

    @property
    def _besides(self) -> str:
        return f"; kept: {files_in_short(self.salvaged)}" if self.salvaged else ""


def recover_landing(store: LandingStore, end_left: Callable[[str], object]) -> LandingEnd | None:
    """Ends a landing whose Hydra was killed; None where there is none, or another one lives.

    `end_left` ends what a Hydra of that mark has left running: a git that outlived it could still
    move the branch while it is decided whether it was moved.

    Raises `UndecidedLanding` where that cannot be decided, `RecordError` for a journal that is
    damaged,
    `Refused` where git could not be asked.
    """
    clear_drafts(store.folder)
    if not store.file.exists():
        return None
    with store.alone() as mine:
        journal = store.read() if mine else None
        if journal is None:
            return None
        _log.info("a landing was broken off", run=journal.run, phase=journal.phase)
        end_left(journal.owner)
        if _is_complete(journal):
            return LandingEnd(journal.run, True, finish(journal, store))
        if not Path(journal.root).is_dir():
            return _end_without_tree(journal, store)
        return LandingEnd(journal.run, False, _undo_surely(journal, store))


def _end_without_tree(journal: Journal, store: LandingStore) -> LandingEnd:
    """Nothing can be put back where there is nothing: what had been displaced is kept."""
    under_way = [move for move in journal.shifts if displaced(journal, move)]
    unsure = [
        Unsure(os.fsdecode(move.path), "its tree is gone", displaced(journal, move))
        for move in under_way
    ]
    salvaged = _clear(journal, store, unsure)
    return LandingEnd(journal.run, False, salvaged, journal.root, len(journal.shifts))


def finish(journal: Journal, store: LandingStore) -> tuple[SalvagedFile, ...]:
    """The landing stands: keeps what it displaced, writes its record, then takes its leftovers
    away. Gives what of the user's is to be named."""
    named = keep_displaced(journal) if journal.record else ()
    _record(journal, store, named)
    for move in journal.shifts:
        if move.fresh is None:
            _remove_empty(journal, move.path)
    if salvaged := _clear(journal, store):
        _record(journal, store, (*named, *salvaged))
    return (*named, *salvaged)


def _record(journal: Journal, store: LandingStore, named: Sequence[SalvagedFile]) -> None:
    if journal.record and journal.document is not None:
        write_record(replace(journal.document, kept=tuple(named)), store)


def write_record(record: LandingRecord, store: LandingStore) -> None:
    """Keeps what was landed in its run's folder, and that it stands, or was taken back. Raises
    `OSError`."""
    file = Path(record.record)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_json(file, to_builtins(record))
    make_private(store.folder)
    others: list[StandingLanding] = []
    with suppress(ValueError):  # what is damaged is written anew
        others = [row for row in standing(store) if row.record != record.record]
    now = StandingLanding(record.record, record.commit)
    rows = others if record.undone is not None else [*others, now]
    write_json(store.last, {"standing": to_builtins(rows[-_STANDING:])})


class StandingLanding(Struct, frozen=True):
    """A landing that was not taken back: the path of its record, and its commit, if any."""

    record: DiskName
    commit: DiskName


def standing(store: LandingStore) -> list[StandingLanding]:
    """The landings that were not taken back, the last one at the end. Raises `OSError`, and
    `ValueError`."""
    try:
        return shaped(read_object(store.last).get("standing"), list[StandingLanding])
    except FileNotFoundError:  # never landed
        return []


def undo(journal: Journal, store: LandingStore) -> tuple[SalvagedFile, ...]:
    """Puts everything back, but what the user has saved meanwhile: that stays as it is. Gives what
    is kept besides."""
    acts, unsure = way_back(journal)
    return _carry_out(journal, store, acts, unsure)


def _carry_out(
    journal: Journal, store: LandingStore, acts: Sequence[Act], unsure: Sequence[Unsure]
) -> tuple[SalvagedFile, ...]:
    quicker = [item for item in (act() for act in acts) if item is not None]
    _log.info("undone", acts=len(acts), kept=[f"{item.name}: {item.why}" for item in unsure])
    return _clear(journal, store, [*unsure, *quicker])


def _undo_surely(journal: Journal, store: LandingStore) -> tuple[SalvagedFile, ...]:
    """The same for a landing of another time: raises `UndecidedLanding`, with nothing touched,
    where a file was changed since."""
    acts, unsure = way_back(journal)
    if unsure:
        raise _undecided(journal, unsure)
    return _carry_out(journal, store, acts, ())


def _undecided(journal: Journal, unsure: Sequence[Unsure]) -> UndecidedLanding:
    files = join_names([f"{item.name}: {item.why}" for item in unsure], _SHOWN)
    return UndecidedLanding(
        f"a landing of run {journal.run} was broken off, and files have changed since ({files}): "
        "nothing was touched",
        hint="`hydra merge --abort` puts everything else back, leaves these as they are "
        "now, and keeps what they were before",
    )


def abort(
    store: LandingStore, end_left: Callable[[str], object]
) -> tuple[tuple[SalvagedFile, ...], tuple[str, ...]]:
    """Undoes a landing that could not be decided: what was changed since stays as it is.

    Gives the old files that are kept, and the paths that stay. Raises `LandingRefused` where no
    landing was broken off.
    """
    with store.alone() as mine:
        journal = store.read() if mine else None
        if journal is None:
            raise LandingRefused(
                "there is no landing to abort",
                hint="`hydra merge --undo` takes back what was landed",
            )
        end_left(journal.owner)
        acts, unsure = way_back(journal)
        files = _carry_out(journal, store, acts, unsure)
        return files, tuple(item.name for item in unsure)


def _is_complete(journal: Journal) -> bool:
    if journal.phase == DONE:
        return True
    if journal.phase != MOVING or not journal.commit:
        return False
    # A landed commit is nobody else's: the branch has moved where it holds it. Taken back, it has
    # moved where it holds it no longer.
    if _holds(journal, journal.head, journal.commit):
        return not _holds(journal, journal.ref, journal.head)
    return _holds(journal, journal.ref, journal.commit)


def _holds(journal: Journal, ref: str, commit: str) -> bool:
    terms = ("merge-base", "--is-ancestor", commit, ref)
    try:  # by its gitdir: a linked worktree may have been removed since
        run(*terms, git_dir=Path(journal.git_dir))
    except Exhausted:
        raise
    except (HydraError, OSError):
        return False  # not held, or the repository is gone
    return True


def _remove_empty(journal: Journal, path: bytes) -> None:
    """As git does: a folder goes with its last file, but for the one that one stands in."""
    with suppress(OSError):
        for folder in reversed(parents(path)):
            place = full(journal, folder)
            if os.path.samefile(place, "."):  # noqa: PTH121
                return
            os.rmdir(place)  # noqa: PTH106


def _clear(
    journal: Journal, store: LandingStore, unsure: Sequence[Unsure] = ()
) -> tuple[SalvagedFile, ...]:
    """Files, lock, staging folder, journal: in this order, as the one knows the other. Gives what
    of the files is kept."""
    staging, files = Path(journal.staging), Path(journal.files)
    salvaged = salvage(journal, store, unsure) if journal.phase != PREPARING else ()
    if files != staging and files.exists():
        tree.remove(files)
    lock = Path(journal.git_dir) / "index.lock"
    free(os.fsencode(lock), journal.id)
    with suppress(OSError):  # no lock, or one of another account
        if lock.samefile(staging / "lock"):  # an earlier Hydra's links to its own
            lock.unlink()
    if staging.exists():
        tree.remove(staging)
    store.clear()
    return salvaged

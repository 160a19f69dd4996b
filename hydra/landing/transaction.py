"""The one place where Hydra writes into the user's tree: a journaled move from old to new.

1. journal `preparing`; a staging folder in the git dir; the index is locked as git itself does
2. the tree is looked at: anything in the way refuses it, with nothing touched
3. every new file is written by git into the staging folder, a new index beside them
4. journal `moving`; each file is moved aside, into the staging folder, and the new one to its place
5. the index is renamed into place, then the branch moves by compare-and-swap
6. journal `done`; what stood there goes to the run; the staging folder, the lock and the journal go

Killed before 5's last act, it is undone from the staging folder; after it, only 6 is left to do
(`landing.completion`). docs/reference/landing.md draws it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from hydra.errors import HydraError, LandingRefused
from hydra.git.index import copy_users_index
from hydra.git.runner import GitError, owner, run
from hydra.landing import completion
from hydra.landing import journal as journals
from hydra.landing.journal import (
    DONE,
    MOVING,
    PREPARING,
    FileMove,
    Journal,
    LandingOrder,
    LandingStore,
)
from hydra.landing.obstacles import check_repository, locked
from hydra.landing.preflight import SHOWN, Step, TreeLook, files_below
from hydra.landing.prepare import LandingFiles
from hydra.landing.record import LandingRecord, SalvagedFile
from hydra.landing.rollback import displaced, folder_place, fresh_place, full, gone_place, restore
from hydra.landing.swap import TAKEN, FileMark, put
from hydra.landing.version import Version, digest_of
from hydra.log import get_logger
from hydra.process.identity import ProcessIdentity

_log = get_logger(__name__)

_AS_BEFORE = "; all is as it was"
_AGAIN = "land again: the tree is looked at anew"


class RolledBack(LandingRefused):
    """Something changed under the landing's hands; what had been moved was put back."""


def move(order: LandingOrder, store: LandingStore) -> tuple[SalvagedFile, ...]:
    """Does it, or leaves everything as it was. The desk must be held.

    Gives what was displaced and is kept, as a program wrote into it or still may. Raises
    `LandingRefused` where something is in the way (nothing was touched), `RolledBack` where
    something changed meanwhile (all was put back), `OSError` where the disk does not take it.
    """
    under = _Under(order, store)
    _log.info("landing", run=order.run, ref=order.ref, head=order.head, commit=order.commit)
    try:
        under.prepare()
        under.shift()
        under.refresh()
        under.set_index()
        under.set_ref()
    except BaseException as broken:
        under.ready.wait()
        _log.info("the landing breaks off", phase=under.journal.phase, why=str(broken))
        if under.journal.phase == DONE:  # Ctrl-C as git had just moved the branch
            _finish(under.journal, store)
        elif salvaged := _undo(under.journal, store, broken):
            raise _saved(broken, salvaged) from broken
        raise
    return _finish(under.journal, store)


def _finish(journal: Journal, store: LandingStore) -> tuple[SalvagedFile, ...]:
    _log.info("landed", run=journal.run, phase=journal.phase, record=journal.record)
    try:
        return completion.finish(journal, store)
    except OSError as error:
        raise LandingRefused(
            f"it has landed, but not all could be written down: {error}",
            hint="nothing is lost; the next hydra command finishes it",
        ) from error


def _undo(journal: Journal, store: LandingStore, broken: BaseException) -> tuple[SalvagedFile, ...]:
    try:
        return completion.undo(journal, store)
    except (OSError, GitError) as error:
        raise LandingRefused(
            f"the landing broke off ({broken}) and could not be undone yet: {error}",
            hint=f"nothing is lost: what was there is in {journal.files}, and the next hydra "
            "command puts it back",
        ) from error


def _saved(broken: BaseException, salvaged: Sequence[SalvagedFile]) -> LandingRefused:
    """What broke it off, and which files were saved as all else was put back."""
    message = broken.message if isinstance(broken, HydraError) else f"nothing was landed: {broken}"
    folder = Path(salvaged[0].file).parent
    return RolledBack(
        f"{message.removesuffix(_AS_BEFORE)}; what you have saved meanwhile stays, all else is as "
        f"it was, and {len(salvaged)} of the files that stood there are kept in {folder}",
        hint=_AGAIN,
        paths=tuple((file.path, f"{file.why}: {file.file}") for file in salvaged[:SHOWN]),
    )


def look(order: LandingOrder, scratch: Path) -> tuple[Step, ...]:
    """What `move` would do, with nothing written outside `scratch`. Raises `LandingRefused`."""
    check_repository(order.repository, order.ref)
    index = scratch / "index"
    copy_users_index(order.repository, index)
    tree = order.tree(order.repository.root, index)
    tree_look = TreeLook(tree, scratch, order.changes, order.loose, order.outside)
    tree_look.read()
    return tree_look.steps()


def _copy(file: Path, copy: Path) -> None:
    """On the disk for good, as a landing that was broken off goes by it."""
    shutil.copy2(file, copy)
    with copy.open("rb") as copied:
        os.fsync(copied.fileno())


@dataclass(slots=True)
class _Under:
    """A move under way."""

    order: LandingOrder
    store: LandingStore
    journal: Journal = field(init=False)
    staging: Path = field(init=False)
    files: Path = field(init=False)
    ready: LandingFiles = field(init=False)
    _versions: dict[bytes, Version | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        order = self.order
        self.staging, self.files = journals.places(order.repository, order.id)
        self.ready = LandingFiles(order, self.staging, self.files)
        self.journal = Journal(
            id=order.id,
            run=order.run,
            owner=owner,
            process=ProcessIdentity.of(os.getpid()).as_dict(),
            phase=PREPARING,
            root=str(order.repository.root),
            git_dir=str(order.repository.git_dir),
            patches=str(order.patches),
            staging=str(self.staging),
            files=str(self.files),
            ref=order.ref,
            head=order.head,
            commit=order.commit,
            record=str(order.record or ""),
            document=order.document,
        )

    def prepare(self) -> None:
        """Everything that can be done without touching the tree."""
        check_repository(self.order.repository, self.order.ref)
        self._note(self.journal)
        for folder in dict.fromkeys((self.staging, self.files)):
            folder.mkdir(mode=0o700)
        for name in ("fresh", "gone", "folders"):
            (self.files / name).mkdir()
        self._lock()
        self.ready.prepare()
        self._versions = {step.path: step.version for step in self.ready.steps}
        shifts = tuple(self._shift_of(*numbered) for numbered in enumerate(self.ready.steps))
        users = Path(self.journal.git_dir) / "index"
        if users.exists():
            _copy(users, self.staging / "index-old")
        journal = self.journal.at(
            MOVING,
            shifts=tuple(file_move for file_move in shifts if file_move.old or file_move.fresh),
            made=tuple(map(os.fsdecode, self.ready.missing)),
            document=self._document(),
        )
        self._note(journal)

    def _document(self) -> LandingRecord | None:
        """The record, with what an undo is to give back: flags, and the files that go."""
        if self.order.document is None:
            return None
        flags = {os.fsdecode(path): tuple(flags) for path, flags in self.ready.flags.items()}
        went = [(n, step.path) for n, step in enumerate(self.ready.steps) if step.version]
        exact = {os.fsdecode(path): str(number) for number, path in went}
        return replace(self.order.document, flags=flags, exact=exact)

    def shift(self) -> None:
        """Each file goes aside, and the one that is staged for it comes; what only goes, first."""
        shifts = self.journal.shifts
        for file_move in (file_move for file_move in shifts if file_move.fresh is None):
            self._take(file_move)
        for folder in self.journal.folders:
            self._make_folder(folder)
        for file_move in (file_move for file_move in shifts if file_move.fresh is not None):
            self._give(file_move)

    def refresh(self) -> None:
        """Brings the new index's times in line with the files in their places."""
        self.ready.refresh()

    def set_index(self) -> None:
        """The new index takes the old one's place, once all that it names is there."""
        self.ready.bring()
        _log.debug("landing step", phase="index")
        users = Path(self.journal.git_dir) / "index"
        if users.exists():
            (self.staging / "index").chmod(users.stat().st_mode & 0o777)
        _copy(self.staging / "index", self.staging / "index-new")  # to know it again by
        (self.staging / "index").rename(users)

    def set_ref(self) -> None:
        """The branch moves, if it still stands where it did. This is when the landing stands."""
        order = self.order
        self._check_kept()
        _log.debug("landing step", phase="ref", moves=bool(order.commit))
        if order.commit:
            head = run("symbolic-ref", "-q", "HEAD", cwd=order.repository.root, check=False).line
            if head != order.ref:
                raise _moved("another branch was checked out meanwhile")
            self._update_ref()
            self.journal = self.journal.at(DONE)  # the branch itself says that it stands
        else:
            self._note(self.journal.at(DONE))

    def _update_ref(self) -> None:
        order, root = self.order, self.order.repository.root
        terms = ("update-ref", "-m", order.reason, "HEAD", order.commit, order.head)
        try:
            run(*terms, cwd=root)
        except BaseException as failed:
            now = run("rev-parse", "--verify", "-q", order.ref, cwd=root, check=False).line
            if now == order.commit:
                self.journal = self.journal.at(DONE)
            if not isinstance(failed, GitError):
                raise
            if now != order.commit:
                why = "could not be moved" if now == order.head else "has moved meanwhile"
                raise _moved(f"the branch {why} ({failed.result.reason})") from failed

    def _check_kept(self) -> None:
        """What was displaced is still as it was: a program may have had it open to write."""
        for file_move in self.journal.shifts:
            if file_move.old is None:
                continue
            place = displaced(self.journal, file_move)
            if place is None or FileMark.of(place) != file_move.old:
                raise _moved(f"{os.fsdecode(file_move.path)} was written to meanwhile")

    def _lock(self) -> None:
        """Takes git's own lock of the index, so that no git of the user's writes meanwhile."""
        ours, lock = self.staging / "lock", Path(self.journal.git_dir) / "index.lock"
        ours.write_bytes(TAKEN + self.journal.id.encode())  # by which it is known again
        try:
            put(os.fsencode(ours), os.fsencode(lock))
        except FileExistsError:
            raise locked(lock, "here") from None

    def _shift_of(self, number: int, step: Step) -> FileMove:
        fresh = FileMark.of(fresh_place(self.journal, step.path)) if step.gives else None
        if step.gives and fresh is None:
            raise OSError(f"git did not write {os.fsdecode(step.path)} (is the disk full?)")
        mark = step.version.mark if step.version else None
        digest = digest_of(fresh_place(self.journal, step.path), fresh) if fresh else ""
        return FileMove(number, os.fsdecode(step.path), mark, fresh, step.digest, digest)

    def _take(self, file_move: FileMove) -> None:
        self._check_untouched(file_move)
        aside = gone_place(self.journal, file_move.number)
        try:
            put(full(self.journal, file_move.path), aside)
        except FileNotFoundError as gone:
            raise _moved(f"{os.fsdecode(file_move.path)} was removed meanwhile") from gone
        if FileMark.of(aside) != file_move.old:  # what was not read there goes back, at once
            restore(self.journal, file_move)
            raise _moved(f"{os.fsdecode(file_move.path)} was changed meanwhile")

    def _give(self, file_move: FileMove) -> None:
        fresh, target = (
            fresh_place(self.journal, file_move.path),
            full(self.journal, file_move.path),
        )
        if file_move.old is not None:
            self._take(file_move)
        elif journals.is_folder(target):  # empty by now: all that was in it has gone
            self._clear_folder(target, file_move.number)
        try:
            put(fresh, target)
        except FileExistsError as error:
            what = "changed" if file_move.old else "made"
            raise _moved(f"{os.fsdecode(file_move.path)} was {what} meanwhile") from error

    def _check_untouched(self, file_move: FileMove) -> None:
        """It still is the very version that was looked at: no rename has moved its ctime yet."""
        version = Version.of(full(self.journal, file_move.path))
        if version is None:
            raise _moved(f"{os.fsdecode(file_move.path)} was removed meanwhile")
        if version != self._versions[file_move.path]:
            raise _moved(f"{os.fsdecode(file_move.path)} was changed meanwhile")

    def _clear_folder(self, folder: bytes, number: int) -> None:
        aside = folder_place(self.journal, number)
        os.rename(folder, aside)  # noqa: PTH104
        # Only now: nobody can fill it any more by its name.
        if next(files_below(aside), None) is not None:
            raise _moved(f"{os.fsdecode(folder)} was filled meanwhile")

    def _make_folder(self, folder: bytes) -> None:
        try:
            os.mkdir(full(self.journal, folder))  # noqa: PTH102
        except FileExistsError as error:
            if not journals.is_folder(full(self.journal, folder)):
                raise _moved(f"{os.fsdecode(folder)} was made meanwhile") from error

    def _note(self, journal: Journal) -> None:
        _log.info("landing step", run=journal.run, phase=journal.phase, files=len(journal.shifts))
        self.store.write(journal)
        self.journal = journal


def _moved(what: str) -> RolledBack:
    return RolledBack(
        f"nothing was landed: {what}{_AS_BEFORE}",
        hint=_AGAIN,
    )

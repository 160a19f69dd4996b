"""What a landing is about to do, on disk before it is done: whoever comes later can end it.

One file per repository, STATE/<repository>/landing/journal.json. It is there from before the
first write until after the last; `lock` beside it says whether its Hydra still lives.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from hydra.errors import RecordError
from hydra.git.diff import TreeChange
from hydra.git.repository import Repository
from hydra.git.status import WorkTree
from hydra.landing.obstacles import mount_of
from hydra.landing.record import LandingRecord
from hydra.landing.swap import FileMark
from hydra.paths import make_private
from hydra.process.identity import ProcessIdentity
from hydra.records.codec import DiskName, shaped
from hydra.records.store.files import read_object, take_lock, write_whole

SCHEMA = 2
"""2: the digest of each file that goes."""

_LAST_BREATH = 2.0
"""Seconds for the lock of a Hydra that has just died."""

PREPARING, MOVING, DONE = "preparing", "moving", "done"
"""preparing: nothing of the user's is touched yet. moving: each file is old or new, and all that
was there lies in the staging folder. done: the landing stands; only its leftovers are to go."""


class FileMove(NamedTuple):
    """One path of the work tree under way, in JSON an array: `number` names its place in the
    staging folder, `name` is the path as text.

    `old` knows the file that goes (None: none), `fresh` the one that comes (None: none). `digest`
    is of the old file's content, `fresh_digest` of the new one's ("" of what has none).
    """

    number: int
    name: DiskName
    old: FileMark | None
    fresh: FileMark | None
    digest: str = ""
    fresh_digest: str = ""

    @property
    def path(self) -> bytes:
        """As the disk has it."""
        return os.fsencode(self.name)


class Journal(Struct, frozen=True, kw_only=True):
    """One landing (or the undoing of one). `document` is its record, written when it stands.

    `process` is its Hydra, `owner` the mark by which that one's children are found.
    `staging` holds the index, old and new; `files` what the tree's files change places with.
    `ref` is the branch that moves from `head` to `commit`; `commit` "" is --no-commit, where
    nothing does. `made` are folders that will be made, the upper ones first.
    """

    schema: int = SCHEMA
    id: DiskName
    run: DiskName
    owner: DiskName
    process: Mapping[str, Any]
    phase: str
    root: DiskName
    git_dir: DiskName
    patches: DiskName
    staging: DiskName
    files: DiskName
    ref: DiskName
    head: DiskName
    commit: DiskName
    shifts: tuple[FileMove, ...] = ()
    made: tuple[DiskName, ...] = ()
    record: DiskName = ""
    document: LandingRecord | None = None

    @property
    def folders(self) -> Sequence[bytes]:
        """Those of `made`, as the disk has them."""
        return list(map(os.fsencode, self.made))

    def at(self, phase: str, **changed: Any) -> Journal:
        """The same, further on."""
        return replace(self, phase=phase, **changed)


class LandingStore:
    """Where one repository's journal lies."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "journal.json"
        self.last = folder / "last.json"

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Holds the desk; False where another Hydra is landing here. Raises `OSError`."""
        make_private(self.folder)
        deadline = time.monotonic() + _LAST_BREATH
        while (lock := take_lock(self.folder)) is None and self._orphaned():
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
        try:
            yield lock is not None
        finally:
            if lock is not None:
                os.close(lock)

    def _orphaned(self) -> bool:
        """Whether the journal's Hydra is surely gone: a child before its exec may have the lock."""
        with suppress(RecordError):
            journal = self.read()
            maker = ProcessIdentity.read(journal.process if journal else {})
            return maker.current and maker.start is not None and not maker.lives
        return False

    def write(self, journal: Journal) -> None:
        """Puts the journal on the disk for good. Raises `OSError`."""
        text = json.dumps(to_builtins(journal), separators=(",", ":"))
        write_whole(self.file, text.encode() + b"\n")
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def read(self) -> Journal | None:
        """The landing that was broken off, if there is one. Raises `RecordError`."""
        try:
            document = read_object(self.file)
            if shaped(document.get("schema", 0), int) > SCHEMA:
                raise RecordError(
                    f"{self.file} was written by a newer Hydra", hint="run that one again"
                )
            return shaped(document, Journal)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as damage:
            raise _damaged(self.file, damage) from damage

    def clear(self) -> None:
        """The landing stands, or nothing of it does."""
        self.file.unlink(missing_ok=True)


def _damaged(path: Path, damage: Exception) -> RecordError:
    return RecordError(
        f"the journal of a landing cannot be read: {path} ({type(damage).__name__})",
        hint="nothing was touched since; look at `git status`, and at the folder named in it",
    )


# ---- What a landing is asked to do to the user's tree and branch.


class LandingOrder(Struct, frozen=True, kw_only=True):
    """One move of the user's tree. `changes` lead from what stands there to what shall.

    `ref` (a full name) moves from `head` to `commit`, by `reason` in its reflog; `commit` "" moves
    none. `loose` and `outside` are as in `TreeLook`. `bring` brings the objects that the index and
    the commit name; it runs in a thread, once nothing is in the way. `document` is written to
    `record` when it stands. `exact` are files with what comes back to a path: their bytes, owner
    and permissions.
    """

    id: str
    run: str
    repository: Repository
    patches: Path
    changes: Sequence[TreeChange]
    ref: str
    head: str
    commit: str
    reason: str = ""
    bring: Callable[[], None] = lambda: None
    loose: Collection[bytes] = ()
    outside: Collection[bytes] = ()
    flags: Mapping[bytes, Sequence[str]] = field(default_factory=dict)
    exact: Mapping[bytes, Path] = field(default_factory=dict)
    record: Path | None = None
    document: LandingRecord | None = None

    def tree(self, root: Path, index: Path) -> WorkTree:
        """A work tree at `root`, seen with an index of Hydra's."""
        return WorkTree(self.patches, root, index, len(self.head))


# ---- Where a landing prepares what is to come, and keeps what was there.


def places(repository: Repository, name: str) -> tuple[Path, Path]:
    """For the index and for the files of landing `name`, each where it can be renamed from.

    In the git dir, where no tool looks; files in the tree only where that is another file system,
    or another mount of the same.
    """
    git_dir, root, folder = repository.git_dir, repository.root, f".hydra-landing-{name}"
    same = git_dir.stat().st_dev == root.stat().st_dev and mount_of(git_dir) == mount_of(root)
    return git_dir / folder, (git_dir if same else root) / folder


def share(root: Path, fresh: Path, paths: Iterable[bytes]) -> None:
    """Gives files below `fresh` the group that they would have, had they been made in their place.

    A folder with the setgid bit, as a team shares one, hands its group on.
    """
    top, content = os.fsencode(root), os.fsencode(fresh)

    @cache
    def group(folder: bytes) -> int:
        try:
            result = os.lstat(top + b"/" + folder)
        except (FileNotFoundError, NotADirectoryError):
            return group(folder.rpartition(b"/")[0])
        return result.st_gid if result.st_mode & stat.S_ISGID else -1

    for path in paths:
        if (gid := group(path.rpartition(b"/")[0])) >= 0:
            with suppress(PermissionError):  # a group that one is not in
                os.chown(content + b"/" + path, -1, gid, follow_symlinks=False)


def is_folder(path: bytes) -> bool:
    """Whether a folder stands there; a link to one is none."""
    return os.path.isdir(path) and not os.path.islink(path)  # noqa: PTH112, PTH114

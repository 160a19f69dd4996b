"""The collector's index: copied with its mtime, refreshed while the agent thinks, used in a copy.

A file whose mtime is not older than the index is read again by git, or an edit in the second of
the checkout would be missed: that is why every copy keeps the index's own mtime.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from struct import Struct

from hydra.git.repository import Repository
from hydra.git.runner import Result, join, run
from hydra.git.snapshot_state import SnapshotSession
from hydra.git.tree_scan import first_paths, shown
from hydra.records.store.files import DRAFT, alone

_GITLINK = b"\x00\x00\xe0\x00"
"""The mode field of a submodule's entry, in every version of the index."""


def copy_index(source: Path, target: Path) -> None:
    """Copies an index with its mtime, atomically. Raises `OSError`."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    half = target.with_name(f"{target.name}.{os.getpid()}.new")
    shutil.copy2(source, half)
    half.replace(target)


def copy_users_index(repo: Repository, copy: Path) -> None:
    """A copy of the user's index, whole in itself; none where they have none."""
    git_dir, root = repo.git_dir, repo.root
    if (git_dir / "index").exists():
        shutil.copy2(git_dir / "index", copy)
    if any(git_dir.glob("sharedindex.*")):  # its other half lies in the user's own gitdir
        # In the tree: a file that was written to in the second of its entry is looked at again.
        terms = ("update-index", "--no-split-index")
        run(*terms, cwd=root, git_dir=git_dir, work_tree=root, index=copy)


@contextmanager
def draft(index: Path) -> Iterator[Path]:
    """A copy of `index` to work on (or a name with nothing there yet); gone afterwards.

    Whatever kills git or Hydra half-way, `index` itself stays whole and without a lock.
    """
    with scratch(index.parent) as folder:
        copy = folder / "index"
        with suppress(OSError):
            shutil.copy2(index, copy)
        yield copy


@contextmanager
def scratch(parent: Path) -> Iterator[Path]:
    """A folder of its own in `parent`, gone afterwards, or when the next one is made there."""
    parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    clear_drafts(parent)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=DRAFT, dir=parent))
        with alone(folder) as mine:
            if mine:  # else another took it for a dead one's before it was locked
                try:
                    yield folder
                finally:
                    shutil.rmtree(folder, ignore_errors=True)
                return


def clear_drafts(parent: Path) -> None:
    """Removes those of a Hydra that was killed: a living one has its lock."""
    for path in parent.glob(f"{DRAFT}*"):
        with alone(path) as mine:
            if mine:
                shutil.rmtree(path, ignore_errors=True)


def refresh(index: Path, *, patches: Path, worktree: Path) -> bool:
    """Lets `index` forget what is only racy: what has changed is still seen, by its content.

    Worth it once, more than a second after the checkout. False where git could not do it.
    """
    with draft(index) as copy:
        done = run(
            *("update-index", "-q", "--ignore-submodules", "--refresh"),
            git_dir=patches,
            work_tree=worktree,
            index=copy,
            isolated=True,
            check=False,
        )
        # 1 only says that something has changed.
        if done.code not in (0, 1) or not copy.exists():
            return False
        copy.replace(index)
    return True


def may_hold_gitlinks(index: Path) -> bool:
    """False where the index surely names no submodule: a search through its bytes."""
    return _GITLINK in index.read_bytes()


# ---- Tells an index the times of files that git has just written by it, without reading them
# again.
#
# git itself can only refresh an index as a whole: it looks at every file, and reads those whose
# times it does not know. Where a file is known to be the one that git wrote by that very entry,
# nothing is left to be read.
#
# The index's own mtime is part of what it says: an entry that is not older is read again by git,
# since its file may have been written to in the same tick of the clock. So the mtime is one from
# before the first file is looked at; and where that would let another entry of the index pass for
# older than it was, nothing is done.

_HEADER = Struct(">4sII")
_STAT = Struct(">6I4s3I")
"""ctime and mtime (seconds, ns), dev, ino; the mode, which stays; uid, gid, size."""

_MTIME, _MODE = slice(8, 12), slice(24, 28)
"""Of the mtime the seconds: many a git is built to compare no finer."""

_EXTENDED, _STAGE = 0x40, 0x30
"""In the upper byte of an entry's flags."""

_VERSIONS = (2, 3)
"""Version 4 keeps no name whole."""

_SHA1, _SECOND, _UINT32 = 40, 10**9, 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Stamps:
    """An index as git wrote it, and where in it the entries of some paths begin."""

    index: Path
    data: bytes
    places: Mapping[bytes, int]
    name_length: int

    @classmethod
    def read(cls, index: Path, paths: Collection[bytes], name_length: int = 40) -> Stamps | None:
        """None where it cannot be told this way: another version of the index, a path that it does
        not hold, another entry as young as the index. Raises `OSError`."""
        written = int(index.stat().st_mtime) & _UINT32
        data, limit = index.read_bytes(), written.to_bytes(4, "big")
        contents, places = frozenset(paths), {}
        for at, path in _entries(data, name_length // 2):
            if path in contents:
                places[path] = at
            elif data[at + _MTIME.start : at + _MTIME.stop] >= limit:
                return None
        return cls(index, data, places, name_length) if len(places) == len(contents) else None

    @property
    def _new(self) -> Path:
        return self.index.with_name(f"{self.index.name}.stamped")

    def begin(self) -> None:
        """Takes the time, by the file system's own clock, before the first file comes to its place:
        the index's mtime will be that. Raises `OSError`."""
        self._new.touch(mode=0o600, exist_ok=False)
        shutil.copymode(self.index, self._new)

    def write(self, function: Callable[[bytes], os.stat_result | None]) -> None:
        """Writes what `function` says of each path; None leaves its entry as git wrote it.

        What it says must have been seen after `begin`. Raises `OSError`.
        """
        before = self._new.stat().st_mtime_ns
        self._new.write_bytes(self._with(function))
        os.utime(self._new, ns=(before, before))
        self._new.replace(self.index)

    def _with(self, function: Callable[[bytes], os.stat_result | None]) -> bytearray:
        data = bytearray(self.data)
        for path, at in self.places.items():
            if result := function(path):
                mode = self.data[at + _MODE.start : at + _MODE.stop]
                _STAT.pack_into(data, at, *_times(result), mode, *_owner(result))
        end = len(data) - self.name_length // 2
        digest = hashlib.sha1 if self.name_length == _SHA1 else hashlib.sha256
        data[end:] = digest(data[:end], usedforsecurity=False).digest()
        return data


def _entries(data: bytes, oid_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Where each entry begins, and its path; nothing of an index that is not understood."""
    signature, version, count = _HEADER.unpack_from(data)
    if signature != b"DIRC" or version not in _VERSIONS:
        return
    at, fixed = _HEADER.size, _STAT.size + oid_bytes + 2
    for _ in range(count):
        flags = data[at + fixed - 2]
        name = at + fixed + (2 if flags & _EXTENDED else 0)
        end = data.index(b"\0", name)
        if not flags & _STAGE:
            yield at, data[name:end]
        at += (end - at + 8) & ~7  # a multiple of eight, with one zero at least


def _times(result: os.stat_result) -> tuple[int, ...]:
    changed, written = divmod(result.st_ctime_ns, _SECOND), divmod(result.st_mtime_ns, _SECOND)
    where = (result.st_dev & _UINT32, result.st_ino & _UINT32)
    return (changed[0] & _UINT32, changed[1], written[0] & _UINT32, written[1], *where)


def _owner(result: os.stat_result) -> tuple[int, ...]:
    return result.st_uid, result.st_gid, result.st_size & _UINT32


# ---- Puts exactly these paths into the draft index, whatever is wrong with some of them.

_TRIES = 200
"""git commands spent on finding bad paths by halves: about ten of them among 100,000."""

FULL = (b"No space left on device", b"Disk quota exceeded", b"Read-only file system")
"""What git says of a disk that takes no more."""


def tracked(session: SnapshotSession) -> tuple[list[bytes], list[bytes]]:
    """Tracked paths that are gone or no files any more, and those that may have changed."""
    raw = session.paths("diff-files", "--raw", "-z", "--ignore-submodules=all")
    gone: list[bytes] = []
    present: list[bytes] = []
    for state, path in zip(raw[::2], raw[1::2], strict=True):
        is_retained = not state.endswith(b"D") and _is_file(session, path)
        (present if is_retained else gone).append(path)
    return gone, present


def _is_file(session: SnapshotSession, path: bytes) -> bool:
    try:
        mode = os.lstat(session.full(path)).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def take(session: SnapshotSession, *, gone: list[bytes], present: list[bytes]) -> None:
    """Removes `gone` from the index, then takes `present` as they stand in the worktree.

    A path that git cannot take is taken byte for byte where that helps (a text encoding that
    does not fit); else it is said in `session.lost`.
    """
    if gone:
        drop(session, gone)
    failed: list[tuple[bytes, str]] = []
    waiting = [present] if present else []
    for _ in range(_TRIES):
        if not waiting:
            break
        batch = waiting.pop()
        done = _update(session, batch)
        if done.code == 0:
            continue
        if any(clause in done.stderr for clause in FULL):
            session.lost.append(f"git could not write: {done.reason}")
            return
        if len(batch) == 1:
            failed.append((batch[0], done.reason))
        else:
            middle = len(batch) // 2
            waiting += (batch[middle:], batch[:middle])
    for path, reason in failed:
        _take_bytes(session, path, reason)
    contents = [path for batch in waiting for path in batch]
    if contents:
        session.lost.append(f"git refused too many files: {first_paths(contents)}")


def _update(session: SnapshotSession, paths: list[bytes]) -> Result:
    terms = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
    return session.git(*terms, stdin=join(paths), check=False)


def drop(session: SnapshotSession, paths: Iterable[bytes]) -> None:
    """Takes paths out of the draft index without a look at the worktree."""
    width = 64 if len(session.base) == 64 else 40
    lines = (b"0 " + b"0" * width + b"\t" + path for path in paths)
    session.git("update-index", "-z", "--index-info", stdin=join(list(lines)))


def _take_bytes(session: SnapshotSession, path: bytes, reason: str) -> None:
    if _bytes_taken(session, path):
        session.notes.append(f"{shown(path)} was taken byte for byte: {reason}")
    else:
        session.lost.append(f"{shown(path)} could not be taken: {reason}")


def _bytes_taken(session: SnapshotSession, path: bytes) -> bool:
    full = session.full(path)
    try:
        mode = os.lstat(full).st_mode
    except OSError:
        return False
    if not stat.S_ISREG(mode):
        return False
    result = session.git("hash-object", "-w", "--no-filters", "--", full, check=False)
    if result.code != 0:
        return False
    kind = b"100755 " if mode & stat.S_IXUSR else b"100644 "
    line = kind + result.line.encode() + b"\t" + path + b"\0"
    return session.git("update-index", "-z", "--index-info", stdin=line, check=False).code == 0

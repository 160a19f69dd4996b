"""The collector's index: copied with its mtime, refreshed while the agent thinks, used in a copy.

A file whose mtime is not older than the index is read again by git, or an edit in the second of
the checkout would be missed: that is why every copy keeps the index's own mtime.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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

"""Puts exactly these paths into the draft index, whatever is wrong with some of them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from hydra.git.runner import Result, join
from hydra.git.session import Session
from hydra.git.survey import shown, some

_TRIES = 200
"""git commands spent on finding bad paths by halves: about ten of them among 100,000."""

FULL = (b"No space left on device", b"Disk quota exceeded", b"Read-only file system")
"""What git says of a disk that takes no more."""


def take(session: Session, *, gone: list[bytes], present: list[bytes]) -> None:
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
    left = [path for batch in waiting for path in batch]
    if left:
        session.lost.append(f"git refused too many files: {some(left)}")


def _update(session: Session, paths: list[bytes]) -> Result:
    words = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
    return session.git(*words, stdin=join(paths), check=False)


def drop(session: Session, paths: Iterable[bytes]) -> None:
    """Takes paths out of the draft index without a look at the worktree."""
    width = 64 if len(session.base) == 64 else 40
    lines = (b"0 " + b"0" * width + b"\t" + path for path in paths)
    session.git("update-index", "-z", "--index-info", stdin=join(list(lines)))


def _take_bytes(session: Session, path: bytes, reason: str) -> None:
    if _bytes_taken(session, path):
        session.notes.append(f"{shown(path)} was taken byte for byte: {reason}")
    else:
        session.lost.append(f"{shown(path)} could not be taken: {reason}")


def _bytes_taken(session: Session, path: bytes) -> bool:
    full = session.full(path)
    try:
        mode = os.lstat(full).st_mode
    except OSError:
        return False
    if not stat.S_ISREG(mode):
        return False
    made = session.git("hash-object", "-w", "--no-filters", "--", full, check=False)
    if made.code != 0:
        return False
    kind = b"100755 " if mode & stat.S_IXUSR else b"100644 "
    line = kind + made.line.encode() + b"\t" + path + b"\0"
    return session.git("update-index", "-z", "--index-info", stdin=line, check=False).code == 0

"""Files that change places in one step, so that what was there before is never lost.

Linux's renameat2 swaps two names, or refuses to take one that is taken. Where a file system does
not have it, hard links come as near as possible. Paths are bytes: names are, whatever the locale.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from typing import NamedTuple

_AT_FDCWD = -100
_NOREPLACE, _EXCHANGE = 1, 2
_NOT_HERE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)

_libc = ctypes.CDLL(None, use_errno=True)


class Mark(NamedTuple):
    """By which a file is known again wherever it is renamed to, and seen to be unchanged.

    A rename moves the ctime, so that is no part of it.
    """

    inode: int
    size: int
    mtime_ns: int
    mode: int

    @classmethod
    def of(cls, path: bytes) -> Mark | None:
        """The file that has this name now; None where there is none."""
        found = look_at(path)
        return None if found is None else cls.read(found)

    @classmethod
    def read(cls, found: os.stat_result) -> Mark:
        """The file that was looked at."""
        return cls(found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode)


def look_at(path: bytes) -> os.stat_result | None:
    """What stands there; None where nothing does."""
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def exchange(fresh: bytes, target: bytes) -> None:
    """Afterwards each of the two names has the other's file. Raises `OSError`; both must exist."""
    if _renameat2(fresh, target, _EXCHANGE):
        return
    aside = aside_of(fresh)
    try:
        os.link(target, aside, follow_symlinks=False)
    except OSError:  # a file system without hard links
        shutil.copy2(target, aside, follow_symlinks=False)
    os.rename(fresh, target)  # noqa: PTH104  bytes
    os.rename(aside, fresh)  # noqa: PTH104


def aside_of(fresh: bytes) -> bytes:
    """Where the old file waits for a moment, without renameat2: no tree has a file of this name."""
    return os.path.dirname(fresh) + b"/.git"  # noqa: PTH120


def put(fresh: bytes, target: bytes) -> None:
    """Moves a file to a name that is free. Raises `FileExistsError` where it is not."""
    if _renameat2(fresh, target, _NOREPLACE):
        return
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
    try:
        os.link(fresh, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:
        os.rename(fresh, target)  # noqa: PTH104
    else:
        os.unlink(fresh)  # noqa: PTH108


def _renameat2(old: bytes, new: bytes, flag: int) -> bool:
    """False where this kernel, C library or file system cannot do it."""
    call = getattr(_libc, "renameat2", None)
    if call is None:
        return False
    if call(_AT_FDCWD, old, _AT_FDCWD, new, flag) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number), os.fsdecode(old), None, os.fsdecode(new))

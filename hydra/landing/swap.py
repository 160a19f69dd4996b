"""Files that are moved so that nothing which stands anywhere is ever overwritten.

A name is only taken where it is free: Linux's renameat2 refuses to take one that is not, and where
a file system does not have it, a hard link does, or a file made for nothing but the name. Paths are
bytes: names are, whatever the locale.
"""

from __future__ import annotations

import ctypes
import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from hydra.containment import read_regular

_AT_FDCWD = -100
_NOREPLACE = 1
_NOT_HERE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)

_libc = ctypes.CDLL(None, use_errno=True)

TAKEN = b"taken by a landing of Hydra: "
"""What a file begins with that only takes a name; the landing's id comes after it."""

_NOTE_BYTES = 16384
"""More than two paths."""


class FileMark(NamedTuple):
    """By which a file is known again wherever it is renamed to, and seen to be unchanged.

    A rename moves the ctime, so that is no part of it.
    """

    inode: int
    size: int
    mtime_ns: int
    mode: int

    @classmethod
    def of(cls, path: bytes) -> FileMark | None:
        """The file that has this name now; None where there is none."""
        result = look_at(path)
        return None if result is None else cls.read(result)

    @classmethod
    def read(cls, result: os.stat_result) -> FileMark:
        """The file that was looked at."""
        return cls(result.st_ino, result.st_size, result.st_mtime_ns, result.st_mode)


def look_at(path: bytes) -> os.stat_result | None:
    """What stands there; None where nothing does."""
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def put(fresh: bytes, target: bytes) -> None:
    """Moves a file to a name that is free. Raises `FileExistsError` where it is not."""
    if _renameat2(fresh, target):
        return
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
    try:
        os.link(fresh, target, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # a folder, or a file system without hard links
        _reserve(fresh, target)
        os.rename(fresh, target)  # noqa: PTH104
    else:
        os.unlink(fresh)  # noqa: PTH108


def _reserve(fresh: bytes, target: bytes) -> None:
    """Takes a free name, so that only who opens this very file could still be overwritten: none
    but root may. It says whose it is: one of the two lies in a landing's own folder."""
    if os.path.isdir(fresh) and not os.path.islink(fresh):  # noqa: PTH112, PTH114
        return  # a rename takes no folder's place but an empty one's
    taken = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o400)
    with suppress(OSError):  # a full disk takes the rename all the same
        os.write(taken, TAKEN + fresh + b" to " + target)
    os.close(taken)


def free(target: bytes, landing: str) -> None:
    """Gives back a name that the landing of this id had only taken as it was killed, or its lock.
    Nobody else's file says so."""
    text = read_regular(Path(os.fsdecode(target)), _NOTE_BYTES) or b""
    if text.startswith(TAKEN) and landing.encode() in text:
        os.unlink(target)  # noqa: PTH108


def _renameat2(old: bytes, new: bytes) -> bool:
    """False where this kernel, C library or file system cannot do it."""
    call = getattr(_libc, "renameat2", None)
    if call is None:
        return False
    if call(_AT_FDCWD, old, _AT_FDCWD, new, _NOREPLACE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number), os.fsdecode(old), None, os.fsdecode(new))

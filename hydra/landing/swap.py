"""Files that change places, so that what was there before is never lost.

Linux's renameat2 swaps two names in one step, or refuses to take one that is taken. Where a file
system does not have it, or is not to be trusted with it, what stands there is moved aside first:
its name is then free for an instant, and whatever takes it meanwhile is not overwritten. Paths are
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
_NOREPLACE, _EXCHANGE = 1, 2
_NOT_HERE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)

_libc = ctypes.CDLL(None, use_errno=True)

UNTRUSTED = (0x65735546, 0x01021997)
"""FUSE (virtiofs too) and 9p, as statfs names them: an exchange there is reported to lose data."""

_STATFS_BYTES = 256
"""More than any `struct statfs`; its first field is the type."""

TAKEN = b"taken by a landing of Hydra: "
"""What a file begins with that only takes a name; the landing's id comes after it."""

_NOTE_BYTES = 16384
"""More than two paths."""

_TIMES = 8
"""How often a file that is being saved is given back its place before what stands there stays."""


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


def exchange(fresh: bytes, target: bytes, aside: bytes) -> bytes:
    """`target` has the fresh file then; gives where the one that stood there is now: `fresh`, or
    `aside` where two names cannot be swapped, which must be free.

    Raises `FileNotFoundError` where nothing stands there, `FileExistsError` where something new was
    put there in the instant in which the name was free: that stays, the old one is `aside`.
    """
    if _exchanges(fresh) and _renameat2(fresh, target, _EXCHANGE):
        return fresh
    os.rename(target, aside)  # noqa: PTH104  bytes
    put(fresh, target)
    return aside


def give_back(old: bytes, target: bytes, aside: bytes, ours: FileMark) -> bool:
    """Puts an old file back to `target`, where `ours` is to stand; `aside` is a free name.

    Whatever else stands there, or is saved there meanwhile, is newer and stays; False then. What
    had to go is at `old` or `aside`.
    """
    expected = ours
    for _ in range(_TIMES):
        going = FileMark.of(old)
        try:
            came = exchange(old, target, aside)
        except (FileNotFoundError, FileExistsError):
            return False
        if FileMark.of(came) == expected:
            break
        # Saved in the very moment. It goes back; what must come out then is what was just put in.
        assert going is not None
        expected, (old, aside) = going, (came, old if came == aside else aside)
    return expected == ours


def _exchanges(path: bytes) -> bool:
    """Whether this file system is to be trusted with an exchange."""
    return _type_of(os.lstat(path).st_dev, os.path.dirname(path)) not in UNTRUSTED  # noqa: PTH120


_types: dict[int, int] = {}


def _type_of(device: int, folder: bytes) -> int:
    if device not in _types:
        _types[device] = file_system(folder)
    return _types[device]


def file_system(folder: bytes) -> int:
    """What kind of file system a folder lies on, as statfs(2) numbers them; 0 where unknown."""
    facts = ctypes.create_string_buffer(_STATFS_BYTES)
    call = getattr(_libc, "statfs", None)
    if call is None or call(folder, facts) != 0:
        return 0
    return ctypes.c_ulong.from_buffer(facts).value & 0xFFFFFFFF


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


def free(target: bytes, landing: str) -> bool:
    """Gives back a name that the landing of this id had only taken as it was killed, or its lock;
    whether it had. Nobody else's file says so."""
    text = read_regular(Path(os.fsdecode(target)), _NOTE_BYTES) or b""
    if is_own := text.startswith(TAKEN) and landing.encode() in text:
        os.unlink(target)  # noqa: PTH108
    return is_own


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

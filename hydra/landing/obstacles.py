"""What would refuse a landing though no file is in its way: a lock, a file that cannot be moved, a
folder of git's that cannot be written. Looked for first, so that it is said before anything moves.
"""

from __future__ import annotations

import ctypes
import os
import stat
from pathlib import Path

from hydra.errors import LandingRefused
from hydra.git.repository import Repository

_libc = ctypes.CDLL(None, use_errno=True)

_AT_FDCWD, _NOFOLLOW = -100, 0x900
_TYPE, _MOUNT = 0x1, 0x1000
_STATX_BYTES = 256
_ATTRIBUTES, _MOUNT_ID = 8, 144
_IMMUTABLE, _APPEND, _MOUNT_ROOT = 0x10, 0x20, 0x2000
"""The attributes of statx(2) that Linux gives since 4.11 and 5.8."""


def check_repository(repository: Repository, ref: str) -> None:
    """Whether git's own files can be written: the index, the objects and, with `ref`, that branch.

    Raises `LandingRefused`.
    """
    git_dir, common = repository.git_dir, repository.common_dir
    _check_lock(git_dir / "index.lock", "here")
    _check_written(git_dir, git_dir / "index", common / "objects")
    if ref:
        _check_lock(git_dir / "HEAD.lock", "on HEAD")
        _check_written(git_dir / "logs" / "HEAD", grows=True)
        check_branch(repository, ref)


def check_branch(repository: Repository, ref: str) -> None:
    """The same of a branch alone, there or not yet. Raises `LandingRefused`."""
    common = repository.common_dir
    _check_lock(common / f"{ref}.lock", f"on {ref.removeprefix('refs/heads/')}")
    _check_written(common / "objects", _nearest(common / ref), common / ref)
    _check_written(common / "logs" / ref, grows=True)


def _check_lock(lock: Path, what: str) -> None:
    if os.path.lexists(lock):
        raise locked(lock, what)


def _check_written(*places: Path, grows: bool = False) -> None:
    for place in places:
        why = unwritable(place, grows=grows) if os.path.lexists(place) else ""
        if why:
            raise LandingRefused(
                f"nothing was landed: {place} {why}", hint="see that your repository can be written"
            )


def locked(lock: Path, what: str) -> LandingRefused:
    """The refusal for a lock of git's."""
    return LandingRefused(
        f"nothing was landed: another git is at work {what} (its {lock.name} is there)",
        hint=f"wait for it; if none runs, remove {lock} as git itself says",
    )


def immovable(path: bytes) -> str:
    """Why a file can be neither renamed nor replaced, "" where it can."""
    return fixed(path) or ("is a mount of its own" if is_mount(path) else "")


def fixed(path: bytes, *, grows: bool = False) -> str:
    """Whether chattr keeps a file or folder as it is, "" where not; `grows` is only added to."""
    attributes, _ = _statx(path)
    if attributes & _IMMUTABLE:
        return "is immutable (until chattr -i)"
    return "is append-only (until chattr -a)" if attributes & _APPEND and not grows else ""


def is_mount(path: bytes) -> bool:
    """Whether something is mounted on it: a folder, or a single file as containers have them."""
    return bool(_statx(path)[0] & _MOUNT_ROOT)


def unwritable(place: Path, *, grows: bool = False) -> str:
    """Why nothing can be written to a file, or made and renamed in a folder; "" where it can."""
    rights = os.W_OK | (os.X_OK if place.is_dir() else 0)
    refused = "" if os.access(place, rights) else "cannot be written"
    return fixed(os.fsencode(place), grows=grows) or refused


def is_anothers(path: bytes, folder: os.stat_result) -> bool:
    """Whether a sticky folder lets only somebody else move this file."""
    me = os.geteuid()
    if not folder.st_mode & stat.S_ISVTX or me in (0, folder.st_uid):
        return False
    return os.lstat(path).st_uid != me


def mount_of(path: Path) -> int:
    """The number of the mount that a path lies in; 0 where the kernel does not say. Nothing can be
    renamed from one to another, though both may show one file system."""
    return _statx(os.fsencode(path))[1]


def _nearest(path: Path) -> Path:
    """The folder that is there already, in which a path will be made."""
    return next(folder for folder in path.parents if folder.is_dir())


def _statx(path: bytes) -> tuple[int, int]:
    """Attributes and mount; zeros where the kernel or the C library does not tell."""
    call, facts = getattr(_libc, "statx", None), ctypes.create_string_buffer(_STATX_BYTES)
    if call is None or call(_AT_FDCWD, path, _NOFOLLOW, _TYPE | _MOUNT, facts) != 0:
        return 0, 0
    mask = ctypes.c_uint32.from_buffer(facts).value
    mount = ctypes.c_uint64.from_buffer(facts, _MOUNT_ID).value if mask & _MOUNT else 0
    return ctypes.c_uint64.from_buffer(facts, _ATTRIBUTES).value, mount

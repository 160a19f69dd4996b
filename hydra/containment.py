"""Names that a repository or an agent gives, opened so that no link leads out of their folder.

The kernel has a call for it (openat2, RESOLVE_BENEATH), Python has not: a name's links are resolved
first, and then the way is gone again part by part, where no part may be a link. What is swapped for
a link in between is refused and not followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import NamedTuple

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class EscapeError(ValueError):
    """A name leads out of the folder that it is to lie in; the message says where to."""


class ContainedEntry(NamedTuple):
    """One entry by its folder's descriptor, for the calls that take a `dir_fd`."""

    folder: int
    name: str


def locate(top: Path, name: str | PurePath) -> PurePath:
    """Where `name` lies below `top`, its folders' links resolved; its last part may be a link.

    It need not be there. Raises `EscapeError`.
    """
    real = Path(os.path.realpath(top))
    parent = Path(os.path.realpath((real / name).parent))
    if not parent.is_relative_to(real):
        raise EscapeError(f"it leads through a link to {parent}")
    return parent.relative_to(real) / PurePath(name).name


def read_regular(path: Path, limit: int) -> bytes | None:
    """The first `limit` bytes of a file that an agent may have laid there; None for what is no
    regular file. No link is followed, and nothing blocks."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        return None
    with os.fdopen(fd, "rb") as file:
        return file.read(limit)


@contextmanager
def entry_below(top: Path, name: str | PurePath, *, make: bool = False) -> Iterator[ContainedEntry]:
    """`name` below `top`, to be read or written by its folder. `make`: folders that are missing.

    Raises `EscapeError`, and `OSError` for a folder that is missing or has become a link.
    """
    place = locate(top, name)
    with folder_below(Path(os.path.realpath(top)), place.parts[:-1], make=make) as folder:
        yield ContainedEntry(folder, place.name)


@contextmanager
def folder_below(
    top: Path, parts: Iterable[str] = (), *, make: bool = False, clear: bool = False
) -> Iterator[int]:
    """The descriptor of a folder by the names that lead to it: neither `top` nor one of them may
    be a link. What is done by it cannot be led elsewhere meanwhile. `make` and `clear` are as in
    `open_folder`. Raises `OSError`."""
    folder = os.open(top, _FOLDER)
    try:
        for part in parts:
            inner = open_folder(ContainedEntry(folder, part), make=make, clear=clear)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def open_folder(entry: ContainedEntry, *, make: bool = False, clear: bool = False) -> int:
    """A folder's descriptor, the caller's to close; `make`: of one that is missing, too; `clear`:
    what is no folder gives way first. Raises `OSError`, for a link too."""
    if clear:
        _clear(entry)
    if make:
        with suppress(FileExistsError):
            os.mkdir(entry.name, dir_fd=entry.folder)
    return os.open(entry.name, _FOLDER, dir_fd=entry.folder)


def _clear(entry: ContainedEntry) -> None:
    with suppress(FileNotFoundError):
        status = os.stat(entry.name, dir_fd=entry.folder, follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            os.unlink(entry.name, dir_fd=entry.folder)

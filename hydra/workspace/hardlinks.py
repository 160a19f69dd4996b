"""A tree of hard links: the folder as it is now, whatever its owner installs into it meanwhile.

What is replaced or deleted in the original stays in the tree; only who writes into a file in place
writes into both. Package managers replace what they install; their notes of it they write in place,
and so those are copied. All other files are the user's own inodes, so nothing of them but their
names may ever be touched here: no mode, no time, no content.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hydra.disk import below_minimum

_COPIED = (errno.EXDEV, errno.EPERM, errno.EMLINK)
"""Another disk; a file of another user's (fs.protected_hardlinks); a file with too many names."""

_NOTES = re.compile(r"/\.[^/]*$|/\.fingerprint/|/build/[^/]+/(?:root-)?output$")
"""Files written in place: npm's and yarn's lists of what is installed, uv's lock, and all by whose
times cargo knows what is built. A later time would pass off the user's build as the patch's."""

_FATAL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ENOMEM)
"""These are the disk's; anything else is about that one entry, which is left out."""

_OPEN = 0o700


class TooManyFiles(OSError):
    """A folder holds more entries than are worth a tree of links."""


class NoRoom(OSError):
    """What cannot be linked would leave the disk of its copy without room; the message says so."""


@dataclass(slots=True)
class LinkReport:
    """What came of it: `entries` in all, `missing` that could not be had (closed to this account),
    `moving`: whether folders of the original changed while they were read."""

    entries: int = 0
    missing: int = 0
    moving: bool = False
    floor: int = 0
    """Bytes that copies leave free on their disk, or 5% of it, the smaller."""


def link_tree(source: Path, target: Path, *, most: int, floor: int = 0) -> LinkReport:
    """Makes `target`, which is not there yet, the same tree as `source`, of hard links.

    A file that cannot be linked is copied. What goes meanwhile is left out, and so are sockets,
    pipes and devices: by another name they would still lead to who listens there. Raises
    `TooManyFiles` over `most` entries, `NoRoom` for a copy under the disk's `floor`, and `OSError`.
    """
    linked, stamps = LinkReport(floor=floor), dict[str, int]()
    waiting = [(os.fspath(source), os.fspath(target))]
    while waiting:
        folder, copy = waiting.pop()
        try:
            os.mkdir(copy, _OPEN)  # noqa: PTH102  strings: half the time of paths
            stamps[copy] = os.lstat(folder).st_mtime_ns
            entries = list(os.scandir(folder))
        except OSError as problem:
            _leave_out(linked, problem)
            continue
        linked.entries += len(entries)
        if linked.entries > most:
            raise TooManyFiles(errno.EFBIG, os.strerror(errno.EFBIG), os.fspath(source))
        for entry in entries:
            place = f"{copy}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                waiting.append((entry.path, place))
            elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
                _link(entry.path, place, linked)
    linked.moving = not _repeat_modes(source, target, stamps)
    return linked


def link_file(source: Path, target: Path, *, floor: int = 0) -> bool:
    """The same for a single file; whether it is there. Raises `NoRoom`, `OSError`."""
    _link(os.fspath(source), os.fspath(target), LinkReport(floor=floor))
    return os.path.lexists(target)


def _link(source: str, target: str, linked: LinkReport) -> None:
    if _NOTES.search(source):
        _copy(source, target, linked)
        return
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as problem:
        if problem.errno in _COPIED:
            _copy(source, target, linked)
        else:
            _leave_out(linked, problem)


def _copy(source: str, target: str, linked: LinkReport) -> None:
    try:
        _refuse_full(target, os.lstat(source).st_size, linked.floor)
        shutil.copy2(source, target, follow_symlinks=False)
    except OSError as problem:
        with suppress(FileNotFoundError):
            os.unlink(target)  # noqa: PTH108
        _leave_out(linked, problem)


def _refuse_full(target: str, size: int, floor: int) -> None:
    """A link takes no room; copies of a whole environment may be all that a disk has."""
    if low := below_minimum((Path(target).parent,), floor, coming=size):
        raise NoRoom(errno.ENOSPC, str(low))


def _leave_out(linked: LinkReport, problem: OSError) -> None:
    if problem.errno in _FATAL:
        raise problem
    linked.missing += problem.errno != errno.ENOENT


def _repeat_modes(source: Path, target: Path, stamps: dict[str, int]) -> bool:
    """Folders' modes and times, from the deepest up: they are the tree's own. Whether each folder
    is as it was when it was read."""
    steady = True
    for folder, _, _ in os.walk(target, topdown=False):
        original = source / os.path.relpath(folder, target)
        try:
            steady = steady and original.lstat().st_mtime_ns == stamps.get(folder)
            shutil.copystat(original, folder, follow_symlinks=False)
        except OSError:
            steady = steady and original.exists()
    return steady

"""A tree of hard links: the folder as it is now, whatever its owner installs into it meanwhile.

What is replaced or deleted in the original stays in the tree; only who writes into a file in place
writes into both. Package managers replace. The files are the user's own inodes, so nothing of them
but their names may ever be touched here: no mode, no time, no content.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

_COPIED = (errno.EXDEV, errno.EPERM, errno.EMLINK)
"""Another disk; a file of another user's (fs.protected_hardlinks); a file with too many names."""

_OPEN = 0o700


class TooManyFiles(OSError):
    """A folder holds more entries than are worth a tree of links."""


def link_tree(source: Path, target: Path, *, most: int) -> None:
    """Makes `target`, which is not there yet, the same tree as `source`, of hard links.

    A file that cannot be linked is copied. What goes meanwhile is left out; devices and what may
    not be read are, too. Raises `TooManyFiles` over `most` entries, and `OSError`.
    """
    waiting = [(os.fspath(source), os.fspath(target))]
    while waiting:
        folder, copy = waiting.pop()
        os.mkdir(copy, _OPEN)  # noqa: PTH102  strings: half the time of paths
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        most -= len(entries)
        if most < 0:
            raise TooManyFiles(errno.EFBIG, os.strerror(errno.EFBIG), os.fspath(source))
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                waiting.append((entry.path, f"{copy}/{entry.name}"))
            else:
                _link(entry.path, f"{copy}/{entry.name}")
    _repeat_modes(source, target)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno not in _COPIED:
            raise
        with suppress(OSError):  # it went, or may not be read
            if stat.S_IFMT(os.lstat(source).st_mode) in (stat.S_IFREG, stat.S_IFLNK):
                shutil.copy2(source, target, follow_symlinks=False)


def _repeat_modes(source: Path, target: Path) -> None:
    """Folders' modes and times, from the deepest up: they are the tree's own."""
    for folder, _, _ in os.walk(target, topdown=False):
        original = source / os.path.relpath(folder, target)
        with suppress(OSError):
            shutil.copystat(original, folder, follow_symlinks=False)

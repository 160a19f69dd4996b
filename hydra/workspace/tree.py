"""Looks at, and removes, a tree that an agent may have left in any state."""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path


class BorrowedObjects:
    """The names by which a lane's repositories have the user's objects, collected while it is made.

    The checkout's own `.git` lies under the lane's tree where that is mounted over it: outside such
    a name is a link to the objects, inside they are mounted there. `names` are objects folders with
    theirs, `folders` all that were asked for."""

    def __init__(self, folder: Path, placed: bool) -> None:
        """`folder` is where the links go, made at need; not `placed`, a folder keeps its own."""
        self.names: dict[Path, Path] = {}
        self.folders: dict[Path, None] = {}
        self._folder = folder
        self._placed = placed

    def alias(self, objects: Path) -> Path:
        """The name for an objects folder. Raises `OSError`."""
        self.folders[objects] = None
        if not self._placed:
            return objects
        if objects not in self.names:
            place = self._folder / str(len(self.names))
            self._link(objects, place / "objects")
            if (objects.parent / "lfs").is_dir():  # git-lfs looks for its files beside them
                self._link(objects.parent / "lfs", place / "lfs")
        return self.names[objects]

    def _link(self, source: Path, link: Path) -> None:
        link.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        link.unlink(missing_ok=True)  # an earlier attempt's
        link.symlink_to(source)
        self.names[source] = link


_TICK_NS = 10_000_000
"""The kernel stamps files by a clock that ticks: up to 10 ms behind the one `when` is read from."""


def changed_since(top: Path, when: float) -> float | None:
    """When anything but .git last changed, if that is after `when` (wall-clock seconds), or None.

    By ctime: an agent can set an mtime, into the future too, and a ctime cannot be set. One walk;
    it needs no earlier state. A tree that is gone is unchanged. What bears a time that has not come
    yet says nothing: it is from before the clock was set back.
    """
    newest = int(when * 1e9) - _TICK_NS
    before = newest
    waiting = [os.fspath(top)]
    with suppress(OSError):
        newest = _later(newest, os.lstat(top).st_ctime_ns)
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name == ".git":
                    continue
                with suppress(OSError):  # it vanished: its folder's ctime says so
                    stamp = entry.stat(follow_symlinks=False).st_ctime_ns
                    newest = _later(newest, stamp)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    return newest / 1e9 if newest > before else None


def _later(newest: int, stamp: int) -> int:
    return stamp if newest < stamp <= time.time_ns() + _TICK_NS else newest


def remove(top: Path) -> None:
    """Removes a tree without following a link. Raises `OSError` for what cannot go.

    Closed folders are opened first; one that is nested too deep for a path is brought up.
    """
    for attempt in (shutil.rmtree, _remove_open, _remove_flat):
        with suppress(OSError, RecursionError):
            attempt(top)
        if not os.path.lexists(top):
            return
    shutil.rmtree(top)


def empty(folder: Path, *, but: Collection[str]) -> None:
    """Removes all of a folder but these entries, as `remove` does. Raises `OSError`."""
    if not folder.is_dir() or folder.is_symlink():
        return
    folder.chmod(0o700)
    for entry in list(folder.iterdir()):
        if entry.name in but:
            continue
        if entry.is_symlink() or not entry.is_dir():
            entry.unlink()
        else:
            remove(entry)


def _remove_open(top: Path) -> None:
    """Gives every folder back to its owner (chmod 000, 555), then removes."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        folder.chmod(0o700)
        with os.scandir(folder) as entries:
            waiting += (Path(e.path) for e in entries if e.is_dir(follow_symlinks=False))
    shutil.rmtree(top)


def _remove_flat(top: Path) -> None:
    """Moves each folder to the top before it is emptied, so that no path grows."""
    waiting = [top]
    emptied: list[Path] = []
    while waiting:
        folder = waiting.pop()
        emptied.append(folder)
        folder.chmod(0o700)
        for entry in list(folder.iterdir()):
            if stat.S_ISDIR(entry.lstat().st_mode):
                place = top / f".hydra-{len(emptied)}-{len(waiting)}"
                entry.chmod(0o700)
                entry.rename(place)
                waiting.append(place)
            else:
                entry.unlink()
    for folder in reversed(emptied):
        folder.rmdir()

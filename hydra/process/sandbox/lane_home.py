"""The folder that a lane has for its HOME: empty but for settings made anew, and its own.

On disk and not in memory: caches that tools make there are as large as they are. bwrap makes the
places of its mounts in it, following links as it goes, so what an earlier command of the lane has
left in the way makes the next one start with a fresh folder.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from pathlib import Path

from hydra.process.sandbox.mounts import Mount, home_target
from hydra.process.sandbox.policy import SandboxPolicy

_PRIVATE = 0o700


def furnish(policy: SandboxPolicy, mounts: Iterable[Mount]) -> None:
    """Makes the folder, where it is not there or its places are not plain. Raises `OSError`."""
    home, folder = home_target(policy), policy.home_folder
    if home is None or folder is None:
        return
    below = [mount.target.relative_to(home) for mount in mounts if home in mount.target.parents]
    if os.path.lexists(folder):
        if all(is_plain(folder, place) for place in (Path(), *below)):
            return
        _put_aside(folder)
    folder.mkdir(mode=_PRIVATE)
    try:
        _fill(policy, folder, home)
    except OSError:  # half of it would be taken for all by the next command
        shutil.rmtree(folder, ignore_errors=True)
        raise


def is_plain(folder: Path, below: Path) -> bool:
    """Whether bwrap can make a mount's place there and nowhere else: no link on the way, no folder
    that may not be entered."""
    for place in reversed((folder / below, *(folder / below).parents)):
        if folder not in (place, *place.parents):
            continue
        try:
            mode = place.lstat().st_mode
        except FileNotFoundError:
            return True
        except OSError:
            return False
        if stat.S_ISLNK(mode) or (stat.S_ISDIR(mode) and mode & _PRIVATE != _PRIVATE):
            return False
        if not stat.S_ISDIR(mode):
            return stat.S_ISREG(mode) and place == folder / below
    return True


def _put_aside(folder: Path) -> None:
    # It cannot always be removed here; whoever removes the workspace does.
    free = (folder.with_name(f"{folder.name}.{number}") for number in count(1))
    folder.rename(next(place for place in free if not os.path.lexists(place)))


def _fill(policy: SandboxPolicy, folder: Path, home: Path) -> None:
    for place, text in policy.view.settings.items():
        if home in place.parents:
            _write(folder / place.relative_to(home), text)
    for place, target in policy.view.links.items():
        if home in place.parents:
            _link(folder / place.relative_to(home), target)


def _write(path: Path, text: bytes) -> None:
    path.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    with suppress(FileExistsError), path.open("xb") as file:
        file.write(text)


def _link(path: Path, target: str) -> None:
    path.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        path.symlink_to(target)

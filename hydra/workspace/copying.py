"""Copies into a lane: bounded and contained, or exact."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from hydra.errors import Refused

_FILE = 16 * 1024**2
_TOTAL = 128 * 1024**2
_ENTRIES = 20_000
"""Settings, skills and plugins are far smaller; what is over is left out and named."""


def copy_bounded(pairs: Iterable[tuple[Path, Path]], inside: Sequence[Path]) -> list[str]:
    """Copies files and folders of settings: 0700 and 0600, no larger than the limits.

    A symlink is followed (and becomes what it names) where that lies in one of `inside`, else it
    is left out. Gives a sentence for each thing left out.
    """
    roots = tuple(Path(os.path.realpath(root)) for root in inside)
    waiting = list(pairs)[::-1]
    notes: list[str] = []
    left, entries = _TOTAL, _ENTRIES
    walked: set[str] = set()
    while waiting:
        source, target = waiting.pop()
        real = Path(os.path.realpath(source))
        try:
            found = real.stat()
        except OSError:
            continue
        entries -= 1
        if not any(real.is_relative_to(root) for root in roots):
            notes.append(f"settings not copied, a link out of the home folder: {source}")
        elif stat.S_ISDIR(found.st_mode) and str(real) not in walked and entries > 0:
            walked.add(str(real))  # a link to a folder above would go round for ever
            target.mkdir(parents=True, exist_ok=True, mode=0o700)
            waiting += ((source / one.name, target / one.name) for one in real.iterdir())
        elif stat.S_ISREG(found.st_mode):
            if found.st_size > min(_FILE, left) or entries <= 0:
                notes.append(f"settings not copied, too large: {source}")
                continue
            left -= found.st_size
            _copy_file(real, target, 0o700 if found.st_mode & stat.S_IXUSR else 0o600)
    return notes


def copy_exact(root: Path, worktree: Path, names: Sequence[str]) -> None:
    """Copies files or folders of the user's tree to the same place in a worktree.

    Symlinks stay symlinks. Raises `Refused` where the place would lie outside the worktree (a
    tracked symlink on the way), or where the disk does not take it.
    """
    top = Path(os.path.realpath(worktree))
    for name in names:
        source, target = root / name, worktree / name
        try:
            # Before anything is made: a link on the way may be an agent's.
            if not Path(os.path.realpath(_standing(target.parent))).is_relative_to(top):
                raise Refused(f"{name} would be copied to a place outside the worktree")
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir() and not source.is_symlink():
                shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
            else:
                target.unlink(missing_ok=True)
                shutil.copy2(source, target, follow_symlinks=False)
        except OSError as error:  # shutil.Error is one
            raise Refused(f"{name} could not be copied into the lane: {error}") from error


def _standing(path: Path) -> Path:
    """`path`, or the nearest above it that is there; a link that leads nowhere is."""
    return next(one for one in (path, *path.parents) if os.path.lexists(one))


def _copy_file(source: Path, target: Path, mode: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "wb") as out, source.open("rb") as data:
        os.fchmod(descriptor, mode)
        shutil.copyfileobj(data, out)

"""What a set-up leaves in a lane's tree that git does not ignore: no work of the lane's agent."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from hydra.analysis.made_folders import PACKAGES
from hydra.text import join_names

Stamps = Mapping[str, Sequence[int]]
"""By path, a file's size and time; of a folder of packages, which is left out with all that is in
it, nothing."""


def stamped(worktree: Path, new: Iterable[bytes]) -> Stamps:
    """Of what git lists as new in `worktree`; folders end in `/`."""
    paths: dict[str, Sequence[int]] = {}
    for path in new:
        for place in _parts(worktree, os.fsdecode(path).rstrip("/")):
            with suppress(OSError, UnicodeEncodeError):
                place.encode()
                paths[place] = _stamp(worktree / place)
    return paths


def unchanged(worktree: Path, stamps: Stamps) -> tuple[str, ...]:
    """Files that are there still as the set-up left them, and its folders."""
    paths = []
    for path, stamp in stamps.items():
        with suppress(OSError):
            if not stamp or [*stamp] == _stamp(worktree / path):
                paths.append(path)
    return tuple(paths)


def left_out(paths: Sequence[str]) -> Iterator[str]:
    """The sentence for these; none where there are none."""
    if paths:
        names = join_names(paths, 3)
        yield f"the set-up left {names}, which git does not ignore: not in the patch"


def _parts(worktree: Path, name: str) -> Iterator[str]:
    """Its files, and of folders that package managers fill the folder itself."""
    place = worktree / name
    if place.is_symlink() or not place.is_dir() or _is_filled(place):
        yield name
        return
    with os.scandir(place) as entries:
        inner = [entry.name for entry in entries]
    for entry in inner:
        yield from _parts(worktree, f"{name}/{entry}")


def _is_filled(place: Path) -> bool:
    return place.name in PACKAGES or (place / "pyvenv.cfg").is_file()


def _stamp(place: Path) -> list[int]:
    stat = place.lstat()
    is_folder = place.is_dir() and not place.is_symlink()
    return [] if is_folder else [stat.st_size, stat.st_mtime_ns]

"""How much room a disk has, the floor under which no race runs, and what a folder takes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain
from pathlib import Path

from msgspec import Struct

SHARE = 0.05
"""The part of a disk that a floor is at most: 2 GiB would be more than a small one has."""


class LowDisk(Struct, frozen=True):
    """A disk under its floor; `free` and `floor` in bytes."""

    place: Path
    free: int
    floor: int

    def __str__(self) -> str:
        text, floor = _rough(self.free), _rough(self.floor)
        return f"the disk of {self.place} has {text} free, under the floor of {floor}"


def below_minimum(places: Iterable[Path], most: int, *, coming: int = 0) -> LowDisk | None:
    """The first of `places` whose disk has less room than `most` bytes or 5% of it, the smaller,
    once `coming` bytes more are written there.

    A place need not be there yet. One that cannot be asked, or that does not tell its size, has
    no floor. Blocks where a disk hangs.
    """
    for place in places:
        try:
            result = _statvfs(place)
        except OSError:
            continue
        floor = min(most, int(result.f_blocks * result.f_frsize * SHARE))
        # What root alone may use is nobody's room here.
        free = max(0, result.f_bavail * result.f_frsize - coming)
        if free < floor:
            return LowDisk(place, free, floor)
    return None


def _statvfs(place: Path) -> os.statvfs_result:
    try:
        return os.statvfs(place)
    except FileNotFoundError:  # it will be made on the disk of the folder above; "/" is there
        return _statvfs(place.parent)


def _rough(count: int) -> str:
    # Rounded down: what is free never reads as more than it is.
    for factor, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= factor:
            return f"{count * 10 // factor / 10:g} {unit}"
    return f"{count} B"


def disk_usage(top: Path) -> int:
    """Bytes that a folder takes on the disk, as `du` counts them; what vanishes counts nothing."""
    walk = os.walk(top)
    inside = (f"{folder}/{name}" for folder, *names in walk for name in chain(*names))
    total = 0
    for path in chain([os.fspath(top)], inside):
        with suppress(OSError):
            total += os.lstat(path).st_blocks * 512
    return total

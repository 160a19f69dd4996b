"""Where a race writes, whether there is room for it, and files enough that may be open."""

from __future__ import annotations

import errno
import resource
from pathlib import Path

from hydra.disk import below_minimum
from hydra.errors import Refused
from hydra.shortage import shortage

OPEN_FILES = 64
"""A race of one lane ended well with 32 (Linux, CPython 3.11 and 3.12); this leaves as many more
for its checks. Each further lane takes some, which its own failure tells."""


def places(state: Path, runs: Path) -> tuple[Path, ...]:
    """The folders that a race fills, each of which may lie on a disk of its own.

    Grounds hold the lanes' temporary files and caches too. In the user's repository there is one
    ref more, and the cache of probes is a few kB.
    """
    return (state / "g", runs)


def check_room(state: Path, runs: Path, floor: int) -> None:
    """Raises `Refused` where a disk has less room than `floor` bytes or 5% of it, the smaller."""
    low = below_minimum(places(state, runs), floor)
    if low is None:
        return
    raise Refused(
        str(low),
        hint="make room: `hydra runs` shows what each race takes, `hydra runs rm` removes one; "
        "the floor is limits.disk_floor in your own hydra.toml",
    )


def check_open_files() -> None:
    """Raises `Exhausted` where this process may open fewer files than a race of one lane needs:
    found out later, it would be the lane's failure, and only by luck one that names the limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= OPEN_FILES:
        return
    error = OSError(errno.EMFILE, "")
    raise shortage(error) or error

"""Where a race writes, and whether there is room for it."""

from __future__ import annotations

from pathlib import Path

from hydra.errors import Refused
from hydra.space import under_floor


def places(state: Path, runs: Path) -> tuple[Path, ...]:
    """The folders that a race fills, each of which may lie on a disk of its own.

    Grounds hold the lanes' temporary files and caches too. In the user's repository there is one
    ref more, and the cache of probes is a few kB.
    """
    return (state / "g", runs)


def check_room(state: Path, runs: Path, floor: int) -> None:
    """Raises `Refused` where a disk has less room than `floor` bytes or 5% of it, the smaller."""
    low = under_floor(places(state, runs), floor)
    if low is None:
        return
    raise Refused(
        str(low),
        hint="make room: `hydra runs` shows what each race takes, `hydra runs rm` removes one; "
        "the floor is limits.disk_floor in your own hydra.toml",
    )

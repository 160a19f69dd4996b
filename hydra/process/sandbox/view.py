"""What a lane sees of the machine beyond its own folders: a record that answers for any path."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field

from hydra.process.sandbox.tables import SCRATCH, SYSTEM, VAR

_FRESH = ("/dev", "/proc")


class ShownPlace(NamedTuple):
    """A file or folder that is there in a lane, read-only, by its real name, and why."""

    path: Path
    reason: str


class View(Struct, frozen=True, kw_only=True):
    """All that is shown of the machine and of HOME; what it does not name is not there.

    Pure data: it is computed once a race (`compute_view`), and asked by whoever wants to know
    whether a path that exists outside can be seen inside (`reason`, `is_visible`).
    """

    home: Path
    """HOME by its real name; a lane has an empty one of its own there."""
    shown: tuple[ShownPlace, ...] = ()
    """By name; none of them lies in another, but below what is `sealed` there."""
    links: Mapping[Path, str] = field(default_factory=dict)
    """Symbolic links that lead to what is shown, to what each says; made anew."""
    sealed: tuple[Path, ...] = ()
    """Empty and read-only, but for what is shown in them: work done there would be lost."""
    masked: tuple[Path, ...] = ()
    """Files and folders inside of what is shown, or of the system's, that are covered."""
    settings: Mapping[Path, bytes] = field(default_factory=dict)
    """Settings files in HOME that are made anew of harmless keys: place to content."""
    stripped: tuple[Path, ...] = ()
    """Those of them in which lines were left out that are no known harmless ones."""
    show: tuple[Path, ...] = ()
    """What `[confine] show` names and is there."""
    notes: tuple[str, ...] = ()
    """What PATH or a variable names and is not shown as a whole, in sentences."""
    checkout_name: Path | None = None
    """The checkout's top as its user calls it, who came there through a link; None: as it is."""

    def reason(self, path: Path) -> str:
        """Why `path` (absolute) can be seen in a lane, in a few words; "" where it is hidden.

        Its links are followed as they are on this machine. A folder of which a part is shown is
        there, though nothing else of it is.
        """
        named = Path(os.path.normpath(path))
        if named in self.settings or self.home / named in self.settings:
            return "made anew from harmless settings"
        real = Path(os.path.realpath(named))
        if _within(real, self.masked):
            return ""
        return self._reason(real)

    def is_visible(self, path: Path) -> bool:
        """Whether `path`, which exists on this machine, can be seen in a lane."""
        return self.reason(path) != ""

    def _reason(self, real: Path) -> str:
        if is_system(real) and not _within(real, filter(is_sealable, self.sealed)):
            return "the system's"
        for shown in reversed(self.shown):  # of two that hold it, the inner one
            if real.is_relative_to(shown.path):
                return "" if self._is_sealed_off(real, shown.path) else shown.reason
        if real == self.home or str(real) in (*SCRATCH, *_FRESH, "/", "/var"):
            return "the lane's own"
        parts = (shown.path for shown in self.shown)
        return "a part of it is shown" if any(real in part.parents for part in parts) else ""

    def _is_sealed_off(self, real: Path, holder: Path) -> bool:
        return any(holder in seal.parents and real.is_relative_to(seal) for seal in self.sealed)


def is_system(path: Path) -> bool:
    """Whether `path` (absolute) belongs to what every lane sees of `/`."""
    parts = path.parts
    if len(parts) < 2:
        return False
    return parts[1] in SYSTEM or (parts[1] == "var" and _within(path, _VAR))


def is_sealable(place: Path) -> bool:
    """Whether a lane can do without a checkout (absolute) there: /opt/shop, not /etc itself."""
    needed = 3 if place.parts[1:2] == ("usr",) else 2
    return not is_system(place) or len(place.parts) > needed


_VAR = tuple(Path("/var", name) for name in VAR)


def _within(path: Path, places: Iterable[Path]) -> bool:
    return any(map(path.is_relative_to, places))

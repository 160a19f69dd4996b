"""What one command may see and write."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct, field

from hydra.process.sandbox.layers import Placement
from hydra.process.sandbox.view import View


class SandboxPolicy(Struct, frozen=True, kw_only=True):
    """One command's part of the machine; all paths absolute.

    `view` is what it sees of HOME and the machine, read-only; `home_folder` the folder that it has
    for its HOME, made anew where it is not there (None: HOME can be written nowhere). `writable`
    stay as they are, `binds` are (source, where it is mounted), both writable. `readonly` come last
    of all: what lies in a place that `binds` cover. `covered` read as empty where they are there,
    inside what is writable. `unrestricted`: the whole machine, nothing hidden, its own processes
    still end with it.
    `cwd` is the worktree, where it lies; `placement` says where the command sees it.
    """

    state: Path
    view: View
    cwd: Path
    home_folder: Path | None = None
    writable: tuple[Path, ...] = ()
    binds: tuple[tuple[Path, Path], ...] = ()
    readonly: tuple[Path, ...] = ()
    covered: tuple[Path, ...] = ()
    placement: Placement = field(default_factory=Placement)
    unrestricted: bool = False
    private_network: bool = False
    """A network of its own, in which there is only a loopback."""

    def inside(self, path: Path) -> Path:
        """The path by which the command knows `path`, a real one outside."""
        top = Path(os.path.realpath(self.cwd))
        place = self.placement.path
        if place is None or not path.is_relative_to(top):
            return path
        return place / path.relative_to(top)


def hidden_in_worktree(policy: SandboxPolicy) -> list[Path]:
    """What of `policy.covered` is there and hidden; nothing where it is unrestricted.

    A link out of `cwd` stays: what it leads to is not the repository's, and a cover over it would
    take away what others need.
    """
    if policy.unrestricted:
        return []
    top = Path(os.path.realpath(policy.cwd))
    return [place for place in policy.covered if _is_in(place, top)]


def _is_in(place: Path, top: Path) -> bool:
    return os.access(place, os.F_OK) and top in Path(os.path.realpath(place)).parents

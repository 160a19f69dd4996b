"""Folders that a command may change as its own while they stay as they are: overlay mounts.

They are made in a mount namespace around bwrap's, by programs of the system (util-linux), so that
no agent has a part in it, and end with the command. The kernel parses the options of an overlay and
splits them at commas and colons; so they name folders by Hydra's own names, from the folder where
the mount is made, and never by a user's path.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

UPPER, WORK, MOUNT = "upper", "work", "mount"

_SCRIPT = (
    'cd "$1" && "$2" -t overlay -o "nosuid,nodev,lowerdir=lower,upperdir=upper,workdir=work$3" '
    'overlay mount && shift 3 && exec "$@"'
)
"""Run by sh with the layer's folder, mount's path and further options; `lower` is a link."""

_USERS = ",userxattr"
"""Without it an ordinary user's mount succeeds and then cannot mark a folder as emptied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """`lower` is shown copy-on-write; `folder` holds what is changed, of one lane or one check.

    `places` are the entries of `lower` with where each is mounted. Two commands may not have one
    folder at the same time: what the kernel then does is undefined.
    """

    lower: Path
    folder: Path
    places: Mapping[str, Path] = field(default_factory=dict)
    writable: bool = True
    """Whether this machine has overlays; without them `lower` itself is shown, read-only."""

    @property
    def upper(self) -> Path:
        """What its commands have written."""
        return self.folder / UPPER

    def written(self, top: Path | None) -> list[str]:
        """The entries below `top`, where they are mounted, in which they have written."""
        below = [name for name, at in self.places.items() if top and at.is_relative_to(top)]
        return [name for name in below if _is_filled(self.upper / name)]

    def source(self, name: str) -> Path:
        """Where an entry of `lower` is to be found, once it is mounted."""
        return (self.folder / MOUNT if self.writable else self.lower) / name

    def make(self) -> None:
        """Makes its folders. Raises `OSError`."""
        if not self.writable:
            return
        for name in (UPPER, WORK, MOUNT):
            (self.folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        if not os.path.lexists(self.folder / "lower"):
            (self.folder / "lower").symlink_to(self.lower)


def _is_filled(folder: Path) -> bool:
    with suppress(OSError):
        return any(folder.iterdir())
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where a command sees its worktree, and what it sees there besides.

    `path` is that of the user's checkout, of which it then sees nothing else; None: it sees the
    worktree where that lies. `borrowed` are objects folders with the names by which the worktree's
    repositories have them, read-only: those of the checkout are not to be seen at their own place.
    """

    path: Path | None = None
    layer: Layer | None = None
    borrowed: Mapping[Path, Path] = field(default_factory=dict)

    @property
    def overlaid(self) -> Layer | None:
        """The layer that has to be mounted before bwrap."""
        return self.layer if self.layer is not None and self.layer.writable else None


def mounting(layer: Layer, programs: Sequence[str]) -> list[str]:
    """What goes before bwrap; `programs` are unshare, sh and mount, by absolute paths. All of it
    keeps its process id, so whoever waits for the command waits for bwrap."""
    unshare, sh, mount = programs
    own = [] if os.geteuid() == 0 else ["-Ur"]
    options = "" if os.geteuid() == 0 else _USERS
    outer = [unshare, *own, "-m", "--propagation", "slave", "--"]
    return [*outer, sh, "-c", _SCRIPT, "sh", str(layer.folder), mount, options]


def users_own() -> list[str]:
    """For bwrap behind `mounting`: an ordinary user is root out there, and himself again inside."""
    if os.geteuid() == 0:
        return []
    return ["--unshare-user", "--uid", str(os.geteuid()), "--gid", str(os.getegid())]


TRIAL_FOLDER = "layer-"
"""What the name of a trial's folder begins with, among the grounds of races: no run's does."""

TRIAL = "cd mount && rm file && rmdir folder && mkdir folder && : > folder/new && test ! -e file"
"""What a command does in a layer of a `file` and an empty `folder`: where this is refused, so are
package managers."""

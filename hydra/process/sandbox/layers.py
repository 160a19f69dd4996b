"""Folders that a command may change as its own while they stay as they are: overlay mounts.

They are made once, in a mount namespace around those of the commands, by programs of the system
(util-linux), so that no agent has a part in it. No process keeps that namespace but Hydra's own
descriptor of it: it ends with Hydra, whatever ends that. The kernel parses the options of an
overlay and splits them at commas and colons; so they name folders by Hydra's own names, from the
folder where the mount is made, and never by a user's path.
"""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

UPPER, WORK, MOUNT = "upper", "work", "mount"

_SCRIPT = (
    '"$1" -t overlay -o "nosuid,nodev,lowerdir=lower,upperdir=upper,workdir=work$2" overlay mount'
    " && echo mounted && read -r end"
)
"""Run by sh in the layer's folder with mount's path and further options; `lower` is a link."""

_MOUNTED_WITHIN = 30.0
"""Seconds for that; a disk that is asleep wakes up in less."""

_USERS = ",userxattr"
"""Without it an ordinary user's mount succeeds and then cannot mark a folder as emptied."""


class Namespaces(NamedTuple):
    """Descriptors of the mount namespace in which a layer is mounted, and of the user namespace
    that owns it, where an ordinary user had to make one. Both last as long as these."""

    mount: int
    user: int | None = None

    def close(self) -> None:
        """Lets go of both."""
        for fd in self:
            if fd is not None:
                os.close(fd)


class Layer(Struct, frozen=True, kw_only=True):
    """`lower` is shown copy-on-write; `folder` holds what is changed, of one lane or one check.

    `places` are the entries of `lower` with where each is mounted. One folder may not be mounted
    twice at the same time: what the kernel then does is undefined.
    """

    lower: Path
    folder: Path
    places: Mapping[str, Path] = field(default_factory=dict)
    namespaces: Namespaces | None = None
    """Where it is mounted; None: it is not (yet), and `lower` itself is shown, read-only."""

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
        return (self.folder / MOUNT if self.namespaces else self.lower) / name

    def mounted(self, mounters: Sequence[str]) -> Layer:
        """The same, with its folders made, and mounted in namespaces of its own. `mounters` are
        unshare, sh, mount and nsenter, by absolute paths. Raises `OSError`."""
        self._make()
        return replace(self, namespaces=_mount(self.folder, mounters))

    def unmounted(self) -> Layer:
        """The same, unmounted once no command is left in it."""
        if self.namespaces:
            self.namespaces.close()
        return replace(self, namespaces=None)

    def _make(self) -> None:
        for name in (UPPER, WORK, MOUNT):
            (self.folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        if not os.path.lexists(self.folder / "lower"):
            (self.folder / "lower").symlink_to(self.lower)


def _is_filled(folder: Path) -> bool:
    with suppress(OSError):
        return any(folder.iterdir())
    return False


class Placement(Struct, frozen=True, kw_only=True):
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
        """The layer whose namespaces bwrap is started in."""
        return self.layer if self.layer is not None and self.layer.namespaces else None


def _mount(folder: Path, mounters: Sequence[str]) -> Namespaces:
    unshare, sh, mount, *_ = mounters
    own, options = ([], "") if os.geteuid() == 0 else (["-Ur"], _USERS)
    line = [unshare, *own, "-m", "--propagation", "slave", "--", sh, "-c", _SCRIPT, "sh"]
    with subprocess.Popen(
        [*line, mount, options],
        cwd=folder,
        env={"LC_ALL": "C"},  # else half of what mount reads is a locale's
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout
        assert process.stderr
        if not _says(process.stdout, b"mounted\n"):
            process.kill()
            raise OSError(process.stderr.read().decode(errors="replace").strip() or "no overlay")
        return _namespaces(process.pid)


def _says(stream: IO[bytes], line: bytes) -> bool:
    ready, _, _ = select.select([stream], [], [], _MOUNTED_WITHIN)
    return bool(ready) and stream.readline() == line


def _namespaces(pid: int) -> Namespaces:
    mount = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY)
    if os.geteuid() == 0:
        return Namespaces(mount)
    try:
        return Namespaces(mount, os.open(f"/proc/{pid}/ns/user", os.O_RDONLY))
    except OSError:
        os.close(mount)
        raise


def entering(layer: Layer | None, mounters: Sequence[str]) -> list[str]:
    """What goes before bwrap, which then is the process that was started; nothing where nothing is
    mounted. No command gets a descriptor of it: nsenter opens and closes its own."""
    if layer is None or layer.namespaces is None:
        return []
    folder, (mount, user) = f"/proc/{os.getpid()}/fd", layer.namespaces
    own = [] if user is None else [f"--user={folder}/{user}", "--preserve-credentials"]
    return [mounters[-1], *own, f"--mount={folder}/{mount}", "--"]


def users_own() -> list[str]:
    """For bwrap behind `entering`: an ordinary user is root out there, and himself again inside."""
    if os.geteuid() == 0:
        return []
    return ["--unshare-user", "--uid", str(os.geteuid()), "--gid", str(os.getegid())]


TRIAL_FOLDER = "layer-"
"""What the name of a trial's folder begins with, among the grounds of races: no run's does."""

TRIAL = 'cd "$1" && rm file && rmdir folder && mkdir folder && : > folder/new && test ! -e file'
"""What sh does at the top of a layer of a `file` and an empty `folder`: where this is refused, so
are package managers."""

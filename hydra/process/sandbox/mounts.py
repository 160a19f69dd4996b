"""A policy as mounts, in the order in which bwrap makes them.

bwrap makes a mount's place where there is none, and would follow a link on the way there: so every
target is a real name, and what an agent may have written is looked at first (`lane_home`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from hydra.process.sandbox.lookups import exists, is_folder
from hydra.process.sandbox.policy import SandboxPolicy, hidden_in_worktree
from hydra.process.sandbox.tables import SCRATCH, SYSTEM, VAR
from hydra.process.sandbox.view import is_sealable, is_system

NAMESPACES = ("--unshare-pid", "--as-pid-1", "--new-session")
# No --die-with-parent: it fires when the spawning *thread* ends; the keeper's pipe does its work.
# No --disable-userns: Codex's own sandbox nests inside and needs user namespaces.

FENCED = ("--setenv", "HYDRA_SCOPE", "closed")
"""To the keeper: what no mount hides is kept from the agent too (hydra/process/fence.py)."""

_ROOTS_KERNEL_FILES = ("/proc/sys", "/proc/sysrq-trigger", "/proc/mtrr")
"""What uid 0 may write by owning it, capabilities or not: core_pattern alone is a way out."""


def disarmed() -> list[str]:
    """Takes root's powers: bwrap leaves root every capability, and `mount -o remount,rw /` with
    them. SETFCAP stays, or root could map itself into no namespace of its own (Linux 5.12), which
    Codex's sandbox does; what it gives to files counts for nothing in here (no_new_privs).

    In a user namespace of its own, where there can be one, as an ordinary user's command is anyway:
    the key rings of root's sessions belong to the machine's. The keeper's seccomp filter refuses
    their calls too, on five architectures; without the namespace a start is hardly cheaper (0.1 of
    8 ms, measured 2026-11), and any capability that were left would be the machine's.
    """
    if os.geteuid() != 0:
        return []
    files = (name for name in _ROOTS_KERNEL_FILES if os.access(name, os.F_OK))
    covered = [part for name in files for part in ("--ro-bind", name, name)]
    return [*covered, "--unshare-user-try", "--cap-drop", "ALL", "--cap-add", "CAP_SETFCAP"]


_EMPTY_FILE = Path(__file__).parents[2] / "py.typed"
"""What a hidden file reads as. Not /dev/null: bound without devices it cannot be opened, bound
with them a chmod inside would reach the machine's own."""

_NOTHING = {suffix: _EMPTY_FILE.with_name("nothing.json") for suffix in (".json", ".yml", ".yaml")}
"""What a covered file reads as where an empty one is no such file (aider 0.86.2 refuses it)."""


_SYS = Path("/sys")


class Mount(NamedTuple):
    """One of bwrap's options with its source, "" where it takes none, and its place inside."""

    option: str
    target: Path
    source: str = ""

    @property
    def arguments(self) -> tuple[str, ...]:
        """As bwrap takes them."""
        source = (self.source,) if self.source else ()
        return (*self.option.split(), *source, str(self.target))


def arguments(mounts: Iterable[Mount]) -> list[str]:
    """All of them for bwrap's command line."""
    return [part for mount in mounts for part in mount.arguments]


def mounts_of(policy: SandboxPolicy) -> list[Mount]:
    """All that is mounted for a policy that is not unrestricted."""
    return [
        *system_mounts(),
        *kernel_mounts(),
        *scratch_mounts(),
        *_home_mounts(policy),
        *_view_mounts(policy),
        *(Mount("--bind", policy.inside(real(at)), str(real(at))) for at in policy.writable),
        *(
            Mount("--ro-bind", alias, str(folder))
            for folder, alias in policy.placement.borrowed.items()
        ),
        *_layer_mounts(policy),
        *(Mount("--bind", target, str(source)) for source, target in policy.binds),
        *(_cover(path, policy.inside(path)) for path in map(real, hidden_in_worktree(policy))),
        *(_mount("--ro-bind", place) for place in policy.readonly if exists(place)),
        *late_mounts(),
    ]


def system_mounts() -> Iterator[Mount]:
    """What every lane sees of `/`."""
    tops = [top for top in (Path("/", name) for name in SYSTEM) if top != _SYS]
    for place in (*tops, *(Path("/var", name) for name in VAR)):
        if place.is_symlink():
            yield Mount("--symlink", place, str(place.readlink()))
        elif exists(place):
            yield _mount("--ro-bind", place)


def late_mounts() -> Iterator[Mount]:
    """What of `/` is mounted after all else: bwrap reads the whole table of mounts for each bind,
    and this one brings a dozen of its own (cgroups)."""
    if is_folder(_SYS):
        yield _mount("--ro-bind", _SYS)


def kernel_mounts() -> tuple[Mount, ...]:
    """Fresh ones."""
    return (Mount("--dev", Path("/dev")), Mount("--proc", Path("/proc")))


def scratch_mounts() -> Iterator[Mount]:
    """Empty ones."""
    for place in SCRATCH:
        yield Mount("--perms 1777 --tmpfs", Path(place))
    yield Mount("--symlink", Path("/var/run"), "/run")


def home_target(policy: SandboxPolicy) -> Path | None:
    """Where the lane's own HOME is laid; None where it has none, or there can be no place."""
    home = policy.view.home
    if policy.home_folder is None or home == Path("/"):
        return None
    return None if is_system(home) and not is_folder(home) else home


def read_only_at_last(policy: SandboxPolicy) -> Iterator[Path]:
    """What is remounted when everything stands: work done there would be lost."""
    yield from _sealed(policy)
    yield Path("/")


def _home_mounts(policy: SandboxPolicy) -> Iterator[Mount]:
    target = home_target(policy)
    if target is not None:
        yield Mount("--bind", target, str(policy.home_folder))


def _sealed(policy: SandboxPolicy) -> Iterator[Path]:
    """Hydra's state is empty but for the lane, and so is the user's checkout, where nothing else is
    mounted over it; where no more than the way to them could be written, they need no cover."""
    home, view = home_target(policy), policy.view
    shown = {shown_place.path for shown_place in view.shown}
    writable = {*map(Path, SCRATCH), *shown, *([home] if home else ())}
    for place in (real(policy.state), *(path for path in view.sealed if path not in shown)):
        if place == policy.placement.path:
            continue
        if writable.intersection(place.parents) or (is_system(place) and is_sealable(place)):
            yield place


def _view_mounts(policy: SandboxPolicy) -> Iterator[Mount]:
    view, home = policy.view, home_target(policy)
    for place, target in view.links.items():
        if home is None or home not in place.parents:  # those in HOME are made with it
            yield Mount("--symlink", place, target)
    # The view is as old as the race: an update may have put another folder in the place of one.
    outside = (place.path for place in view.shown if not _is_in_place(policy, place.path))
    shown = [_mount("--ro-bind", path) for path in outside if exists(path)]
    seals = [Mount("--tmpfs", place) for place in _sealed(policy)]
    # What holds another comes first; of two for one place the seal is laid last.
    yield from sorted((*shown, *seals), key=lambda mount: mount.target.parts)
    masked = (place for place in view.masked if not _is_in_place(policy, place))
    yield from map(_cover, filter(exists, masked))


def _is_in_place(policy: SandboxPolicy, path: Path) -> bool:
    """Of the checkout: the lane has a tree of its own there, where nothing of it is laid."""
    place = policy.placement.path
    return place is not None and path.is_relative_to(place)


def _layer_mounts(policy: SandboxPolicy) -> Iterator[Mount]:
    layer = policy.placement.layer
    if layer is not None:
        option = "--bind" if layer.namespaces else "--ro-bind"
        for name, target in layer.places.items():
            if _is_free(policy, target):
                yield Mount(option, target, str(layer.source(name)))


def _is_free(policy: SandboxPolicy, target: Path) -> bool:
    """Whether no earlier command of the lane has laid a link or a file in a mount's way: bwrap
    would follow the link, and start nothing behind the file."""
    place = policy.placement.path
    if place is None or not target.is_relative_to(place):
        return True
    way = real(policy.cwd) / target.relative_to(place)
    return real(way) == way and all(map(_can_hold, (way, *way.parents)))


def _can_hold(step: Path) -> bool:
    return is_folder(step) or not exists(step)


def _cover(place: Path, target: Path | None = None) -> Mount:
    target = target or place
    if is_folder(place):
        return Mount("--perms 0555 --tmpfs", target)
    return Mount("--ro-bind", target, str(_NOTHING.get(place.suffix, _EMPTY_FILE)))


def _mount(option: str, place: Path) -> Mount:
    return Mount(option, real(place), str(real(place)))


def real(path: Path) -> Path:
    """By its real name, whether it is there or not."""
    return Path(os.path.realpath(path))

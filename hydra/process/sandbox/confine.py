"""A command inside its policy: bwrap's command line (0.8 or later). docs/why/keeper.md draws it."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from hydra.process.records import CannotStart
from hydra.process.sandbox.lane_home import furnish, is_plain
from hydra.process.sandbox.layers import entering, users_own
from hydra.process.sandbox.mounts import (
    FENCED,
    NAMESPACES,
    Mount,
    arguments,
    disarmed,
    mounts_of,
    read_only_at_last,
    real,
)
from hydra.process.sandbox.policy import SandboxPolicy
from hydra.records.plan import Confinement

_PLACES = {
    real(Path(__file__).parents[2]): Path("/run/hydra/package"),
    real(Path(sys.base_prefix)): Path("/run/hydra/python"),
}


def keeper_mounts(policy: SandboxPolicy) -> Iterator[Mount]:
    """Its package's, and its interpreter's where that is no system's; none for most. In a checkout
    that Hydra is installed in, a lane has its own there: these have other names, read-only."""
    for source, place in _covered(policy):
        yield Mount("--ro-bind", place, str(source))


def by_place(policy: SandboxPolicy, argv: Sequence[str]) -> tuple[str, ...]:
    """A keeper's command line with the names by which it is there; the agent's own is after --."""
    end = argv.index("--") if "--" in argv else len(argv)
    own = list(argv[:end])
    for source, place in _covered(policy):
        own = [_renamed(part, source, place) for part in own]
    return (*own, *argv[end:])


def _renamed(part: str, source: Path, place: Path) -> str:
    path = Path(part)
    return str(place / path.relative_to(source)) if path.is_relative_to(source) else part


def _covered(policy: SandboxPolicy) -> list[tuple[Path, Path]]:
    top, layer = policy.placement.path, policy.placement.layer
    if top is None:
        return []
    own = (top, *(layer.places.values() if layer else ()))
    return [pair for pair in _PLACES.items() if any(map(pair[0].is_relative_to, own))]


def confine(
    confinement: Confinement, policy: SandboxPolicy, argv: Sequence[str]
) -> tuple[str, ...]:
    """`argv` inside `policy`, whose HOME is made where it is not there; unchanged where nothing
    confines here. Raises `CannotStart`."""
    if not confinement.holds:
        return tuple(argv)
    inside = _unrestricted(policy) if policy.unrestricted else _restricted(policy)
    network = ("--unshare-net",) if policy.private_network else ()
    place = ("--chdir", str(_folder(policy)))  # bwrap sets PWD to that, too
    command = by_place(policy, argv)
    documents = (confinement.program, *inside, *network, *NAMESPACES, *place, "--", *command)
    return (*entering(policy.placement.layer, confinement.mounters), *documents)


def _folder(policy: SandboxPolicy) -> Path:
    """Where the command starts: at the checkout's path by the name that its user has for it."""
    if policy.placement.path is None:
        return policy.cwd
    return policy.view.checkout_name or policy.placement.path


def _unrestricted(policy: SandboxPolicy) -> list[str]:
    # A copy of settings is mounted only where it has a place: nothing is made in the user's HOME.
    places = (pair for pair in policy.binds if os.access(pair[1], os.F_OK))
    binds = (Mount("--bind", target, str(source)) for source, target in places)
    return ["--dev-bind", "/", "/", "--proc", "/proc", *arguments(binds)]


def _restricted(policy: SandboxPolicy) -> list[str]:
    mounts = [*_safe(policy, mounts_of(policy)), *keeper_mounts(policy)]
    _furnish(policy, mounts)
    covered = (mount.target for mount in mounts if mount.option.endswith("0555 --tmpfs"))
    fixed = (*covered, *read_only_at_last(policy))
    return [
        *arguments(mounts),
        *(part for place in fixed for part in ("--remount-ro", str(place))),
        "--unshare-ipc",
        *FENCED,
        *(users_own() if policy.placement.overlaid else ()),
        *disarmed(),
    ]


def _furnish(policy: SandboxPolicy, mounts: Sequence[Mount]) -> None:
    try:
        furnish(policy, mounts)
    except OSError as problem:  # bwrap would only say that a folder is not there
        name = errno.errorcode.get(problem.errno or 0, "")
        message = f"its HOME could not be made: {problem.strerror}: {policy.home_folder}"
        raise CannotStart(message, errno=name) from problem


def _safe(policy: SandboxPolicy, mounts: list[Mount]) -> Iterator[Mount]:
    """Without those whose place lies in a folder of the agent's behind a link that it has made."""
    folders = {target: source for source, target in policy.binds}
    folders |= {policy.inside(real(place)): place for place in policy.writable}
    laid = {target for _, target in policy.binds} | set(map(real, policy.readonly))
    for mount in mounts:
        above = [place for place in folders if place in mount.target.parents]
        if mount.target not in laid or all(
            is_plain(folders[place], mount.target.relative_to(place)) for place in above
        ):
            yield mount

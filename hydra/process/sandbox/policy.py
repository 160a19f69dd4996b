"""What one command may see and write."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct, field

from hydra.process.sandbox.layers import Placement
from hydra.process.sandbox.view import View

_PATH = re.compile(r"(?:^|(?<=[\s=:,;\"'(]))(~?/(?!/)[^\s:,;\"'()]+)")
"""`--require /home/ada/x.js`, `/a:/b`, `file=~/x`; what follows `//` is an address."""

_LED = frozenset(("PATH", "HOME"))
"""What PATH names is shown, or not, by its own rule; HOME is the lane's."""


def hidden_variables(environment: Mapping[str, str], policy: SandboxPolicy) -> dict[str, Path]:
    """Those that name something which is there and which the policy does not show, and what."""
    pairs = ((name, _hidden(value, policy)) for name, value in environment.items())
    return {name: path for name, path in pairs if path is not None and name not in _LED}


def _hidden(value: str, policy: SandboxPolicy) -> Path | None:
    named = _paths(value, policy.view.home)
    return next(
        (path for path in named if os.path.lexists(path) and not is_seen(path, policy)), None
    )


def _paths(value: str, home: Path) -> Iterator[Path]:
    for match in _PATH.findall(value):
        yield home / match[2:] if match.startswith("~/") else Path(match)


def is_seen(path: Path, policy: SandboxPolicy) -> bool:
    """Whether a command under `policy` finds something at `path`."""
    real = Path(os.path.realpath(path))
    place = policy.placement.path
    if place is not None and real.is_relative_to(place):
        return True  # or its lane's own has not got it: VIRTUAL_ENV, PYTHONPATH=$PWD/src
    own = (*policy.writable, *(target for _, target in policy.binds), *policy.readonly)
    return policy.view.is_visible(path) or any(map(real.is_relative_to, own))


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

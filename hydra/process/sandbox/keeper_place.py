"""Where a lane has the keeper and its interpreter that lie in the user's checkout.

Hydra may be installed in the environment of the project that it races in, in the checkout or
outside. There a command sees its lane's own, where these are not, or are the agent's to change: so
they are shown by other names, read-only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from hydra.process.sandbox.mounts import Mount, real
from hydra.process.sandbox.policy import SandboxPolicy

_PLACES = {
    real(Path(__file__).parents[2]): Path("/run/hydra/package"),
    real(Path(sys.base_prefix)): Path("/run/hydra/python"),
}


def keeper_mounts(policy: SandboxPolicy) -> Iterator[Mount]:
    """Its package's, and its interpreter's where that is no system's; none for most."""
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

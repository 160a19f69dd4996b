"""The checkout's dependencies for the commands of one race or check, linked once for all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from hydra import paths
from hydra.config import Config
from hydra.git.later import Later
from hydra.git.repository import Repository
from hydra.model import RacePlan
from hydra.workspace import tree
from hydra.workspace.dependencies import (
    Dependencies,
    DependencySource,
    dependency_names,
    freeze,
)
from hydra.workspace.environments import environments

FROZEN = "_frozen"
"""The tree of links, among a run's grounds: no lane's name begins so, and who sweeps takes it."""


def names_of(repository: Repository, config: Config, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Which there are: of the checkout from its top, of environments outside it the whole paths."""
    outside = environments(repository.root, paths.home_dir(environ), environ)
    folders = (str(place) for place in outside if place.is_dir())
    return (*dependency_names(repository, config.race.share), *folders)


@contextmanager
def linked(
    plan: RacePlan, repository: Repository, frozen: Path
) -> Iterator[DependencySource | None]:
    """Links them to `frozen` in a thread, where something confines what needs them: that waits for
    it. They go at the end."""
    if not plan.confined:
        yield None
        return
    writable = bool(plan.confinement.mounters)
    later = Later(partial(_link, repository, plan.dependencies, frozen, writable=writable))
    try:
        yield later.result
    finally:
        later.wait()
        with suppress(OSError):
            tree.remove(frozen)


def _link(
    repository: Repository, folders: Sequence[str], frozen: Path, *, writable: bool
) -> Dependencies:
    if frozen.exists():
        tree.remove(frozen)  # a killed Hydra has left it
    return freeze(repository, folders, frozen, writable=writable)

"""The checkout's dependencies for the commands of one race or check, linked once for all."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from msgspec.structs import replace

from hydra import paths
from hydra.config.schema import Config
from hydra.git.background import Later
from hydra.git.base_commit import Repository
from hydra.records.plan import RacePlan
from hydra.records.store.files import UNBORN, take_lock
from hydra.workspace import tree
from hydra.workspace.dependencies import (
    FROZEN,
    LINKS,
    LOOK,
    Dependencies,
    DependencySource,
    dependency_names,
    freeze,
)
from hydra.workspace.environments import environments

__all__ = ("FROZEN", "LOOK", "Links", "linked", "linked_aside")


class Links:
    """The tree of links of one race, made in a thread.

    It may be begun before the race has a record; until then its lock says that somebody is at work
    there, and nobody sweeps it.
    """

    def __init__(
        self, repository: Repository, folders: Sequence[str], frozen: Path, floor: int
    ) -> None:
        """`floor`: `limits.disk_floor`, for what has to be copied."""
        self._repository = repository
        self._folders = folders
        self._frozen = frozen
        self._floor = floor
        self._lock: int | None = None
        self._later = Later(self._link)

    def result(self, mounters: tuple[str, ...]) -> Dependencies:
        """Waits for it. Raises `OSError`."""
        return replace(self._later.result(), mounters=mounters)

    def remove(self) -> None:
        """Waits for it, and removes it; again does nothing."""
        self._later.wait()
        with suppress(OSError):
            tree.remove(self._frozen / LINKS)  # the lock goes last: who is killed here is swept
            tree.remove(self._frozen)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    async def remove_aside(self) -> None:
        """`remove` in a thread: so many files take seconds, in which signals are to be seen."""
        import trio  # what git is asked first stands without it

        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(self.remove)

    def _link(self) -> Dependencies:
        if self._frozen.exists():
            tree.remove(self._frozen)  # a killed Hydra has left it
        self._claim()
        # Beside the lock: a folder of the checkout may be called so, too.
        links = self._frozen / LINKS
        return freeze(self._repository, self._folders, links, floor=self._floor)

    def _claim(self) -> None:
        """Under another name until its lock is had: a sweep takes what bears this one and a lock
        that nobody has."""
        unborn = self._frozen.with_name(self._frozen.name + UNBORN)
        unborn.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = take_lock(unborn)
        unborn.rename(self._frozen)


def names_of(repository: Repository, config: Config, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Which there are: of the checkout from its top, of environments outside it the whole paths."""
    outside = environments(repository.root, paths.home_dir(environ), environ)
    folders = (str(place) for place in outside if place.is_dir())
    return tuple(dict.fromkeys((*dependency_names(repository, config.race.share), *folders)))


@contextmanager
def linked(
    plan: RacePlan, repository: Repository, frozen: Path
) -> Iterator[DependencySource | None]:
    """Links them to `frozen`, where something confines what needs them: that waits for it. They go
    at the end."""
    links = _links_of(plan, repository, frozen, None)
    try:
        yield _source(links, plan)
    finally:
        if links is not None:
            links.remove()


@asynccontextmanager
async def linked_aside(
    plan: RacePlan, repository: Repository, frozen: Path, begun: Links | None = None
) -> AsyncIterator[DependencySource | None]:
    """`linked`, for whoever has Trio's thread: they go in another. `begun` are linked already."""
    links = _links_of(plan, repository, frozen, begun)
    try:
        yield _source(links, plan)
    finally:
        if links is not None:
            await links.remove_aside()


def _links_of(
    plan: RacePlan, repository: Repository, frozen: Path, begun: Links | None
) -> Links | None:
    if not plan.confined:
        return None
    return begun or Links(repository, plan.dependencies, frozen, plan.limits.disk_floor)


def _source(links: Links | None, plan: RacePlan) -> DependencySource | None:
    return None if links is None else lambda: links.result(plan.confinement.mounters)

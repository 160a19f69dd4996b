"""The checkout's dependencies for the commands of one race or check, linked once for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from hydra.git.later import Later
from hydra.git.repository import Repository
from hydra.workspace import tree
from hydra.workspace.dependencies import (
    Dependencies,
    DependencySource,
    dependency_folders,
    freeze,
)


@contextmanager
def linked(
    repository: Repository, frozen: Path, share: Sequence[str], *, writable: bool
) -> Iterator[DependencySource]:
    """Links them to `frozen` in a thread; who needs them waits. They go at the end."""
    later = Later(partial(_link, repository, frozen, share, writable=writable))
    try:
        yield later.result
    finally:
        later.wait()
        with suppress(OSError):
            tree.remove(frozen)


def _link(
    repository: Repository, frozen: Path, share: Sequence[str], *, writable: bool
) -> Dependencies:
    with suppress(OSError):
        tree.remove(frozen)  # what a killed Hydra has left
    return freeze(repository, dependency_folders(repository, share), frozen, writable=writable)

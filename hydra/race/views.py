"""What the commands of a race, a check or a hook see of this machine: computed once for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from hydra.adapters import registry
from hydra.adapters.config_dirs import places
from hydra.adapters.contract import Adapter
from hydra.config.schema import Config
from hydra.git.base_commit import Repository
from hydra.process.sandbox.masks import Masks, hidden_in_system
from hydra.process.sandbox.view import View
from hydra.workspace.environments import environments


def view_source(
    *,
    config: Config,
    environ: Mapping[str, str],
    home: Path,
    state: Path,
    repository: Repository | None,
    adapters: Mapping[str, Adapter],
    programs: Iterable[str] = (),
    commands: Iterable[str] = (),
    show: Iterable[str] = (),
    masks: Masks = hidden_in_system,
) -> Callable[[], View]:
    """Computes at the first call, which blocks for some milliseconds; then gives the same again.

    `programs` are the racing agents' own, by absolute path; `commands` those of checks and set-up,
    whose programs are shown where they are named by a whole path; `show` what is shown beside that
    which the user's settings name. Without a `repository` none of its objects is shown. `masks` is
    `hidden_in_system`, where that is under way already.
    """

    @cache
    def view() -> View:
        from hydra.process.sandbox.discovery import (
            compute_view,  # not before: it reads settings of tools
        )

        return compute_view(
            home,
            environ,
            programs=programs,
            commands=commands,
            objects=repository.all_objects if repository else (),
            show=(*config.show, *show),
            guarded=(state, *_moved_settings(adapters, environ, home)),
            repository=repository.root if repository else None,
            environments=environments(repository.root, home, environ) if repository else (),
            masks=masks,
        )

    return view


def _moved_settings(
    adapters: Mapping[str, Adapter], environ: Mapping[str, str], home: Path
) -> Iterator[Path]:
    """Agents' settings that lie where their own variables say: outside HOME, it may be."""
    if adapters is registry.OWN and not any(map(environ.get, registry.VARIABLES)):
        return  # all of them are where the tables look, and need not be loaded
    for adapter in adapters.values():
        yield from places(adapter.descriptor, environ, home)

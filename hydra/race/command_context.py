"""What every command stands on: a repository, and what is Hydra's of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from hydra import paths
from hydra.adapters import registry
from hydra.adapters.config_dirs import places
from hydra.adapters.contract import Adapter
from hydra.config.schema import Config
from hydra.git.base_commit import Repository
from hydra.process.sandbox.masks import Masks, hidden_in_system
from hydra.process.sandbox.view import View
from hydra.workspace.environments import environments

if TYPE_CHECKING:
    from hydra.git.background import Later
    from hydra.workspace.dependencies import DependencySource
    from hydra.workspace.surplus import Surplus


class CommandContext(Struct, frozen=True, kw_only=True):
    """A repository, where Hydra keeps what is its own, and the variables of who asks."""

    repository: Repository
    state: Path
    environ: Mapping[str, str]

    @property
    def home(self) -> Path:
        """The user's."""
        return paths.home_dir(self.environ)

    @property
    def folder(self) -> Path:
        """It holds the repository's runs."""
        return paths.runs_dir(self.state, self.repository.root)

    def run(
        self,
        config: Config,
        adapters: Mapping[str, Adapter],
        run_folder: Path,
        *,
        programs: Iterable[str] = (),
        commands: Iterable[str] = (),
        masks: Masks = hidden_in_system,
    ) -> RunContext:
        """What the commands of one run stand in, with the view that `view_source` gives."""
        return RunContext(
            repository=self.repository,
            state=self.state,
            environ=self.environ,
            config=config,
            adapters=adapters,
            run_folder=run_folder,
            view=view_source(
                *(config, self.environ, self.state, self.repository, adapters),
                programs=programs,
                commands=commands,
                masks=masks,
            ),
        )


class RunContext(CommandContext, frozen=True, kw_only=True):
    """What the agents, the checks and the set-up of one run stand in. `view` gives what they see of
    this machine, `dependencies` what of the checkout beside their tree, where something confines
    them; `surplus` what of it they do not see. Of `adapters` each one's keys are kept from checks.
    """

    config: Config
    adapters: Mapping[str, Adapter]
    run_folder: Path
    view: Callable[[], View]
    dependencies: DependencySource | None = None
    surplus: Later[Surplus] | None = None


def view_source(
    config: Config,
    environ: Mapping[str, str],
    state: Path,
    repository: Repository | None,
    adapters: Mapping[str, Adapter],
    *,
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
        # Not before: it reads settings of tools.
        from hydra.process.sandbox.discovery import compute_view

        home = paths.home_dir(environ)
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

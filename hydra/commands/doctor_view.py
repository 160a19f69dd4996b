"""`hydra doctor --view`: what the lanes of a race would see of this machine, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from hydra import executables, paths
from hydra.adapters.contract import Adapter
from hydra.adapters.probe import available, settings
from hydra.config.schema import Config
from hydra.errors import Exhausted, HydraError
from hydra.git import base_commit
from hydra.process.sandbox.view import View
from hydra.race.views import view_source


def seen_by_lanes() -> View:
    """Computed as for a race of every agent that is found here. Raises `HydraError`."""
    environ = executables.users_environment()
    repo = _repository()
    config = settings.load(repo.root if repo else None, environ, {})
    adapters = available.of_all(config).adapters
    view = view_source(
        config=config,
        environ=environ,
        home=paths.home_dir(environ),
        state=paths.state_dir(environ),
        repository=repo,
        adapters=adapters,
        programs=_programs(adapters, config, environ),
    )
    return view()


def _repository() -> base_commit.Repository | None:
    """The one that one stands in, if any."""
    try:
        return base_commit.read(Path.cwd())
    except Exhausted:
        raise
    except HydraError:
        return None


def _programs(
    adapters: Mapping[str, Adapter], config: Config, environ: Mapping[str, str]
) -> Iterator[str]:
    for key, adapter in adapters.items():
        configured = config.agent(key).path
        for name in (configured,) if configured else adapter.descriptor.binaries:
            if program := executables.find_all_users(name, environ.get("PATH")):
                yield program

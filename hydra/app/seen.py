"""`hydra doctor --view`: what the lanes of a race would see of this machine, and why."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from hydra import paths
from hydra.adapters.contract import Adapter
from hydra.app import roster, settings
from hydra.config import Config
from hydra.errors import HydraError
from hydra.git import repository
from hydra.sandbox import View
from hydra.sandbox.discovery import compute_view


def seen_by_lanes(flags: Mapping[str, object], environ: Mapping[str, str] | None = None) -> View:
    """Computed as for a race of every agent that is found here. Raises `HydraError`."""
    environ = dict(os.environ) if environ is None else environ
    home = Path(environ.get("HOME") or Path.home())
    root, objects = _repository()
    config = settings.load(root, environ, flags)
    return compute_view(
        home,
        environ,
        programs=_programs(config, environ),
        objects=objects,
        show=config.confine.show,
        guarded=(paths.state_dir(environ),),
        repository=root,
    )


def _repository() -> tuple[Path | None, tuple[Path, ...]]:
    """The one that one stands in, if any."""
    try:
        repo = repository.read(Path.cwd())
    except HydraError:
        return None, ()
    return repo.root, repo.objects


def _programs(config: Config, environ: Mapping[str, str]) -> tuple[str, ...]:
    adapters = roster.of_all(config).adapters.values()
    return tuple(program for adapter in adapters for program in _found(adapter, config, environ))


def _found(adapter: Adapter, config: Config, environ: Mapping[str, str]) -> Iterator[str]:
    descriptor = adapter.descriptor
    configured = config.agent(descriptor.key).path
    for name in (configured,) if configured else descriptor.binaries:
        if program := shutil.which(name, path=environ.get("PATH")):
            yield program

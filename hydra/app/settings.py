"""Reads the two hydra.toml files and the environment into one Config."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hydra import config, paths
from hydra.adapters import registry
from hydra.config import Config


def _further() -> list[str]:
    from hydra.app import roster  # only for a name that is none of Hydra's own

    return roster.further_keys()


def load(root: Path | None, environ: Mapping[str, str], flags: Mapping[str, object]) -> Config:
    """The settings in force. Raises `ConfigError` where a file says what Hydra cannot take."""
    found = config.load(
        user=config.read_file(paths.user_config_file(environ)),
        repository=config.read_file(root / "hydra.toml") if root is not None else None,
        environ=environ,
        flags=flags,
        agent_keys=tuple(registry.OWN),
        further_keys=_further,
    )
    if any(agent.adapter for agent in found.agents.values()):
        from hydra.app import roster

        roster.check_names(found)
    return found


def programs(settings: Config) -> dict[str, str]:
    """The configured program of each agent that has one."""
    return {key: agent.path for key, agent in settings.agents.items() if agent.path}


def extra_names(settings: Config) -> dict[str, tuple[str, ...]]:
    """The environment variables that each agent is given beyond its own."""
    return {key: agent.environment for key, agent in settings.agents.items()}

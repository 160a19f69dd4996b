"""`[remotes.<name>]` to records: where a lane's agent can run but on this machine."""

from __future__ import annotations

from collections.abc import Mapping

from hydra.config.key import NAME
from hydra.config.keys import REMOTE
from hydra.config.model import LOCAL, AgentSettings, Profile, Remote
from hydra.config.sources import ConfigValue, Layer, tables_of
from hydra.errors import ConfigError
from hydra.text import nearest

_PLACES = {"ssh": ("host",), "docker": ("container", "image"), "k8s": ("pod",)}
"""Which of these keys says where, by mode."""

_ALSO = {"k8s": ("namespace", "context")}


def remotes(layer: Layer) -> dict[str, Remote]:
    """Every one. Raises `ConfigError` for one that does not say where, or says it twice."""
    tables = sorted(tables_of(layer, "remotes").items())
    return {name: _remote(name, table) for name, table in tables}


def _remote(name: str, table: Mapping[str, ConfigValue]) -> Remote:
    where = next(iter(table.values())).where
    if not NAME.fullmatch(name) or name == LOCAL:
        why = "that is this machine" if name == LOCAL else "a name is of a-z, 0-9 and -"
        raise ConfigError(f'{where}: no remote can be called "{name}": {why}')
    if "mode" not in table:
        hint = f'add mode = "ssh", "docker" or "k8s" to [remotes.{name}]'
        raise ConfigError(f"{where}: the remote {name} has no mode", hint=hint)
    mode = str(table["mode"].value)
    places = _PLACES[mode]
    named = [place for place in places if place in table]
    if len(named) != 1:
        many = f"says both {' and '.join(places)}" if named else f"has no {' or '.join(places)}"
        hint = f"mode {mode} takes one of: {', '.join(places)}"
        raise ConfigError(f"{where}: the remote {name} {many}", hint=hint)
    fitting = {*places, *_ALSO.get(mode, ()), "mode", "workdir", "program", "options"}
    for leaf, item in table.items():
        if leaf not in fitting:
            hint = f"take it out of [remotes.{name}], or change its mode"
            raise ConfigError(f"{item.where}: {leaf} is not for mode {mode}", hint=hint)
    return Remote(name=name, **{REMOTE[leaf].field: item.value for leaf, item in table.items()})


def check_named(
    mapping: Mapping[str, Remote],
    agents: Mapping[str, AgentSettings],
    profiles: Mapping[str, Profile],
    sources: Mapping[str, str],
) -> None:
    """Raises `ConfigError` where an agent or a profile names a remote that is not there."""
    rows = [(f"agents.{key}.remote", agent.remote) for key, agent in agents.items()]
    rows += [(f"profiles.{name}.remote", profile.remote) for name, profile in profiles.items()]
    for key, remote in rows:
        if remote and remote != LOCAL and remote not in mapping:
            near = nearest(remote, mapping)
            hint = f"the nearest is {near}" if near else f'write [remotes.{remote}], or "{LOCAL}"'
            raise ConfigError(f'{sources[key]}: {key}: there is no remote "{remote}"', hint=hint)

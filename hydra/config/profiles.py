"""`[profiles.<name>]` to records: an agent under a name of its own, with all that goes with it."""

import re
from collections.abc import Mapping
from typing import Any

from hydra.config.key import NAME
from hydra.config.keys import PROFILE
from hydra.config.layers import AgentKeys
from hydra.config.model import Profile
from hydra.config.sources import ConfigValue, Layer, tables_of
from hydra.errors import ConfigError
from hydra.records.request import Budget, Effort, Permission

_BUDGET = frozenset(Budget.__struct_fields__)


def check_once(own: Layer, theirs: Layer) -> None:
    """Raises where both files have a profile of one name: half of each would be neither."""
    mine, other = tables_of(own, "profiles"), tables_of(theirs, "profiles")
    for name in sorted(mine.keys() & other.keys()):
        places = [next(iter(table[name].values())).where for table in (mine, other)]
        raise ConfigError(
            f"two profiles are called {name}: {' and '.join(places)}",
            hint="give one of them another name",
        )


def profiles(layer: Layer, agents: AgentKeys) -> dict[str, Profile]:
    """Every profile.

    Raises `ConfigError` for one without an agent, of an agent that nobody knows, or by the name of
    an agent.
    """
    return {
        name: _profile(name, table, agents)
        for name, table in sorted(tables_of(layer, "profiles").items())
    }


def _profile(name: str, table: Mapping[str, ConfigValue], agents: AgentKeys) -> Profile:
    first = next(iter(table.values()))
    if re.match(r"\d+x.", name):
        raise ConfigError(f'{first.where}: no profile can be called "{name}": that is a count')
    if not NAME.fullmatch(name) or name in agents.names:
        why = "an agent is called so" if name in agents.names else "a name is of a-z, 0-9 and -"
        raise ConfigError(f'{first.where}: no profile can be called "{name}": {why}')
    if "agent" not in table:
        hint = f'add agent = "claude" to [profiles.{name}]'
        raise ConfigError(f"{first.where}: the profile {name} names no agent", hint=hint)
    agent = table["agent"]
    if agent.value not in agents:
        raise agents.unknown(agent.value, agent.where)
    return _record({PROFILE[leaf].field: item.value for leaf, item in table.items()}, first)


def _record(document: dict[str, Any], first: ConfigValue) -> Profile:
    budget = Budget(**{field: document.pop(field) for field in _BUDGET & document.keys()})
    effort, permission = document.pop("effort", None), document.pop("permission", None)
    return Profile(
        **document,
        effort=Effort(effort) if effort else None,
        permission=Permission(permission) if permission else None,
        budget=budget,
        source=first.where,
    )

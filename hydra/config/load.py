"""All the places to one `Config`: flags, environment, repository, user, defaults."""

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

from hydra.config.checks import from_tables, named
from hydra.config.key import LOWER, Key
from hydra.config.keys import AGENT, CHECK, FIXED
from hydra.config.layers import OWN_FILE, AgentKeys, from_environment, from_file, from_flags
from hydra.config.model import (
    AgentSettings,
    CheckSettings,
    Config,
    ConfineSettings,
    HookSettings,
    JudgeSettings,
    RaceSettings,
)
from hydra.config.models import own_models
from hydra.config.profiles import check_once, profiles
from hydra.config.remotes import check_named, remotes
from hydra.config.sources import ConfigValue, Layer, tables_of
from hydra.errors import ConfigError
from hydra.records.request import Budget, Effort, Limits, Permission, Retry

DEFAULT = "default"
"""The source of what nobody set."""


def load(
    *,
    user: tuple[str, str] | None = None,
    repository: tuple[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
    agent_keys: Collection[str] = (),
    further_keys: Callable[[], Collection[str]] = tuple,
    not_run: Mapping[str, tuple[str, str]] = MappingProxyType({}),
) -> Config:
    """The settings of a race, every one checked, with where each came from.

    `user` and `repository` are (path for messages, TOML text); `flags` go by dotted key, and None,
    an empty tuple or an absent switch means that the flag was not given. A list from a higher place
    replaces a lower one's, but for protected paths, to which a repository only adds. With
    `agent_keys`, an `[agents.<key>]` of no adapter is an error, and HYDRA_<KEY>_PATH and
    HYDRA_<KEY>_MODEL are read for each; `further_keys` gives more of them, and is called only for
    a name that is none of these; `not_run` are refused in words of their own. Raises `ConfigError`.
    """
    agents = AgentKeys(agent_keys, further_keys, not_run)
    own = from_file(*user, agents, trusted=True) if user else {}
    theirs = from_file(*repository, agents, trusted=False) if repository else {}
    variables, options = from_environment(environ or {}, agents), from_flags(flags or {})
    check_once(own, theirs)
    _only_highest(own, theirs, variables, options)
    above = variables | options
    lowered = _only_lowered(theirs, own, overridden=above)
    values = {**own, **lowered, **_joined(own, theirs), **above}
    return _config(values, environ or {}, agents)


_JOINED = "judge.protected_paths"


def _joined(own: Layer, theirs: Layer) -> Layer:
    """A repository takes no protection away that the user's own file gives."""
    if _JOINED not in own or _JOINED not in theirs:
        return {}
    mine, added = own[_JOINED], theirs[_JOINED]
    paths = tuple(dict.fromkeys((*mine.value, *added.value)))
    return {_JOINED: added._replace(value=paths, source=f"{mine.source}, {added.source}")}


def _only_highest(*layers: Layer) -> None:
    """Takes the checks out of every place but the highest that names any: they are one list."""
    naming = [layer for layer in layers if any(map(_names_a_check, layer))]
    for layer in naming[:-1]:
        for name in list(filter(_names_a_check, layer)):
            del layer[name]


def _names_a_check(name: str) -> bool:
    return name == "race.check" or (name.startswith("checks.") and name.count(".") == 2)


_RANK: Mapping[str, tuple[object, ...]] = {
    "race.permission": ("plan", "edit", "full-auto"),
    "race.network": (False, None, True),
}
"""What a repository may only lower, from the least that is granted to the most."""


_CLIS_OWN = ("default", "config")


def _only_lowered(theirs: Layer, own: Layer, *, overridden: Collection[str]) -> Layer:
    """The repository's values without those that lower nothing. Raises where one would raise."""
    founds = dict(theirs)
    for name in theirs:
        if name not in FIXED or FIXED[name].repository != LOWER:
            continue
        mine = own[name].value if name in own else FIXED[name].default
        ceiling, number = _granted(name, mine), _granted(name, theirs[name].value)
        if mine in _CLIS_OWN:
            # `plan` alone is surely less than what a CLI does by itself, or as it is set up.
            ceiling = number if theirs[name].value == mine else _granted(name, "plan") + 0.5
        if number > ceiling and name not in overridden:
            raise _raised(name, theirs[name], own.get(name))
        if number >= ceiling:
            del founds[name]
    return founds


def _granted(name: str, value: Any) -> float:
    """How much a value grants, to be held against another of the same key."""
    if name not in _RANK:
        return float(value)
    rank = _RANK[name]
    return rank.index(value) if value in rank else len(rank) - 1


def _raised(name: str, item: ConfigValue, mine: ConfigValue | None) -> ConfigError:
    key = FIXED[name]
    yours = _toml(key, mine.value) if mine else key.shown or _toml(key, key.default)
    where = f" ({mine.where})" if mine else ""
    way = key.flag.split(" / ")[0]
    return ConfigError(
        f"{item.where}: {key.leaf} = {_toml(key, item.value)} is more than you grant: "
        f"yours is {yours}{where}",
        hint="a repository's hydra.toml may only lower it: "
        f"{f'use {way}' if way else f'set {key.environment}'}, or put it in {OWN_FILE}",
    )


def _toml(key: Key, value: object) -> str:
    written = key.kind.write(value)
    return f'"{written}"' if isinstance(written, str) else f"{written}".lower()


def _config(values: Layer, environ: Mapping[str, str], agents: AgentKeys) -> Config:
    race = _section(values, "race")
    race.pop("unsafe_full_access", None)  # it has become the permission
    race.pop("check", None)
    permission, effort = race.pop("permission", None), race.pop("effort", None)
    setup = values.get("race.setup")
    sources = dict.fromkeys(FIXED, DEFAULT) | {name: at.source for name, at in values.items()}
    of_agents, own = _agents(values, environ), profiles(values, agents)
    elsewhere = remotes(values)
    check_named(elsewhere, of_agents, own, sources)
    return Config(
        race=RaceSettings(
            permission=Permission(permission) if permission else None,
            effort=Effort(effort) if effort else None,
            setup_trusted=setup is None or setup.trusted,
            **race,
        ),
        limits=Limits(**_section(values, "limits")),
        checks=_checks(values),
        judge=JudgeSettings(**_section(values, "judge")),
        budget=Budget(**_section(values, "budget")),
        retry=Retry(**_section(values, "retry")),
        hooks=HookSettings(**_section(values, "hooks")),
        confine=ConfineSettings(**_section(values, "confine")),
        agents=of_agents,
        profiles=own,
        remotes=elsewhere,
        models=own_models(values),
        sources=sources,
    )


def _section(values: Layer, section: str) -> dict[str, Any]:
    keys = {name: key for name, key in FIXED.items() if key.section == section}
    return {key.field: values[name].value for name, key in keys.items() if name in values}


def _checks(values: Layer) -> CheckSettings:
    tables = {
        name: {CHECK[leaf].field: item.value for leaf, item in table.items()}
        for name, table in tables_of(values, "checks").items()
    }
    listed = values["race.check"].value if "race.check" in values else ()
    naming = [item for name, item in values.items() if _names_a_check(name)]
    try:
        checks = (*from_tables(tables), *named(listed, tables))
    except ConfigError as error:
        raise ConfigError(f"{naming[0].where}: {error.message}", hint=error.hint) from None
    return CheckSettings(
        checks=checks,
        trusted=all(item.trusted for item in naming),
        **_section(values, "checks"),
    )


def _agents(values: Layer, environ: Mapping[str, str]) -> dict[str, AgentSettings]:
    def read(leaf: str, item: ConfigValue) -> Any:
        value = _at_home(item, environ) if leaf == "path" else item.value
        return Effort(value) if leaf == "effort" else value

    return {
        agent: AgentSettings(**{AGENT[leaf].field: read(leaf, at) for leaf, at in table.items()})
        for agent, table in sorted(tables_of(values, "agents").items())
    }


def _at_home(item: ConfigValue, environ: Mapping[str, str]) -> str:
    path: str = item.value
    if not path.startswith("~/"):
        return path
    home = environ.get("HOME", "")
    if not home.startswith("/"):
        raise ConfigError(f'{item.where}: "{path}" needs HOME, which is not set')
    return f"{home.rstrip('/')}/{path[2:]}"

"""All the places to one `Config`: flags, environment, repository, user, defaults."""

import re
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

from hydra.config import schema
from hydra.config.check_specs import kind_of, named
from hydra.config.layers import (
    OWN_FILE,
    AgentKeys,
    ConfigValue,
    Layer,
    from_environment,
    from_file,
    from_flags,
    tables_of,
)
from hydra.config.schema import FIXED, LOCAL, LOWER, NAMED, Config, Key
from hydra.config.values import NAME
from hydra.errors import ConfigError
from hydra.records.request import Budget, Check, Limits, Retry
from hydra.text import nearest

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
    _check_profiles_once(own, theirs)
    _only_highest(own, theirs, variables, options)
    above = variables | options
    values = own | _only_lowered(theirs, own, overridden=above) | _joined(own, theirs) | above
    return _config(values, environ or {}, agents)


# --- the layers, one over the other ---


def _joined(own: Layer, theirs: Layer) -> Layer:
    """A repository takes no protection away that the user's own file gives."""
    name = "judge.protected_paths"
    if name not in own or name not in theirs:
        return {}
    paths = tuple(dict.fromkeys((*own[name].value, *theirs[name].value)))
    source = f"{own[name].source}, {theirs[name].source}"
    return {name: theirs[name]._replace(value=paths, source=source)}


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


def _only_lowered(theirs: Layer, own: Layer, *, overridden: Collection[str]) -> Layer:
    """The repository's values without those that lower nothing. Raises where one would raise."""
    lowered = dict(theirs)
    for name, item in theirs.items():
        if name not in FIXED or FIXED[name].repository != LOWER:
            continue
        mine = own[name].value if name in own else FIXED[name].default
        ceiling, number = _granted(name, mine), _granted(name, item.value)
        if mine in ("default", "config"):
            # `plan` alone is surely less than what a CLI does by itself, or as it is set up.
            ceiling = number if item.value == mine else _granted(name, "plan") + 0.5
        if number > ceiling and name not in overridden:
            raise _raised(FIXED[name], item, own.get(name))
        if number >= ceiling:
            del lowered[name]
    return lowered


def _granted(name: str, value: Any) -> float:
    """How much a value grants, to be held against another of the same key."""
    if name not in _RANK:
        return float(value)
    rank = _RANK[name]
    return rank.index(value) if value in rank else len(rank) - 1


def _raised(key: Key, item: ConfigValue, mine: ConfigValue | None) -> ConfigError:
    yours = _toml(key, mine.value) if mine else key.shown or _toml(key, key.default)
    where = f" ({mine.where})" if mine else ""
    way = f"use {key.flag.split(' / ')[0]}" if key.flag else f"set {key.environment}"
    return ConfigError(
        f"{item.where}: {key.leaf} = {_toml(key, item.value)} is more than you grant: "
        f"yours is {yours}{where}",
        hint=f"a repository's hydra.toml may only lower it: {way}, or put it in {OWN_FILE}",
    )


def _toml(key: Key, value: object) -> str:
    written = key.kind.write(value)
    return f'"{written}"' if isinstance(written, str) else f"{written}".lower()


# --- checked values to records ---


def _config(values: Layer, environ: Mapping[str, str], agents: AgentKeys) -> Config:
    race = _section(values, "race")
    race.pop("unsafe_full_access", None)  # it has become the permission
    race.pop("check", None)
    setup = values.get("race.setup")
    sources = dict.fromkeys(FIXED, DEFAULT) | {name: at.source for name, at in values.items()}
    remotes = {name: _remote(name, table) for name, table in sorted(tables_of(values, "remotes"))}
    _check_remotes(values, remotes)
    return Config(
        race=schema.RaceSettings(setup_trusted=setup is None or setup.trusted, **race),
        limits=Limits(**_section(values, "limits")),
        checks=_checks(values),
        judge=schema.JudgeSettings(**_section(values, "judge")),
        budget=Budget(**_section(values, "budget")),
        retry=Retry(**_section(values, "retry")),
        hooks=schema.HookSettings(**_section(values, "hooks")),
        confine=schema.ConfineSettings(**_section(values, "confine")),
        agents={
            name: _agent(table, environ) for name, table in sorted(tables_of(values, "agents"))
        },
        profiles={
            name: _profile(name, at, agents) for name, at in sorted(tables_of(values, "profiles"))
        },
        remotes=remotes,
        models=_models(values),
        sources=sources,
    )


def _section(values: Layer, section: str) -> dict[str, Any]:
    keys = (key for key in FIXED.values() if key.section == section and key.name in values)
    return {key.field: values[key.name].value for key in keys}


def _fields(matter: str, table: Layer) -> dict[str, Any]:
    return {NAMED[matter][leaf].field: item.value for leaf, item in table.items()}


def _check_name(
    name: str, table: Layer, what: str, needed: tuple[str, str, str], why: str = ""
) -> str:
    """Where a table stands. Raises where its name cannot be, or what it needs is not in it."""
    where = next(iter(table.values())).where
    if why or not re.fullmatch(NAME, name):
        why = why or "a name is of a-z, 0-9 and -"
        raise ConfigError(f'{where}: no {what} can be called "{name}": {why}')
    key, lacks, hint = needed
    if key not in table:
        hint = f"add {key} = {hint.format(f'[{what}s.{name}]')}"
        raise ConfigError(f"{where}: the {what} {name} {lacks}", hint=hint)
    return where


def _checks(values: Layer) -> schema.CheckSettings:
    naming = [item for name, item in values.items() if _names_a_check(name)]
    checks, tables = [], tables_of(values, "checks")
    try:
        for name, table in tables:
            stated = _fields("checks", table)
            if "command" not in stated:
                raise ConfigError(f"[checks.{name}] has no command", hint='write command = "..."')
            checks.append(
                Check(**{"name": name, "kind": kind_of(name, stated["command"]), **stated})
            )
        listed = values["race.check"].value if "race.check" in values else ()
        checks += named(listed, dict(tables))
    except ConfigError as error:
        raise ConfigError(f"{naming[0].where}: {error.message}", hint=error.hint) from None
    trusted = all(item.trusted for item in naming)
    return schema.CheckSettings(tuple(checks), trusted, **_section(values, "checks"))


def _agent(table: Layer, environ: Mapping[str, str]) -> schema.AgentSettings:
    fields = _fields("agents", table)
    path = fields.get("path", "")
    if path.startswith("~/"):
        home = environ.get("HOME", "")
        if not home.startswith("/"):
            raise ConfigError(f'{table["path"].where}: "{path}" needs HOME, which is not set')
        fields["path"] = f"{home.rstrip('/')}/{path[2:]}"
    return schema.AgentSettings(**fields)


def _check_profiles_once(own: Layer, theirs: Layer) -> None:
    """Raises where both files have a profile of one name: half of each would be neither."""
    mine = dict(tables_of(own, "profiles"))
    for name, table in sorted(tables_of(theirs, "profiles")):
        if name in mine:
            places = [next(iter(at.values())).where for at in (mine[name], table)]
            raise ConfigError(
                f"two profiles are called {name}: {' and '.join(places)}",
                hint="give one of them another name",
            )


def _profile(name: str, table: Layer, agents: AgentKeys) -> schema.Profile:
    why = "an agent is called so" if name in agents.names else ""
    why = "that is a count" if re.match(r"\d+x.", name) else why
    needed = ("agent", "names no agent", '"claude" to {}')
    where = _check_name(name, table, "profile", needed, why)
    agents.check(table["agent"].value, table["agent"].where)
    fields = _fields("profiles", table)
    budget = {field: fields.pop(field) for field in Budget.__struct_fields__ if field in fields}
    return schema.Profile(**fields, budget=Budget(**budget), source=where)


_PLACES = {"ssh": ("host",), "docker": ("container", "image"), "k8s": ("pod",)}
"""Which keys of a remote say where, by mode."""

_ALSO = {"k8s": ("namespace", "context")}


def _remote(name: str, table: Layer) -> schema.Remote:
    why = "that is this machine" if name == LOCAL else ""
    needed = ("mode", "has no mode", '"ssh", "docker" or "k8s" to {}')
    where = _check_name(name, table, "remote", needed, why)
    mode = str(table["mode"].value)
    places = _PLACES[mode]
    stated = [place for place in places if place in table]
    if len(stated) != 1:
        many = f"says both {' and '.join(places)}" if stated else f"has no {' or '.join(places)}"
        hint = f"mode {mode} takes one of: {', '.join(places)}"
        raise ConfigError(f"{where}: the remote {name} {many}", hint=hint)
    fitting = {*places, *_ALSO.get(mode, ()), "mode", "workdir", "program", "options"}
    for leaf, item in table.items():
        if leaf not in fitting:
            hint = f"take it out of [remotes.{name}], or change its mode"
            raise ConfigError(f"{item.where}: {leaf} is not for mode {mode}", hint=hint)
    return schema.Remote(name=name, **_fields("remotes", table))


def _check_remotes(values: Layer, remotes: Collection[str]) -> None:
    """Raises where an agent or a profile names a remote that is not there."""
    for key, item in values.items():
        name = item.value
        if key.endswith(".remote") and name != LOCAL and name not in remotes:
            near = nearest(name, remotes)
            hint = f"the nearest is {near}" if near else f'write [remotes.{name}], or "{LOCAL}"'
            message = f'{item.source}: {key}: there is no remote "{name}"'
            raise ConfigError(message, hint=hint)


def _models(values: Layer) -> dict[str, schema.OwnModel]:
    models: dict[str, schema.OwnModel] = {}
    taken: dict[str, str] = {}
    for name, table in sorted(tables_of(values, "models")):
        needed = ("id", "has no id", '"..." to {}, as the agent\'s CLI calls it')
        where = _check_name(name, table, "model", needed)
        priced = [leaf for leaf in ("input_price", "output_price") if leaf in table]
        if len(priced) == 1 or (not priced and "cached_price" in table):
            hint = "give input_price and output_price, or none"
            raise ConfigError(f"{where}: the model {name} has half of its prices", hint=hint)
        models[name] = schema.OwnModel(**_fields("models", table))
        for term in {term.lower() for term in (name, *models[name].aliases)}:
            if taken.setdefault(term, name) != name:
                raise ConfigError(f'{where}: "{term}" already stands for the model {taken[term]}')
    return models

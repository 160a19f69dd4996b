"""All the places to one `Config`: flags, environment, repository, user, defaults.

Each is read to checked values by dotted key, a `Layer`. Every mistake is a `ConfigError` that names
the file and line, the variable or the flag.
"""

import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from hydra.config import schema
from hydra.config.check_specs import check_name, kind_of, named
from hydra.config.schema import FIXED, KEYS, LOCAL, LOWER, NAMED, NO, Config, Key
from hydra.config.toml import entries, line_of, parse
from hydra.config.values import NAME, inside
from hydra.errors import ConfigError
from hydra.records.request import Budget, Check, Limits, Permission, Retry, TrialCap
from hydra.text import nearest

DEFAULT = "default"
"""The source of what nobody set."""

_OWN_FILE = "your own hydra.toml ($HYDRA_CONFIG, else ~/.config/hydra/hydra.toml)"
_SECTIONS = frozenset(key.name.partition(".")[0] for key in KEYS)


class ConfigValue(NamedTuple):
    """A value; its source as records keep it; the place (with the line) as a message says it."""

    value: Any
    source: str
    where: str
    trusted: bool = True


Layer = dict[str, ConfigValue]
"""What a place says by dotted key; what one `[models.<name>]` says by its keys' last parts."""


Further = Callable[[], Collection[str]]
NotRun = Mapping[str, tuple[str, str]]


class AgentKeys:
    """The agents that settings may name: `names`, and what `rest` finds, which costs; without
    `names` every name is one. `not_run` are refused, each with why, and what to do instead."""

    def __init__(self, names: Collection[str], further: Further, not_run: NotRun) -> None:
        self.names = tuple(names)
        self.rest = cache(further)
        self._not_run = not_run

    def check(self, agent: str, where: str) -> None:
        """Raises `ConfigError` for a name that is none of them."""
        if re.fullmatch(NAME, agent) and (
            not self.names or agent in self.names or agent in self.rest()
        ):
            return
        if agent in self._not_run:
            why, instead = self._not_run[agent]
            raise ConfigError(f"{where}: Hydra does not run {agent}: {why}", hint=instead)
        near = nearest(agent, (*self.names, *self.rest()))
        hint = f"the nearest is {near}" if near else "`hydra agents` lists them"
        raise ConfigError(f'{where}: there is no agent "{agent}"', hint=hint)


def load(
    *,
    user: tuple[str, str] | None = None,
    repository: tuple[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
    agent_keys: Collection[str] = (),
    further_keys: Further = tuple,
    not_run: NotRun = MappingProxyType({}),
) -> Config:
    """The settings of a race, every one checked, with where each came from.

    `user` and `repository` are (path for messages, TOML text); `flags` go by dotted key, and None,
    an empty tuple or an absent switch means that the flag was not given. A list from a higher place
    replaces a lower one's, but for protected paths, to which a repository only adds. `agent_keys`,
    `further_keys` and `not_run` are those of `AgentKeys`; HYDRA_<KEY>_PATH and HYDRA_<KEY>_MODEL
    are read for each. Raises `ConfigError`.
    """
    agents = AgentKeys(agent_keys, further_keys, not_run)
    own = _from_file(*user, agents, trusted=True) if user else {}
    theirs = _from_file(*repository, agents, trusted=False) if repository else {}
    variables, options = _from_environment(environ or {}, agents), _from_flags(flags or {})
    _check_profiles_once(own, theirs)
    _only_highest(own, theirs, variables, options)
    above = variables | options
    values = own | _only_lowered(theirs, own, overridden=above) | _joined(own, theirs) | above
    return _config(values, environ or {}, agents)


# --- the layers, one over the other ---


def _joined(own: Layer, theirs: Layer) -> Layer:
    """A repository takes no protection away that the user's own file gives."""
    mine, more = own.get("judge.protected_paths"), theirs.get("judge.protected_paths")
    if not mine or not more:
        return {}
    paths = tuple(dict.fromkeys((*mine.value, *more.value)))
    source = f"{mine.source}, {more.source}"
    return {"judge.protected_paths": more._replace(value=paths, source=source)}


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
    rank = _RANK.get(name)
    if rank is None:
        return float(value)
    return rank.index(value) if value in rank else len(rank) - 1


def _raised(key: Key, item: ConfigValue, mine: ConfigValue | None) -> ConfigError:
    def toml(value: object) -> str:
        written = key.kind.write(value)
        return f'"{written}"' if isinstance(written, str) else f"{written}".lower()

    yours = f"{toml(mine.value)} ({mine.where})" if mine else key.shown or toml(key.default)
    way = f"use {key.flag.split(' / ')[0]}" if key.flag else f"set {key.environment}"
    return ConfigError(
        f"{item.where}: {key.leaf} = {toml(item.value)} is more than you grant: yours is {yours}",
        hint=f"a repository's hydra.toml may only lower it: {way}, or put it in {_OWN_FILE}",
    )


# --- a place to a layer ---


def _from_file(path: str, text: str, agents: AgentKeys, *, trusted: bool) -> Layer:
    """A hydra.toml: the user's own (`trusted`), or a repository's, which may say less.

    An agent that the user's own names an adapter for is known from then on.
    """
    layer = {}
    pairs = list(entries(parse(path, text)))
    if trusted and agents.names:
        agents.names += tuple(parts[1] for parts, _ in pairs if parts[::2] == ("agents", "adapter"))
    for parts, value in pairs:
        name, line = ".".join(parts), line_of(text, parts)
        where = f"{path}, line {line}" if line else path
        if len(parts) > 1:
            _check_table(parts, value, where, agents)
        if value == {} and (name in _SECTIONS or (parts[0] in NAMED and len(parts) == 2)):
            continue  # a table whose lines are all commented out: nobody has filled it in yet
        key = _key_of(parts, value, where)
        _check_setter(key, parts, where, trusted=trusted)
        checked = _checked(key.kind.read, value, f"{where}: {name}")
        if not trusted and key.field == "preface_file":
            # It reaches a service: nothing of this machine's that the repository does not have.
            _checked(inside, checked, f"{where}: {name}")
        layer[name] = ConfigValue(checked, path, where, trusted)
    return layer


def _check_table(parts: tuple[str, ...], value: object, where: str, agents: AgentKeys) -> None:
    """Raises where `[agents.<key>]` is of no agent, or `[checks.<name>]` has no check's name."""
    name = parts[1]
    if parts[0] == "agents":
        agents.check(name, where)
    if parts[0] == "checks" and (len(parts) > 2 or isinstance(value, dict)):
        _checked(check_name, name, where)
        if f"checks.{name}" in FIXED:
            message = f"{where}: a check cannot be called {name}: that is a key of [checks]"
            raise ConfigError(message, hint="give it another name")


def _key_of(parts: tuple[str, ...], value: object, where: str) -> Key:
    """The key at a path in a document: ("agents", "claude", "path") is `agents.<key>.path`."""
    name = ".".join(parts)
    of_table = len(parts) == 3 and parts[0] in NAMED
    if key := NAMED[parts[0]].get(parts[2]) if of_table else FIXED.get(name):
        return key
    if name in _SECTIONS:
        hint = "the lanes are `agents` in [race]" if name == "agents" else f"write [{name}]"
        raise ConfigError(f"{where}: {name} is a section, not a key", hint=hint)
    what = "section" if isinstance(value, dict) else "key"
    raise ConfigError(f'{where}: unknown {what} "{name}"', hint=_hint(parts, value, name))


def _hint(parts: tuple[str, ...], value: object, name: str) -> str:
    """What was meant by an unknown key: one in the wrong section, or in none, by its last part."""
    if parts[0] == "checks" and len(parts) == 2 and isinstance(value, str):
        return f'a check is a table: [checks.{parts[1]}] with command = "..."'
    if parts[0] == "check":
        return 'a check is [race] check = ["pytest -q"]'
    leaves = {key.leaf: key.name for key in reversed(KEYS)}
    near = nearest(name, [key.name for key in KEYS]) or leaves.get(nearest(parts[-1], leaves), "")
    if nearest(parts[-1], ("timeout",)) and not near.endswith("timeout"):
        return 'an agent\'s time limit: [limits] total = "5m"'
    if near:
        return f"the nearest known key is {near}"
    return "docs/reference/configuration.md lists them all"


def _check_setter(key: Key, parts: tuple[str, ...], where: str, *, trusted: bool) -> None:
    """Raises where no file, or not this file, may say the key."""
    if key.file and (trusted or key.repository != NO):
        return
    name, by = ".".join(parts), "a repository's hydra.toml"
    variable = _variable(key, parts[1])
    ways = [key.flag and f"use {key.flag}", variable and f"set {variable}"]
    if key.file:
        ways.insert(0, f"put it in {_OWN_FILE}")
    else:
        name, by, ways[1] = key.leaf, "a file", variable and f"set {variable}=1"
    hint = ", or ".join(filter(None, ways))
    raise ConfigError(f"{where}: {name} may not be set by {by}", hint=hint)


def _checked(read: Callable[[Any], Any], value: object, where: str) -> Any:
    try:
        return read(value)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error.message}", hint=error.hint) from None


def _variable(key: Key, agent: str) -> str:
    """The environment variable of a key, an agent's too: HYDRA_CURSOR_AGENT_PATH."""
    return key.environment.replace("<KEY>", re.sub(r"[^A-Z0-9]", "_", agent.upper()))


def _from_environment(environ: Mapping[str, str], agents: AgentKeys) -> Layer:
    """The HYDRA_ variables that the table of keys names; an empty one counts as unset."""
    rows = [(key.name, key, key.environment) for key in FIXED.values() if key.environment]
    rows += _of_agents(agents.names)
    # Only a variable of none of these can be of another agent, and makes it worth asking.
    names = {name for name in environ if re.fullmatch(r"HYDRA_[A-Z0-9_]+_(PATH|MODEL)", name)}
    if names - {variable for _, _, variable in rows}:
        rows += _of_agents(agents.rest())
    return {
        name: ConfigValue(_checked(key.kind.read_text, text, variable), variable, variable)
        for name, key, variable in rows
        if (text := environ.get(variable, "")).strip()
    }


def _of_agents(names: Collection[str]) -> list[tuple[str, Key, str]]:
    keys = [key for key in NAMED["agents"].values() if key.environment]
    rows = ((name, key) for name in names for key in keys)
    return [(f"agents.{name}.{key.leaf}", key, _variable(key, name)) for name, key in rows]


def _from_flags(flags: Mapping[str, object]) -> Layer:
    """The command line's options by dotted key; None, () and an absent switch are not given."""
    layer = {}
    for name, value in flags.items():
        key = FIXED[name]
        if value is None or value == () or (value is False and " / " not in key.flag):
            continue
        flag = key.flag.split(" / ")[-1 if value is False else 0]
        layer[name] = ConfigValue(_checked(key.kind.read, value, flag), flag, flag)
    if unsafe := layer.get("race.unsafe_full_access"):
        if "race.permission" in layer:
            raise ConfigError(f"--permission and {unsafe.source} contradict each other: give one")
        layer["race.permission"] = unsafe._replace(value=Permission.UNRESTRICTED)
    return layer


# --- checked values to records ---


def _config(values: Layer, environ: Mapping[str, str], agents: AgentKeys) -> Config:
    tables = {matter: sorted(_tables_of(values, matter)) for matter in NAMED}
    race, judge = _section(values, "race"), _section(values, "judge")
    race.pop("unsafe_full_access", None)  # it has become the permission
    race.pop("check", None)
    setup = values.get("race.setup")
    sources = dict.fromkeys(FIXED, DEFAULT) | {name: at.source for name, at in values.items()}
    remotes = {name: _remote(name, table) for name, table in tables["remotes"]}
    _check_remotes(values, remotes)
    return Config(
        race=schema.RaceSettings(setup_trusted=setup is None or setup.trusted, **race),
        limits=Limits(**_section(values, "limits")),
        checks=_checks(values),
        protected_paths=judge.pop("protected_paths", ()),
        trials=TrialCap(**judge),
        budget=Budget(**_section(values, "budget")),
        retry=Retry(**_section(values, "retry")),
        hooks=schema.HookSettings(**_section(values, "hooks")),
        **_section(values, "confine"),
        agents={name: _agent(table, environ) for name, table in tables["agents"]},
        profiles={name: _profile(name, at, agents) for name, at in tables["profiles"]},
        remotes=remotes,
        models=_models(tables["models"]),
        sources=sources,
    )


def _section(values: Layer, section: str) -> dict[str, Any]:
    keys = (key for key in FIXED.values() if key.section == section and key.name in values)
    return {key.field: values[key.name].value for key in keys}


def _tables_of(layer: Layer, matter: str) -> list[tuple[str, Layer]]:
    """What each `[<matter>.<name>]` of a layer says, by name, in its order."""
    tables: dict[str, Layer] = {}
    for dotted, value in layer.items():
        section, _, leaf = dotted.rpartition(".")
        above, dot, name = section.partition(".")
        if above == matter and dot:
            tables.setdefault(name, {})[leaf] = value
    return list(tables.items())


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
    checks, tables = [], _tables_of(values, "checks")
    try:
        for name, table in tables:
            stated = _fields("checks", table)
            if "command" not in stated:
                raise ConfigError(f"[checks.{name}] has no command", hint='write command = "..."')
            kind = stated.pop("kind", None) or kind_of(name, stated["command"])
            checks.append(Check(name=name, kind=kind, **stated))
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
    mine = dict(_tables_of(own, "profiles"))
    for name, table in sorted(_tables_of(theirs, "profiles")):
        if name in mine:
            places = [next(iter(at.values())).where for at in (mine[name], table)]
            message = f"two profiles are called {name}: {' and '.join(places)}"
            raise ConfigError(message, hint="give one of them another name")


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


def _models(tables: list[tuple[str, Layer]]) -> dict[str, schema.OwnModel]:
    models: dict[str, schema.OwnModel] = {}
    taken: dict[str, str] = {}
    for name, table in tables:
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

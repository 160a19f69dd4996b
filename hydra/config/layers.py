"""One place that settings come from, read to checked values by dotted key: a `Layer`.

Every mistake is a `ConfigError` that names the file and line, the variable or the flag.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from hydra.config.checks import check_name
from hydra.config.key import NAME, NO, Key, inside
from hydra.config.keys import AGENT, FIXED, KEYS, RESERVED, key_of, variable_of
from hydra.config.sources import ConfigValue, Layer
from hydra.config.toml import entries, line_of, parse
from hydra.errors import ConfigError
from hydra.records.request import Permission
from hydra.text import nearest

OWN_FILE = "your own hydra.toml ($HYDRA_CONFIG, else ~/.config/hydra/hydra.toml)"
_SECTIONS = (
    "race",
    "limits",
    "checks",
    "judge",
    "retry",
    "hooks",
    "confine",
    "budget",
    "agents",
    "profiles",
    "remotes",
    "models",
)

_GONE = {
    "judge.weights": "there is no score, and a rank follows from checks and trials alone",
    "checks.tree": "checks run in a clean worktree of the patch",
}
"""What stood in a hydra.toml once, and why it does not."""

_OF_NAMES = ("agents", "checks", "profiles", "remotes", "models")


class AgentKeys:
    """The agents that settings may name. `further` is asked only about a name that is none of
    `known`, and once: finding those costs. Without `known`, every name is one. `not_run` are names
    that are refused, each with why, and what to do instead."""

    def __init__(
        self,
        names: Collection[str] = (),
        further: Callable[[], Collection[str]] = tuple,
        not_run: Mapping[str, tuple[str, str]] = MappingProxyType({}),
    ) -> None:
        self.names = tuple(names)
        self._not_run = not_run
        self._further = further
        self._rest: tuple[str, ...] | None = None

    def __contains__(self, agent: object) -> bool:
        return not self.names or agent in self.names or agent in self.rest()

    def rest(self) -> tuple[str, ...]:
        """All that are not in `known`."""
        if self._rest is None:
            self._rest = tuple(self._further())
        return self._rest

    def unknown(self, agent: str, where: str) -> ConfigError:
        """The error for a name that is none of them."""
        if agent in self._not_run:
            why, instead = self._not_run[agent]
            return ConfigError(f"{where}: Hydra does not run {agent}: {why}", hint=instead)
        near = nearest(agent, (*self.names, *self.rest()))
        return ConfigError(
            f'{where}: there is no agent "{agent}"',
            hint=f"the nearest is {near}" if near else "`hydra agents` lists them",
        )


def from_file(path: str, text: str, agents: AgentKeys, *, trusted: bool) -> Layer:
    """A hydra.toml: the user's own (`trusted`), or a repository's, which may say less.

    An agent that the user's own names an adapter for is known from then on.
    """
    layer = {}
    pairs = list(entries(parse(path, text)))
    if trusted and agents.names:
        agents.names += tuple(parts[1] for parts, _ in pairs if _names_an_adapter(parts))
    for parts, value in pairs:
        line = line_of(text, parts)
        where = f"{path}, line {line}" if line else path
        _known_agent(parts, where, agents)
        _may_be_a_check(parts, value, where)
        if not _is_empty_section(parts, value):
            key = _known_key(parts, value, where)
            name = ".".join(parts)
            _may_be_set(key, parts, where, trusted=trusted)
            checked = _checked(key.kind.read, value, f"{where}: {name}")
            if not trusted and key.field == "preface_file":
                # It reaches a service: nothing of this machine's that the repository does not have.
                _checked(inside, checked, f"{where}: {name}")
            layer[name] = ConfigValue(checked, path, where, trusted)
    return layer


def _is_empty_section(parts: tuple[str, ...], value: object) -> bool:
    # A table whose lines are all commented out: nobody has filled it in yet.
    named = parts[0] in _OF_NAMES and len(parts) == 2
    return value == {} and (named or ".".join(parts) in _SECTIONS)


def _names_an_adapter(parts: tuple[str, ...]) -> bool:
    return len(parts) == 3 and (parts[0], parts[2]) == ("agents", "adapter")


def _known_agent(parts: tuple[str, ...], where: str, agents: AgentKeys) -> None:
    if parts[0] != "agents" or len(parts) < 2:
        return
    agent = parts[1]
    if not NAME.fullmatch(agent) or agent not in agents:
        raise agents.unknown(agent, where)


def _may_be_a_check(parts: tuple[str, ...], value: object, where: str) -> None:
    """Raises where `[checks.<name>]` has a name that no check can have."""
    if parts[0] != "checks" or len(parts) < 2:
        return
    if len(parts) > 2 or isinstance(value, dict):
        _checked(check_name, parts[1], where)
        if parts[1] in RESERVED:
            raise ConfigError(
                f"{where}: a check cannot be called {parts[1]}: that is a key of [checks]",
                hint="give it another name",
            )


def _known_key(parts: tuple[str, ...], value: object, where: str) -> Key:
    key = key_of(parts)
    if key is not None:
        return key
    name = ".".join(parts)
    if gone := _GONE.get(".".join(parts[:2])):
        raise ConfigError(f"{where}: {name} is no setting any more: {gone}", hint="remove it")
    near = "" if _may_name_a_check(parts, value) else _nearest_key(name)
    hint = "docs/reference/configuration.md lists them all"
    if near:
        hint = f"the nearest known key is {near}"
    if parts[0] == "check":
        hint = 'a check is [race] check = ["pytest -q"]'
    elif nearest(parts[-1], ("timeout",)) and not near.endswith("timeout"):
        hint = 'an agent\'s time limit: [limits] total = "5m"'
    if name in _SECTIONS:
        hint = "the lanes are `agents` in [race]" if name == "agents" else f"write [{name}]"
        raise ConfigError(f"{where}: {name} is a section, not a key", hint=hint)
    if _may_name_a_check(parts, value):
        hint = f'a check is a table: [checks.{parts[1]}] with command = "..."'
    what = "section" if isinstance(value, dict) else "key"
    raise ConfigError(f'{where}: unknown {what} "{name}"', hint=hint)


def _may_name_a_check(parts: tuple[str, ...], value: object) -> bool:
    return parts[0] == "checks" and len(parts) == 2 and isinstance(value, str)


def _nearest_key(name: str) -> str:
    # A key in the wrong section, or in none, is found by its last part.
    by_leaf = {key.leaf: key.name for key in reversed(KEYS)}
    near = nearest(name, [key.name for key in KEYS])
    return near or by_leaf.get(nearest(name.rpartition(".")[2], by_leaf), "")


def _may_be_set(key: Key, parts: tuple[str, ...], where: str, *, trusted: bool) -> None:
    variable = variable_of(key, parts[1])
    if not key.file:
        ways = [f"use {key.flag}", f"set {variable}=1" if variable else ""]
        raise ConfigError(f"{where}: {key.leaf} may not be set by a file", hint=_either(ways))
    if not trusted and key.repository == NO:
        ways = [f"put it in {OWN_FILE}", f"use {key.flag}" if key.flag else ""]
        ways += [f"set {variable}" if variable else ""]
        raise ConfigError(
            f"{where}: {'.'.join(parts)} may not be set by a repository's hydra.toml",
            hint=_either(ways),
        )


def _either(ways: list[str]) -> str:
    return ", or ".join(way for way in ways if way)


def _checked(read: Callable[[Any], Any], value: object, where: str) -> Any:
    try:
        return read(value)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error.message}", hint=error.hint) from None


def from_environment(environ: Mapping[str, str], agents: AgentKeys) -> Layer:
    """The HYDRA_ variables that the table of keys names; an empty one counts as unset."""
    layer = {}
    for name, key, variable in _variables(environ, agents):
        text = environ.get(variable, "")
        if text.strip():
            layer[name] = ConfigValue(
                _checked(key.kind.read_text, text, variable), variable, variable
            )
    return layer


_AGENT_VARIABLE = re.compile(r"HYDRA_[A-Z0-9_]+_(PATH|MODEL)")


def _variables(environ: Mapping[str, str], agents: AgentKeys) -> Iterator[tuple[str, Key, str]]:
    for key in FIXED.values():
        if key.environment:
            yield key.name, key, key.environment
    lines = set()
    for rows in map(_of_agent, agents.names):
        lines |= {variable for _, _, variable in rows}
        yield from rows
    # Only a variable of none of these can be one of the others, and makes it worth asking.
    if any(_AGENT_VARIABLE.fullmatch(name) and name not in lines for name in environ):
        for agent in agents.rest():
            yield from _of_agent(agent)


def _of_agent(agent: str) -> list[tuple[str, Key, str]]:
    return [
        (f"agents.{agent}.{key.leaf}", key, variable_of(key, agent))
        for key in AGENT.values()
        if key.environment
    ]


def from_flags(flags: Mapping[str, object]) -> Layer:
    """The command line's options by dotted key; None, () and an absent switch are not given."""
    layer = {}
    for name, value in flags.items():
        key = FIXED[name]
        if _stated(key, value):
            flag = key.flag.split(" / ")[-1 if value is False else 0]
            layer[name] = ConfigValue(_flag_value(key, value, flag), flag, flag)
    _unsafe_stands_alone(layer)
    return layer


def _stated(key: Key, value: object) -> bool:
    absent_switch = value is False and " / " not in key.flag
    return value is not None and value != () and not absent_switch


def _flag_value(key: Key, value: object, flag: str) -> Any:
    # A duration that click has read already comes as seconds, which nothing but a flag may.
    if key.kind.name == "duration" and isinstance(value, float):
        return _checked(key.kind.read_text, f"{value:.3f}s", flag)
    return _checked(key.kind.read, value, flag)


def _unsafe_stands_alone(layer: Layer) -> None:
    unsafe = layer.get("race.unsafe_full_access")
    if unsafe is None:
        return
    if "race.permission" in layer:
        raise ConfigError(f"--permission and {unsafe.source} contradict each other: give one")
    layer["race.permission"] = ConfigValue(
        Permission.UNRESTRICTED.value, unsafe.source, unsafe.where
    )

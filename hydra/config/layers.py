"""One place that settings come from, read to checked values by dotted key: a `Layer`.

Every mistake is a `ConfigError` that names the file and line, the variable or the flag.
"""

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from hydra.config.check_specs import check_name
from hydra.config.schema import FIXED, KEYS, NAMED, NO, Key
from hydra.config.values import NAME, format_duration, inside
from hydra.errors import ConfigError
from hydra.records.request import Permission
from hydra.redaction import notice
from hydra.text import nearest

OWN_FILE = "your own hydra.toml ($HYDRA_CONFIG, else ~/.config/hydra/hydra.toml)"

_SECTIONS = frozenset(key.name.partition(".")[0] for key in KEYS)

_GONE = {
    "judge.weights": "there is no score, and a rank follows from checks and trials alone",
    "checks.tree": "checks run in a clean worktree of the patch",
}
"""What stood in a hydra.toml once, and why it does not."""


class ConfigValue(NamedTuple):
    """A value; its source as records keep it; the place (with the line) as a message says it."""

    value: Any
    source: str
    where: str
    trusted: bool = True


Layer = dict[str, ConfigValue]
"""What a place says by dotted key; what one `[models.<name>]` says by its keys' last parts."""


class AgentKeys:
    """The agents that settings may name. `further` is asked only about a name that is none of
    `names`, and once: finding those costs. Without `names`, every name is one. `not_run` are names
    that are refused, each with why, and what to do instead."""

    def __init__(
        self,
        names: Collection[str],
        further: Callable[[], Collection[str]],
        not_run: Mapping[str, tuple[str, str]],
    ) -> None:
        self.names = tuple(names)
        self._not_run = not_run
        self._further = further

    @cached_property
    def rest(self) -> tuple[str, ...]:
        """All that are not in `names`."""
        return tuple(self._further())

    def check(self, agent: str, where: str) -> None:
        """Raises `ConfigError` for a name that is none of them."""
        if re.fullmatch(NAME, agent) and (
            not self.names or agent in self.names or agent in self.rest
        ):
            return
        if agent in self._not_run:
            why, instead = self._not_run[agent]
            raise ConfigError(f"{where}: Hydra does not run {agent}: {why}", hint=instead)
        near = nearest(agent, (*self.names, *self.rest))
        raise ConfigError(
            f'{where}: there is no agent "{agent}"',
            hint=f"the nearest is {near}" if near else "`hydra agents` lists them",
        )


def tables_of(layer: Layer, matter: str) -> list[tuple[str, Layer]]:
    """What each `[<matter>.<name>]` of a layer says, by name, in its order."""
    tables: dict[str, Layer] = {}
    for dotted, value in layer.items():
        section, _, leaf = dotted.rpartition(".")
        above, dot, name = section.partition(".")
        if above == matter and dot:
            tables.setdefault(name, {})[leaf] = value
    return list(tables.items())


def from_file(path: str, text: str, agents: AgentKeys, *, trusted: bool) -> Layer:
    """A hydra.toml: the user's own (`trusted`), or a repository's, which may say less.

    An agent that the user's own names an adapter for is known from then on.
    """
    layer = {}
    pairs = list(_entries(_parse(path, text)))
    if trusted and agents.names:
        agents.names += tuple(parts[1] for parts, _ in pairs if parts[::2] == ("agents", "adapter"))
    for parts, value in pairs:
        line = _line_of(text, parts)
        where = f"{path}, line {line}" if line else path
        if len(parts) > 1:
            _check_table(parts, value, where, agents)
        name, of_table = ".".join(parts), parts[0] in NAMED and len(parts) == 2
        if value == {} and (of_table or name in _SECTIONS):
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
            raise ConfigError(
                f"{where}: a check cannot be called {name}: that is a key of [checks]",
                hint="give it another name",
            )


def _key_of(parts: tuple[str, ...], value: object, where: str) -> Key:
    """The key at a path in a document: ("agents", "claude", "path") is `agents.<key>.path`."""
    name = ".".join(parts)
    of_table = len(parts) == 3 and parts[0] in NAMED
    if key := NAMED[parts[0]].get(parts[2]) if of_table else FIXED.get(name):
        return key
    if gone := _GONE.get(".".join(parts[:2])):
        raise ConfigError(f"{where}: {name} is no setting any more: {gone}", hint="remove it")
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
    variable = _variable(key, parts[1])
    if not key.file:
        ways = [f"use {key.flag}", f"set {variable}=1" if variable else ""]
        message = f"{where}: {key.leaf} may not be set by a file"
    elif not trusted and key.repository == NO:
        ways = [f"put it in {OWN_FILE}", f"use {key.flag}" if key.flag else ""]
        ways += [f"set {variable}" if variable else ""]
        message = f"{where}: {'.'.join(parts)} may not be set by a repository's hydra.toml"
    else:
        return
    raise ConfigError(message, hint=", or ".join(filter(None, ways)))


def _checked(read: Callable[[Any], Any], value: object, where: str) -> Any:
    try:
        return read(value)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error.message}", hint=error.hint) from None


def _variable(key: Key, agent: str) -> str:
    """The environment variable of a key, an agent's too: HYDRA_CURSOR_AGENT_PATH."""
    return key.environment.replace("<KEY>", re.sub(r"[^A-Z0-9]", "_", agent.upper()))


def from_environment(environ: Mapping[str, str], agents: AgentKeys) -> Layer:
    """The HYDRA_ variables that the table of keys names; an empty one counts as unset."""
    rows = [(key.name, key, key.environment) for key in FIXED.values() if key.environment]
    rows += _of_agents(agents.names)
    # Only a variable of none of these can be of another agent, and makes it worth asking.
    names = {name for name in environ if re.fullmatch(r"HYDRA_[A-Z0-9_]+_(PATH|MODEL)", name)}
    if names - {variable for _, _, variable in rows}:
        rows += _of_agents(agents.rest)
    return {
        name: ConfigValue(_checked(key.kind.read_text, text, variable), variable, variable)
        for name, key, variable in rows
        if (text := environ.get(variable, "")).strip()
    }


def _of_agents(names: Collection[str]) -> list[tuple[str, Key, str]]:
    keys = [key for key in NAMED["agents"].values() if key.environment]
    rows = ((name, key) for name in names for key in keys)
    return [(f"agents.{name}.{key.leaf}", key, _variable(key, name)) for name, key in rows]


def from_flags(flags: Mapping[str, object]) -> Layer:
    """The command line's options by dotted key; None, () and an absent switch are not given."""
    layer = {}
    for name, value in flags.items():
        key = FIXED[name]
        if value is None or value == () or (value is False and " / " not in key.flag):
            continue
        flag = key.flag.split(" / ")[-1 if value is False else 0]
        if key.kind.name == "duration" and isinstance(value, float):
            value = format_duration(value)  # click has read it; in a file it has its unit
        layer[name] = ConfigValue(_checked(key.kind.read, value, flag), flag, flag)
    if unsafe := layer.get("race.unsafe_full_access"):
        if "race.permission" in layer:
            raise ConfigError(f"--permission and {unsafe.source} contradict each other: give one")
        layer["race.permission"] = unsafe._replace(value=Permission.UNRESTRICTED)
    return layer


def read_file(path: Path, *, trusted: bool = True) -> tuple[str, str] | None:
    """(path, text) as `load` takes it, or None where there is no such file; /dev/null is none.

    A repository's file is a stranger's: only a regular file of at most 1 MiB is read. Raises
    `ConfigError` for anything else there, and for text that is not UTF-8.
    """
    try:
        if not path.exists() or path == Path(os.devnull):
            return None
        if not path.is_file() or path.stat().st_size > 1024**2:
            raise ConfigError(f"{path} is not a file of at most 1 MiB")
        text = path.read_text(encoding="utf-8-sig")
        notice(text, trusted=trusted)
        return f"{path}", text
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text (byte {error.start})") from error


def _parse(path: str, text: str) -> dict[str, Any]:
    """The document. Raises `ConfigError` with path and line in one sentence."""
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ConfigError(f"{path}: nested too deeply") from error
    except tomllib.TOMLDecodeError as error:
        reason, _, position = f"{error}".partition(" (at ")
        line = re.match(r"line (\d+)", position)
        number = int(line[1]) if line else len(text.splitlines())
        where = f"{path}, line {number}" if position else path
        reason = re.sub(r"\('?([^)]*?)'?,?\)", lambda name: name[1].replace("', '", "."), reason)
        message = f"{where}: not valid TOML: {reason[:1].lower()}{reason[1:300]}"
        raise ConfigError(message) from None
    except ValueError as error:  # Python's own limit on a number's digits
        raise ConfigError(f"{path}: not valid TOML: a number has too many digits") from error


def _entries(
    table: dict[str, Any], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every value of the document with the path to it, in the document's order."""
    for name, value in table.items():
        names = (*above, name)
        if isinstance(value, dict) and value and len(names) < 8:
            yield from _entries(value, names)
        else:
            yield names, value


def _line_of(text: str, parts: tuple[str, ...]) -> int | None:
    """The line on which a key, or the first line of a table, stands. A best effort: by line.

    None where no line shows it (inside an inline table, for one).
    """
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[\[?([^\]]+)\]", line)
        if header:
            table = _parts(header[1])
            if table[: len(parts)] == parts:
                return number
        elif "=" in line:
            key = (*table, *_parts(line.partition("=")[0]))
            if key[: len(parts)] == parts or (key == parts[: len(key)] and key != table):
                return number
    return None


def _parts(dotted: str) -> tuple[str, ...]:
    documents = re.findall(r'"([^"]*)"|\'([^\']*)\'|([A-Za-z0-9_-]+)', dotted)
    return tuple(double or single or bare for double, single, bare in documents)

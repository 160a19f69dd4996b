"""All the places to one `Config`: flags, environment, repository, user, defaults.

Each is read to checked values by dotted key, a `Layer`. Every mistake is a `ConfigError` that names
the file and line, the variable or the flag.
"""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from msgspec import convert

from hydra.config import check_specs, values
from hydra.config.schema import FIXED, KEYS, LOCAL, LOWER, NAMED, NEVER, NO, PATH, Config, Key
from hydra.errors import ConfigError
from hydra.records.request import Permission
from hydra.redaction import notice
from hydra.text import joined, nearest

DEFAULT = "default"
"""The source of what nobody set."""

_OWN_FILE = "your own hydra.toml ($HYDRA_CONFIG, else ~/.config/hydra/hydra.toml)"
_SECTIONS = frozenset(key.name.partition(".")[0] for key in KEYS)


class ConfigValue(NamedTuple):
    """Its source as records keep it, and the place (with the line) as a message says it."""

    key: Key
    value: Any
    source: str
    where: str
    trusted: bool = True


Layer = dict[str, ConfigValue]
"""What a place says, by dotted key."""
Tables = dict[str, dict[str, Layer]]
"""What `[agents.claude]` and the like say, by `agents`, the name, the key's last part."""


def load(
    *,
    user: tuple[str, str] | None = None,
    repository: tuple[str, str] | None = None,
    environ: Mapping[str, str] = MappingProxyType({}),
    flags: Mapping[str, object] = MappingProxyType({}),
    agent_keys: Iterable[str] = (),
) -> Config:
    """The settings of a race, every one checked, with where each came from; but whether there is an
    agent of a name that they have is for others to say.

    `user` and `repository` are (path for messages, TOML text); `flags` go by dotted key, and None,
    an empty tuple or an absent switch means that the flag was not given. A list from a higher place
    replaces a lower one's, but for protected paths, to which a repository only adds.
    HYDRA_<KEY>_PATH and HYDRA_<KEY>_MODEL are read for each of `agent_keys`, and for each agent in
    the user's own file. Raises `ConfigError`.
    """
    own = _from_file(*user) if user else {}
    theirs = _from_file(*repository, trusted=False) if repository else {}
    named = (name.split(".")[1] for name in own if name.startswith("agents."))
    agents = dict.fromkeys((*agent_keys, *named))
    variables, options = _from_environment(environ, agents), _from_flags(flags)
    layers = (own, _heeded(theirs, own, variables | options), variables, options)
    # Checks are one list: the highest place that names any names them all.
    naming = [layer for layer in layers if any(map(_names_a_check, layer))]
    return _config(
        {
            name: item
            for layer in layers
            for name, item in layer.items()
            if not _names_a_check(name) or layer is naming[-1]
        }
    )


def _names_a_check(name: str) -> bool:
    return name == "race.check" or (name.startswith("checks.") and name.count(".") == 2)


def read_file(path: Path, *, trusted: bool = True, most: int = 1024**2) -> tuple[str, str] | None:
    """(path, text) as `load` takes it, or None where there is no such file; /dev/null is none.

    A repository's file is a stranger's: only a regular file of at most `most` bytes is read. Raises
    `ConfigError` for anything else there, and for text that is not UTF-8.
    """
    try:
        if not path.exists() or path == Path(os.devnull):
            return None
        if not path.is_file() or path.stat().st_size > most:
            raise ConfigError(f"{path} is not a file of at most {values.SIZE.write(most)}")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text (byte {error.start})") from error
    notice(text, trusted=trusted)
    return f"{path}", text


# --- what a repository may say ---


def _heeded(theirs: Layer, own: Layer, above: Collection[str]) -> Layer:
    """The repository's values without those that lower nothing, its protected paths behind the
    user's own. Raises where one would raise."""
    heeded = dict(theirs)
    tables = {name.rpartition(".")[0]: item.where for name, item in reversed(own.items())}
    for name, item in theirs.items():
        mine, table = own.get(name), name.rpartition(".")[0]
        if table in tables and table.startswith("profiles."):
            message = f"two {table.replace('.', ' are called ')}: {tables[table]} and {item.where}"
            raise ConfigError(message, hint="give one of them another name")
        if mine and name == "judge.protected_paths":
            paths = tuple(dict.fromkeys((*mine.value, *item.value)))
            heeded[name] = item._replace(value=paths, source=f"{mine.source}, {item.source}")
        if item.key.repository == LOWER and not _lowers(item, mine, overruled=name in above):
            del heeded[name]
    return heeded


def _lowers(item: ConfigValue, mine: ConfigValue | None, *, overruled: bool) -> bool:
    """Whether it grants less than the user's own value, or the default. Raises where it grants
    more, and no flag or variable holds instead."""
    key, value = item.key, mine.value if mine else item.key.default
    excess = _excess(item.value, value)
    if excess > 0 and not overruled:
        theirs, yours = (values.shown(key.kind.write(grant)) for grant in (item.value, value))
        yours = f"{yours} ({mine.where})" if mine else key.shown or yours
        raise ConfigError(
            f"{item.where}: {key.leaf} = {theirs} is more than you grant: yours is {yours}",
            hint=f"a repository's hydra.toml may only lower it: {_ways(key)}",
        )
    return excess < 0


def _excess(theirs: Any, yours: Any) -> float:
    """How much more the first grants than the second. Of what a CLI does by itself it is known only
    that `plan` is less."""
    ranks = {"plan": 0, "edit": 0.25, None: 0.5}
    more, less = (
        grant if isinstance(grant, int | float) else ranks.get(grant, 0.5)
        for grant in (theirs, yours)
    )
    return 0 if theirs == yours else more - (0.1 if yours in ("default", "config") else less)


# --- a place to a layer ---


def _from_file(path: str, text: str, *, trusted: bool = True) -> Layer:
    """A hydra.toml: the user's own (`trusted`), or a repository's, which may say less."""
    layer, lines = {}, _lines(text)
    for parts, value in _entries(_parsed(path, text)):
        line = next((lines[at] for n in range(len(parts), 0, -1) if (at := parts[:n]) in lines), 0)
        where = f"{path}, line {line}" if line else path
        name, matter = ".".join(parts), parts[0]
        is_table = value == {} and len(parts) == 2 and matter in NAMED
        if is_table or (len(parts) > 2 and matter in NAMED):
            _check_name(matter, parts[1], where)
        if is_table or (value == {} and name in _SECTIONS):
            continue  # a table whose lines are all commented out: nobody has filled it in yet
        key = _key_of(parts, value, where)
        if key.repository == NEVER or (key.repository == NO and not trusted):
            by = "a file" if key.repository == NEVER else "a repository's hydra.toml"
            message = f"{where}: {name} may not be set by {by}"
            raise ConfigError(message, hint=_ways(key, parts[1]))
        checked = _checked(key.kind.read, value, f"{where}: {name}")
        if not trusted and key.field == "preface_file":
            # It reaches a service: nothing of this machine's that the repository does not have.
            _checked(PATH.read, checked, f"{where}: {name}")
        layer[name] = ConfigValue(key, checked, path, where, trusted)
    return layer


def _parsed(path: str, text: str) -> dict[str, Any]:
    """The document. Raises `ConfigError` with path and line in one sentence."""
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply") from None
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
    table: Mapping[str, Any], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every value of the document with the path to it, in the document's order."""
    for name, value in table.items():
        if isinstance(value, dict) and value and len(above) < 7:
            yield from _entries(value, (*above, name))
        else:
            yield (*above, name), value


def _lines(text: str) -> dict[tuple[str, ...], int]:
    """The first line of each key and of each table, as far as lines show it."""
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[\[?([^\]]+)\]", line)
        dotted = header[1] if header else line.partition("=")[0] if "=" in line else ""
        parts = tuple(filter(None, re.split(r"""["'\s.]+""", dotted)))
        table, parts = (parts, parts) if header else (table, (*table, *parts))
        for length in range(1, len(parts) + 1):
            lines.setdefault(parts[:length], number)
    return lines


def _check_name(matter: str, name: str, where: str) -> None:
    """Raises where `[<matter>.<name>]` has a name that it cannot have."""
    reasons = {
        "a name is of a-z, 0-9 and -": not re.fullmatch(values.NAME, name),
        "a name begins with a letter": matter == "checks" and not name[:1].isalpha(),
        f"that is a key of [{matter}]": f"{matter}.{name}" in FIXED,
        "that is a count": matter == "profiles" and re.match(r"\d+x.", name),
        "that is this machine": matter == "remotes" and name == LOCAL,
    }
    for why in (why for why, holds in reasons.items() if holds):
        message = f'{where}: no {matter[:-1]} can be called "{name}": {why}'
        agents = "`hydra agents` lists them"
        raise ConfigError(message, hint=agents if matter == "agents" else "give it another name")


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
        near = "limits.idle" if "idle" in parts[-1] else "limits.total"
    text = f"the nearest known key is {near}" if near else ""
    return text or "docs/reference/configuration.md lists them all"


def _ways(key: Key, agent: str = "") -> str:
    """Who else can set what a file, or a repository's, may not."""
    variable = _variable(key, agent)
    ways = {
        f"put it in {_OWN_FILE}": key.repository != NEVER,
        f"use {key.flag.split(' / ')[0]}": key.flag,
        f"set {variable}": variable,
    }
    return ", or ".join(way for way, holds in ways.items() if holds)


def _checked(read: Callable[[Any], Any], value: object, where: str) -> Any:
    try:
        return read(value)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error.message}", hint=error.hint) from None


def _variable(key: Key, agent: str) -> str:
    """The environment variable of a key, an agent's too: HYDRA_CURSOR_AGENT_PATH."""
    return key.environment.replace("<KEY>", re.sub(r"[^A-Z0-9]", "_", agent.upper()))


def _from_environment(environ: Mapping[str, str], agents: Iterable[str]) -> Layer:
    """The HYDRA_ variables that the table of keys names; an empty one counts as unset."""
    rows = [(name, "", key) for name, key in FIXED.items()]
    own = NAMED["agents"].items()
    rows += [(f"agents.{agent}.{leaf}", agent, key) for agent in agents for leaf, key in own]
    layer = {}
    for name, agent, key in rows:
        variable = _variable(key, agent)
        if text := environ.get(variable, "").strip():
            checked = _checked(key.kind.read_text, text, variable)
            layer[name] = ConfigValue(key, checked, variable, variable)
    return layer


def _from_flags(flags: Mapping[str, object]) -> Layer:
    """The command line's options by dotted key; None, () and an absent switch are not given."""
    layer = {}
    for name, value in flags.items():
        key = FIXED[name]
        if value is None or value == () or (value is False and " / " not in key.flag):
            continue
        flag = key.flag.split(" / ")[-1 if value is False else 0]
        layer[name] = ConfigValue(key, _checked(key.kind.read, value, flag), flag, flag)
    if unsafe := layer.get("race.unsafe_full_access"):
        if "race.permission" in layer:
            raise ConfigError(f"--permission and {unsafe.source} contradict each other: give one")
        key = FIXED["race.permission"]
        layer[key.name] = unsafe._replace(key=key, value=Permission.UNRESTRICTED)
    return layer


# --- checked values to records ---


def _config(layer: Layer) -> Config:
    tables: Tables = {matter: {} for matter in NAMED}
    fixed: dict[str, dict[str, Any]] = defaultdict(dict)
    for dotted, item in layer.items():
        matter, *name, leaf = dotted.split(".")
        if name:
            tables[matter].setdefault(name[0], {})[leaf] = item
        else:
            fixed[matter][item.key.field] = item.value
    named = {
        matter: {name: _whole(matter, name, tables) for name in tables[matter]} for matter in tables
    }
    _check_models(tables["models"])
    checks = [
        {"kind": check_specs.kind_of(name, fields["command"]), **fields}
        for name, fields in named.pop("checks").items()
    ]
    if listed := layer.get("race.check"):
        read = partial(check_specs.named, taken=tables["checks"])
        checks += _checked(read, listed.value, listed.where)
    trusted = all(item.trusted for name, item in layer.items() if _names_a_check(name))
    setup, judge = layer.get("race.setup"), fixed["judge"]
    fixed["race"]["setup_trusted"] = setup is None or setup.trusted
    fixed["checks"] |= {"checks": checks, "trusted": trusted}
    sources = dict.fromkeys(FIXED, DEFAULT) | {name: item.source for name, item in layer.items()}
    # A record takes no more of a table than has a field in it.
    document = {**fixed["confine"], **judge, **fixed, "trials": judge, **named, "sources": sources}
    return convert(document, Config)


_NEEDED = {"checks": "command", "profiles": "agent", "remotes": "mode", "models": "id"}


def _whole(matter: str, name: str, tables: Tables) -> dict[str, Any]:
    """What a record is made of. Raises where a key of its table lacks, or goes with no other."""
    table, section = tables[matter][name], f"[{matter}.{name}]"
    where, needed = next(iter(table.values())).where, _NEEDED.get(matter, "")
    if needed and needed not in table:
        key = NAMED[matter][needed]
        meaning = key.meaning[:1].lower() + key.meaning[1:].rstrip(".")
        hint = f"add {needed} = {key.example} ({meaning})"
        raise ConfigError(f"{where}: {section} has no {needed}", hint=hint)
    if (remote := table.get("remote")) and remote.value not in (LOCAL, *tables["remotes"]):
        near = nearest(remote.value, tables["remotes"])
        hint = f"the nearest is {near}" if near else f"write [remotes.{remote.value}], or {LOCAL}"
        message = f'{remote.where}: {matter}.{name}.remote: there is no remote "{remote.value}"'
        raise ConfigError(message, hint=hint)
    if matter == "remotes":
        _check_place(section, table)
    fields = {item.key.field: item.value for item in table.values()}
    return {**fields, "name": name, "budget": fields, "source": where}


_PLACES = {"host": "ssh", "container": "docker", "image": "docker", "pod": "k8s"}
"""Which keys of a remote say where, and of which mode they are."""
_MODES = {**_PLACES, "namespace": "k8s", "context": "k8s"}


def _check_place(section: str, table: Layer) -> None:
    """Raises where a remote says no place, more than one, or that of another mode."""
    mode = table["mode"].value
    places = [leaf for leaf, of in _PLACES.items() if of == mode]
    wrong = [leaf for leaf in table if _MODES.get(leaf, mode) != mode]
    stated = [*(leaf for leaf in table if leaf in places), *wrong]
    if wrong or len(stated) != 1:
        at, takes = table[wrong[0] if wrong else "mode"].where, " or ".join(places)
        message = f"{at}: mode {mode} takes one {takes}, and {section} has "
        hint = "add it, take out what is too much, or change the mode"
        raise ConfigError(message + joined(stated or ["none"]), hint=hint)


def _check_models(models: Mapping[str, Layer]) -> None:
    """Raises where half of a model's prices is stated, or a name of its is one of another's."""
    owners: dict[str, str] = {}
    for name, table in models.items():
        where = next(iter(table.values())).where
        prices = table.keys() & {"input_price", "output_price"}
        if len(prices) == 1 or ("cached_price" in table and not prices):
            hint = "give input_price and output_price, or none"
            raise ConfigError(f"{where}: [models.{name}] has half of its prices", hint=hint)
        aliases = table["aliases"].value if "aliases" in table else ()
        for term in (name, *map(str.lower, aliases)):
            if (owner := owners.setdefault(term, name)) != name:
                raise ConfigError(f'{where}: "{term}" already stands for the model {owner}')

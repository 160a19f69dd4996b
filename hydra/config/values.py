"""What a value of `hydra.toml` may be: units, the kinds of value, what a text may look like.

A kind reads what TOML gives (`read`), or an environment variable (`read_text`), and
raises `ConfigError` with a sentence that says nothing of where the value stood: `load.py` adds
the file and line, the variable or the flag.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, NamedTuple

from hydra.errors import ConfigError
from hydra.records.request import Effort

# --- units: "1h30m", "10s", "100MB", "4MiB" ---

_DURATION_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_DURATION = "".join(
    rf"(?:(?P<{unit}>\d{{1,30}}(?:\.\d{{1,18}})?)\s*{unit}\s*)?" for unit in _DURATION_UNITS
)
# The largest unit first, so that `format_size` meets the shortest form first. Decimal and binary
# units are both common (git and npm print one, cgroups and ulimit the other), so a bare "4M" is
# refused rather than guessed.
_SIZE_UNITS: dict[str, int] = {
    f"{prefix}{unit}": base**power
    for power, prefix in ((4, "T"), (3, "G"), (2, "M"))
    for unit, base in (("iB", 1024), ("B", 1000))
} | {"KiB": 1024, "kB": 1000, "B": 1}


def duration(text: str) -> float:
    """Seconds, to the millisecond, from "90s", "10m", "1h30m", "1.5h", "500ms", "2d".

    Raises `ConfigError` with a sentence; a number without a unit is told apart from nonsense.
    """
    line = text.strip()
    if re.fullmatch(r"\d+(\.\d+)?", line):
        raise ConfigError(f'{line} is a duration without a unit: write "{line}m" or "{line}s"')
    match = re.fullmatch(_DURATION, line)
    if not line or match is None:
        raise ConfigError(f'"{text}" is not a duration: write it as "90s", "10m" or "1h30m"')
    parts = ((match[unit], factor) for unit, factor in _DURATION_UNITS.items())
    return round(sum(float(number) * factor for number, factor in parts if number), 3)


def size(text: str) -> int:
    """Bytes from "100MB", "4MiB", "1.5GB", "512B". Raises `ConfigError` with a sentence."""
    line = text.strip()
    if re.fullmatch(r"\d+(\.\d+)?", line):
        raise ConfigError(f'{line} is a size without a unit: write "{line}MB" or "{line}MiB"')
    match = re.fullmatch(r"(\d{1,18}(?:\.\d{1,6})?)\s*([A-Za-z]*)", line)
    units = {unit.lower(): factor for unit, factor in _SIZE_UNITS.items()}
    if match is None or match[2].lower() not in units:
        raise ConfigError(f'"{text}" is not a size: write it as "100MB", "4MiB" or "2GiB"')
    number, factor = match[1], units[match[2].lower()]
    return round(float(number) * factor) if "." in number else int(number) * factor


def format_duration(seconds: float) -> str:
    """The text that `duration` reads back to exactly `seconds`."""
    if seconds != int(seconds):
        return f"{seconds!r}s"
    remaining, text = int(seconds), ""
    for unit, factor in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, remaining = divmod(remaining, factor)
        text += f"{count}{unit}" if count else ""
    return text or "0s"


def format_size(count: int) -> str:
    """The shortest text that `size` reads back to exactly `count` bytes."""
    fitting = (unit for unit, factor in _SIZE_UNITS.items() if count and count % factor == 0)
    unit = next(fitting, "B")
    return f"{count // _SIZE_UNITS[unit]}{unit}"


# --- kinds ---


class ValueKind(NamedTuple):
    """One kind of value. `allowed` are its bounds, or its words; in an environment variable the
    items of a list stand between `separator`s; `write` gives what TOML has."""

    name: str
    read: Callable[[object], Any]
    allowed: tuple[Any, ...] = ()
    separator: str = ""
    write: Callable[[Any], object] = lambda value: value

    def read_text(self, text: str) -> Any:
        """What an environment variable says."""
        term = text.strip().lower()
        if self.name == "boolean":
            if term not in _BOOLEANS:
                raise ConfigError(f'takes 1 or 0 (true or false), not "{text}"')
            return _BOOLEANS.index(term) % 2 == 1
        if self.name == "number":
            if not re.fullmatch(r"\d{1,18}", term):
                raise ConfigError(f'takes a whole number, not "{text}"')
            return self.read(int(term))
        if self.separator:
            parts = (part.strip() for part in text.split(self.separator))
            return self.read([part for part in parts if part])
        return self.read(text)


_BOOLEANS = ("0", "1", "false", "true", "no", "yes", "off", "on")
_TYPES = (
    (bool, "a boolean"),
    (int | float, "a number"),
    (str, "a string"),
    (list | tuple, "a list"),
    (dict, "a table"),
)


def _described(value: object) -> str:
    # A wrong value as a person wrote it: its TOML type, never a Python class name.
    return next((line for kind, line in _TYPES if isinstance(value, kind)), "a date or time")


def _figure(value: float) -> str:
    # TOML's hexadecimal integers have no end, and Python refuses to print one of 5,000 digits.
    return "a number that large" if abs(value) >= 10**18 else f"{value}"  # nan is no such number


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ConfigError(f"takes true or false, not {_described(value)}")


BOOLEAN = ValueKind("boolean", _boolean)


def _number(what: str, types: Any, low: float, high: float) -> ValueKind:
    def read(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, types):
            raise ConfigError(f"takes {what}, not {_described(value)}")
        if not low <= value <= high:
            raise ConfigError(f"must be {low} to {high}, not {_figure(value)}")
        return value

    return ValueKind("number", read, (low, high))


def _with_unit(
    name: str, parse: Callable[[str], Any], write: Callable[[Any], str], low: float, high: float
) -> ValueKind:
    def read(value: object) -> Any:
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = _figure(value)  # goes the same way: the unit that is missing is then named
        if not isinstance(value, str):
            raise ConfigError(f"takes a {name} as a string with a unit, not {_described(value)}")
        number = parse(value)
        if not low <= number <= high:
            raise ConfigError(f"must be {write(low)} to {write(high)}, not {value.strip()}")
        return number

    return ValueKind(name, read, (low, high), write=write)


count = partial(_number, "a whole number", int)
points = partial(_number, "a number", int | float)
seconds = partial(_with_unit, "duration", duration, format_duration)
in_bytes = partial(_with_unit, "size", size, format_size)
"""A number from the first to the second: whole, any, with a unit of time, of data."""


def choice(*allowed: str, elsewhere: str = "") -> ValueKind:
    """One of a few words; `elsewhere` is a sentence for one that only another way can say."""

    def check(item: str) -> str:
        if item not in allowed:
            other = f"; {elsewhere}" if elsewhere else ""
            terms = f"{', '.join(allowed[:-1])} or {allowed[-1]}"
            raise ConfigError(f'takes {terms}, not "{item}"{other}')
        return allowed[allowed.index(item)]  # of an enum its member

    return text(check)._replace(name="word", allowed=allowed)


def text(check: Callable[[str], str]) -> ValueKind:
    """A string that `check` passes on or refuses."""

    def read(value: object) -> str:
        if isinstance(value, str):
            return check(value)
        raise ConfigError(f"takes a string, not {_described(value)}")

    return ValueKind("string", read)


def strings(check: Callable[[str], str], separator: str = ",") -> ValueKind:
    """A list of strings that `check` passes on or refuses."""

    def read(value: object) -> tuple[str, ...]:
        if isinstance(value, str):
            raise ConfigError(f'takes a list: write ["{value}"]')
        if not isinstance(value, list | tuple):
            raise ConfigError(f"takes a list of strings, not {_described(value)}")
        for item in value:
            if not isinstance(item, str):
                raise ConfigError(f"takes a list of strings, and one of them is {_described(item)}")
        return tuple(map(check, value))

    return ValueKind("list of strings", read, separator=separator)


# --- texts: each passes on what it is given, or raises `ConfigError` ---


def plain(item: str) -> str:
    """Any text of one line."""
    if not item.strip() or any(ord(char) < 32 or ord(char) == 127 for char in item):
        raise ConfigError("an entry is empty or has a control character")
    return item


def formed(pattern: str, sentence: str) -> Callable[[str], str]:
    """Text of one line that `pattern` matches as a whole; `sentence` is told of any other."""

    def check(item: str) -> str:
        if not re.fullmatch(pattern, plain(item)):
            raise ConfigError(sentence.format(item))
        return item

    return check


NAME = r"[a-z0-9][a-z0-9-]{0,39}"
"""What an agent, a profile, a remote or a model may be called."""

_EFFORTS = tuple(effort.value for effort in Effort)
# A model that starts with a dash would be read by the CLI as one more option; so would a host by
# ssh, which hands some names to a shell, too.
_MODEL = r"[A-Za-z0-9][\w.:/@\[\]+-]*"
_INSIDE = r"(?![/~]|(?:.*/)?(?:\.\.|(?i:\.git))(?:/|\Z)).*"
_ABSOLUTE = 'takes an absolute path, not "{}"'

key_name = formed(NAME, '"{}" is not the name of an agent')
model_name = formed(_MODEL, '"{}" is not the name of a model')
object_spec = formed(
    r"(?a:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*)",
    '"{}" is not the name of an adapter: write my_pkg:ADAPTER',
)
inside = formed(_INSIDE, '"{}" is not a path inside the repository')
inside_or_whole = formed(f"~?/.*|{_INSIDE}", '"{}" is not a path inside the repository')
program = formed("~?/.*", _ABSOLUTE)
folder_there = formed(r"/(?!(?:.*/)?\.\.(?:/|\Z)).*", _ABSOLUTE)
program_there = formed(
    "/.*|(?![-~])[^/]+", 'takes a program\'s name or its absolute path there, not "{}"'
)
destination = formed(
    r"(?a:[A-Za-z0-9_\[][\w.:@/\[\]+-]*)",
    '"{}" is no host for ssh: write gpubox, or ada@gpubox',
)
name_there = formed(
    "[A-Za-z0-9][A-Za-z0-9_.:/@-]*", '"{}" is no name of a container, an image, a pod or a context'
)
# Never HOME, or the machine, as a whole.
shown_place = formed(
    r"~?(?!/*\Z)(?:/(?!\.\.?(?:/|\Z))[^/]*)+",
    '"{}" is no place below your home folder, nor an absolute path',
)
home_folder = formed(
    r"~(?:/(?!\.\.?(?:/|\Z))[^/]+)+",
    '"{}" is no folder below your home folder: write "~/.my-agent"',
)

_OWN_PROGRAM = (
    "a program of your own needs an entry in your own settings: docs/reference/configuration.md, "
    '"An agent of your own"'
)


def lane_spec(item: str) -> str:
    """An agent or a profile, with copies, a model, an effort."""
    if re.fullmatch(rf"[A-Za-z0-9][\w.-]*(@({'|'.join(_EFFORTS)})|:{_MODEL})?", item):
        return item
    if re.fullmatch(r"[A-Za-z0-9][\w.-]*@\w+", item):
        effort = item.partition("@")[2]
        raise ConfigError(f'"{effort}" is no effort: write {", ".join(_EFFORTS)}')
    if len(names := [name for part in item.split(",") if (name := part.strip())]) > 1:
        options = " ".join(f"-a {name}" for name in names)
        hint = f"name each by itself: {options}"
        raise ConfigError(f'"{item}" is not one agent, but {len(names)}', hint=hint)
    raise ConfigError(
        f'"{item}" is not an agent: write claude, 2xclaude or claude:opus@high',
        hint=_OWN_PROGRAM if "/" in item else "",
    )


def variable(name: str) -> str:
    """The name of an environment variable, none of git's."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*\*?", name):
        raise ConfigError(f'"{name}" is not the name of an environment variable (a * may end it)')
    if name.upper().startswith("GIT_"):
        raise ConfigError(
            f'"{name}" would lead git out of the lane: git\'s own names stay with git'
        )
    return name


def preface(item: str) -> str:
    """Text of any number of lines."""
    if not item.strip() or "\0" in item or len(item) > 20_000:
        raise ConfigError("takes text of 1 to 20000 characters")
    return item


def day(item: str) -> str:
    """`2026-11-22`."""
    from datetime import date

    with suppress(ValueError):
        if re.fullmatch(r"\d{4}-\d\d-\d\d", item):
            return date.fromisoformat(item).isoformat()
    raise ConfigError(f'takes a day as "2026-11-22", not "{item}"')


# --- patterns of paths, as .gitignore has them; but none takes away what another names ---

_PARTS = (
    r"(?P<any>(?:^|(?<=/))\*\*(?:/|$))|(?P<stars>\*+)|(?P<one>\?)|\\(?P<itself>.)"
    r"|\[(?P<not>[!^]?)(?P<set>\]?(?:\\.|[^]\\])*)\]|(?P<odd>[\[\\])|(?P<text>[^*?\[\\]+)"
)


def path_pattern(item: str) -> str:
    """A pattern that can be read."""
    if inside(item).startswith("!"):
        raise ConfigError(
            f'"{item}" would take a path out again, which no pattern can here: name what is meant, '
            r"or write \! for a name that begins so"
        )
    compiled(item)
    return item


@lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str]:
    """It as a regular expression of whole paths: a file, or any in a folder, of that name."""
    anchored = "/" in pattern.rstrip("/")
    try:
        parts = re.finditer(_PARTS, pattern.strip("/"), re.DOTALL)
        whole = "".join(map(_expression, parts))
        return re.compile(f"{'' if anchored else '(?:.*/)?'}{whole}(?:/.*)?", re.DOTALL)
    except (ValueError, re.error) as error:
        raise ConfigError(f'"{pattern}" is no pattern as .gitignore has them: {error}') from error


def _expression(part: re.Match[str]) -> str:
    if part["any"] is not None:
        return "(?:.*/)?" if part["any"].endswith("/") else ".*"
    if part["stars"] or part["one"]:
        return "[^/]*" if part["stars"] else "[^/]"
    if part["set"] is not None:
        if "[:" in part["set"]:
            raise ValueError("a class such as [:alpha:] is not known here")
        terms = re.sub(r"\\(.)|([\[&|~^\]])", r"\\\1\2", part["set"], flags=re.DOTALL)
        return f"(?!/)[{'^' * bool(part['not'])}{terms}]"
    if part["odd"]:
        raise ValueError("a [ is not closed" if part["odd"] == "[" else "it ends with a backslash")
    return re.escape(part["itself"] or part["text"])

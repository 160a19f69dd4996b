"""What a value of `hydra.toml` may be: units, the kinds of value, patterns of paths.

A kind reads what TOML gives (`read`), or an environment variable (`read_text`), and raises
`ConfigError` with a sentence that says nothing of where the value stood: `load.py` adds the file
and line, the variable or the flag.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, convert

from hydra.errors import ConfigError
from hydra.records.request import Effort

# --- units, the largest first: "1h30m", "10s", "100MB", "4MiB" ---

_MILLISECONDS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
# Decimal and binary units are both common (git and npm print one, cgroups and ulimit the other), so
# a bare "4M" is refused rather than guessed.
_BYTES: dict[str, int] = {
    f"{prefix}{unit}": base**power
    for power, prefix in ((4, "T"), (3, "G"), (2, "M"))
    for unit, base in (("iB", 1024), ("B", 1000))
} | {"KiB": 1024, "kB": 1000, "B": 1}


def duration(text: str) -> float:
    """Seconds, to the millisecond, from "90s", "10m", "1h30m", "1.5h", "500ms", "2d". Raises
    `ConfigError`; a number without a unit is told apart from nonsense."""
    example = 'a duration: write it as "90s", "10m" or "1h30m"'
    return _measured(text, _MILLISECONDS, ("m", "s"), example) / 1000


def size(text: str) -> int:
    """Bytes from "100MB", "4MiB", "1.5GB", "512B". Raises `ConfigError`."""
    example = 'a size: write it as "100MB", "4MiB" or "2GiB"'
    return _measured(text, _BYTES, ("MB", "MiB"), example, re.IGNORECASE)


def _measured(
    text: str, units: Mapping[str, int], usual: tuple[str, str], example: str, flags: int = 0
) -> int:
    line = text.strip()
    if re.fullmatch(r"\d+(\.\d+)?", line):
        ways = " or ".join(f'"{line}{unit}"' for unit in usual)
        what = example.partition(":")[0]
        raise ConfigError(f"{line} is {what} without a unit: write {ways}")
    parts = (rf"(?:(\d{{1,30}}(?:\.\d{{1,18}})?)\s*{unit}\s*)?" for unit in units)
    match = re.fullmatch("".join(parts), line, flags)
    if not line or match is None:
        raise ConfigError(f"{shown(text)} is not {example}")
    terms = zip(match.groups("0"), units.values(), strict=True)
    return round(sum((float(n) if "." in n else int(n)) * unit for n, unit in terms))


def format_duration(seconds: float) -> str:
    """The shortest text that `duration` reads back to exactly `seconds`."""
    return _written(round(seconds * 1000), _MILLISECONDS, "s")


def format_size(count: int) -> str:
    """The shortest text that `size` reads back to exactly `count` bytes."""
    return _written(count, _BYTES, "B")


def _written(number: int, units: Mapping[str, int], of_none: str) -> str:
    unit = next((unit for unit, factor in units.items() if number and not number % factor), of_none)
    return f"{number // units[unit]}{unit}"


# --- kinds ---


class ValueKind(NamedTuple):
    """One kind of value: what the docs call it, what a sentence says that it takes, the type that
    it is held against, and what makes a setting of it (with `ValueError` for another value, or a
    `ConfigError` with a sentence of its own). `allowed` are its bounds, or its words; `separator`
    is what parts a list in an environment variable; `write` gives what TOML has.
    """

    name: str
    takes: str
    type: Any = str
    parse: Callable[[Any], Any] = lambda value: value
    allowed: tuple[Any, ...] = ()
    separator: str = ""
    write: Callable[[Any], object] = lambda value: value

    def read(self, value: Any) -> Any:
        """What a document, or a flag, says. Raises `ConfigError`."""
        if not self.separator:
            return self._item(value)
        if isinstance(value, list | tuple):
            return tuple(map(self._item, value))
        written = f": write [{shown(value)}]" if isinstance(value, str) else f", not {shown(value)}"
        raise ConfigError(f"takes a list{written}")

    def read_text(self, text: str) -> Any:
        """What an environment variable says. Raises `ConfigError`."""
        if self.separator:
            parts = (part.strip() for part in text.split(self.separator))
            return self.read([part for part in parts if part])
        switch = _SWITCHES.get(text.strip().lower()) if self.type is bool else None
        return self._item(switch or text.strip(), strict=False)

    def _item(self, value: Any, *, strict: bool = True) -> Any:
        try:
            return self.parse(convert(value, self.type, strict=strict))
        except ValueError:
            raise ConfigError(f"takes {self.takes}, not {shown(value)}") from None


_SWITCHES = {"yes": "true", "on": "true", "no": "false", "off": "false"}


def shown(value: object) -> str:
    """A wrong value as a person wrote it, in TOML's words; of a long one its ends."""
    if isinstance(value, str | bool):
        from hydra.text import shortened  # not before: every --help reads this file

        return shortened(json.dumps(value, ensure_ascii=False))
    if isinstance(value, int | float):
        # TOML's hexadecimal integers have no end, and Python refuses to print one of 5,000 digits.
        return "a number that large" if abs(value) >= 10**18 else f"{value}"  # nan is none
    kinds = ((list | tuple, "a list"), (dict, "a table"))
    return next((text for kind, text in kinds if isinstance(value, kind)), "a date or time")


BOOLEAN = ValueKind("boolean", "true or false", bool)


def count(low: float, high: int, kind: Any = int) -> ValueKind:
    """A number from the first to the second: whole, or a float."""
    takes = f"a {'whole ' * (kind is int)}number of {low} to {high}"
    return ValueKind("number", takes, Annotated[kind, Meta(ge=low, le=high)], allowed=(low, high))


def seconds(low: float, high: int) -> ValueKind:
    """A duration from the first to the second."""
    return _with_unit("duration", duration, format_duration, count(low, high, float))


def in_bytes(low: int, high: int) -> ValueKind:
    """A size from the first to the second."""
    return _with_unit("size", size, format_size, count(low, high))


def _with_unit(
    name: str, parse: Callable[[str], float], write: Callable[[Any], str], number: ValueKind
) -> ValueKind:
    def read(value: object) -> Any:
        # A number alone is read as its text, so that the unit that is missing is named.
        return convert(parse(f"{value}"), number.type)

    takes = f"a {name} of {' to '.join(map(write, number.allowed))}"
    return ValueKind(name, takes, str | int | float, read, write=write)


def choice(*allowed: str, elsewhere: str = "") -> ValueKind:
    """One of a few words; `elsewhere` is said of what only another way can say."""
    takes = f"{', '.join(allowed[:-1])} or {allowed[-1]}{elsewhere}"
    # Of an enum its member.
    return ValueKind("word", takes, str, lambda item: allowed[allowed.index(item)], allowed)


def text(takes: str, pattern: str = ".*", parse: Callable[[str], Any] = str) -> ValueKind:
    """A line of text that the pattern matches as a whole."""
    kind = Annotated[str, Meta(pattern=rf"\A(?=.*\S)(?=[^\x00-\x1f\x7f]*\Z)(?:{pattern})\Z")]
    return ValueKind("string", takes, kind, parse)


def listed(kind: ValueKind, separator: str = ",") -> ValueKind:
    """A list of such."""
    return kind._replace(name="list of strings", separator=separator)


def lane_spec(item: str) -> str:
    """An agent or a profile, with copies, a model, an effort. Raises `ConfigError`."""
    match = re.fullmatch(rf"[A-Za-z0-9][\w.-]*(?:@(?P<effort>\w+)|:{MODEL})?", item)
    if match and match["effort"] in (None, *Effort):
        return item
    if match:
        raise ConfigError(f'"{match["effort"]}" is no effort: write {", ".join(Effort)}')
    names = [name for part in item.split(",") if (name := part.strip())]
    if len(names) > 1:
        hint = f"name each by itself: {' '.join(f'-a {name}' for name in names)}"
        raise ConfigError(f"{shown(item)} is not one agent, but {len(names)}", hint=hint)
    own = "a program of your own needs an entry in your own settings: docs/reference/"
    raise ConfigError(
        f"{shown(item)} is not an agent: write claude, 2xclaude or claude:opus@high",
        hint=f'{own}configuration.md, "An agent of your own"' if "/" in item else "",
    )


NAME = r"[a-z0-9][a-z0-9-]{0,39}"
"""What an agent, a profile, a remote or a model may be called."""
MODEL = r"[A-Za-z0-9][\w.:/@\[\]+-]*"
"""One that starts with a dash would be read by the CLI as one more option."""


# --- patterns of paths, as .gitignore has them; but none takes away what another names ---

_PARTS = (
    r"(?P<any>(?:^|(?<=/))\*\*(?:/|$))|\*+|\?|\\.|(?P<set>\[[!^]?\]?(?:\\.|[^]\\])*\])"
    r"|[^*?\[\\]+|."
)


def path_pattern(item: str) -> str:
    """A pattern that can be read. Raises `ConfigError`."""
    if item.startswith("!"):
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
        whole = re.sub(_PARTS, _expression, pattern.strip("/"), flags=re.DOTALL)
        return re.compile(f"{'' if anchored else '(?:.*/)?'}{whole}(?:/.*)?", re.DOTALL)
    except (ValueError, re.error) as error:
        raise ConfigError(f'"{pattern}" is no pattern as .gitignore has them: {error}') from error


def _expression(part: re.Match[str]) -> str:
    term = part[0]
    if part["any"]:
        return "(?:.*/)?" if term.endswith("/") else ".*"
    if term[0] in "*?":
        return "[^/]*" if term[0] == "*" else "[^/]"
    if part["set"]:
        if "[:" in term[1:]:
            raise ValueError("a class such as [:alpha:] is not known here")
        negated = term[1] in "!^"
        terms = re.sub(r"\\(.)|([\[&|~^\]])", r"\\\1\2", term[1 + negated : -1], flags=re.DOTALL)
        return f"(?!/)[{'^' * negated}{terms}]"
    if term in "[\\":
        raise ValueError("a [ is not closed" if term == "[" else "it ends with a backslash")
    return re.escape(term.removeprefix("\\"))

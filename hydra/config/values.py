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


def count(low: float, high: float, kind: Any = int) -> ValueKind:
    """A number from the first to the second: whole, or a float."""
    takes = f"a {'whole ' * (kind is int)}number of {low} to {high}"
    return ValueKind("number", takes, Annotated[kind, Meta(ge=low, le=high)], allowed=(low, high))


class Quantity(NamedTuple):
    """Numbers with a unit: the units, the largest first, by how many of the smallest each has; the
    two that are likely meant, an example; how 0 is written; how many of the smallest unit are 1 in
    a setting."""

    name: str
    units: Mapping[str, int]
    usual: tuple[str, str]
    example: str
    zero: str
    scale: int = 1
    flags: int = 0

    def read(self, text: str) -> float:
        """The number, rounded to the smallest unit. Raises `ConfigError`; what is without a unit is
        told apart from nonsense."""
        line = text.strip()
        parts = (rf"(?:(\d{{1,30}}(?:\.\d{{1,18}})?)\s*{unit}\s*)?" for unit in self.units)
        match = re.fullmatch("".join(parts), line, self.flags)
        if not line or match is None:
            if re.fullmatch(r"\d+(\.\d+)?", line):
                ways = " or ".join(f'"{line}{unit}"' for unit in self.usual)
                raise ConfigError(f"{line} is a {self.name} without a unit: write {ways}")
            raise ConfigError(f"{shown(text)} is not a {self.name}: write it as {self.example}")
        terms = zip(match.groups("0"), self.units.values(), strict=True)
        number = round(sum((float(n) if "." in n else int(n)) * unit for n, unit in terms))
        return number / self.scale if self.scale > 1 else number

    def write(self, value: float) -> str:
        """The shortest text that `read` reads back to exactly this."""
        number = round(value * self.scale)
        unit = next(unit for unit, factor in self.units.items() if not number % factor)
        return f"{number // self.units[unit]}{unit}" if number else self.zero

    def within(self, low: float, high: float) -> ValueKind:
        """One from the first to the second."""
        kind = count(low, high, float if self.scale > 1 else int).type
        takes = f"a {self.name} of {self.write(low)} to {self.write(high)}"

        def read(value: object) -> Any:
            # A number alone is read as its text, so that the unit that is missing is named.
            return convert(self.read(f"{value}"), kind)

        return ValueKind(self.name, takes, str | int | float, read, write=self.write)


_TIMES = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
DURATION = Quantity("duration", _TIMES, ("m", "s"), '"90s", "10m" or "1h30m"', "0s", 1000)
"""In seconds, to the millisecond."""
duration, format_duration = DURATION.read, DURATION.write

# Decimal and binary units are both common (git and npm print one, cgroups and ulimit the other), so
# a bare "4M" is refused rather than guessed.
_SIZES = {
    **{"TiB": 1024**4, "TB": 1000**4, "GiB": 1024**3, "GB": 1000**3, "MiB": 1024**2, "MB": 1000**2},
    **{"KiB": 1024, "kB": 1000, "B": 1},
}
SIZE = Quantity(
    "size", _SIZES, ("MB", "MiB"), '"100MB", "4MiB" or "2GiB"', "0B", flags=re.IGNORECASE
)
"""In bytes."""


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

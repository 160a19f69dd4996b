"""The kinds of value a key can have: how each is read, bounded, and written back to TOML.

A kind reads what TOML gives (`read`) and what an environment variable gives (`read_text`), and
raises `ConfigError` with a sentence that says nothing of where the value stood: `load.py` adds
the file and line, the variable or the flag.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from hydra.config.units import duration, format_duration, format_size, size
from hydra.errors import ConfigError

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


class ValueKind(NamedTuple):
    """One kind of value. `write` gives what tomli-w is handed."""

    name: str
    read: Callable[[object], Any]
    read_text: Callable[[str], Any]
    write: Callable[[Any], object]


def _same(value: object) -> object:
    return value


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


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ConfigError(f"takes true or false, not {_described(value)}")


def _boolean_text(text: str) -> bool:
    term = text.strip().lower()
    if term not in _TRUE | _FALSE:
        raise ConfigError(f'takes 1 or 0 (true or false), not "{text}"')
    return term in _TRUE


BOOLEAN = ValueKind("boolean", _boolean, _boolean_text, _same)


def count(low: int, high: int) -> ValueKind:
    """A whole number from `low` to `high`."""

    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise ConfigError(f"takes a whole number, not {_described(value)}")
        if not low <= value <= high:
            raise ConfigError(f"must be {low} to {high}, not {_figure(value)}")
        return value

    def read_text(text: str) -> int:
        if not re.fullmatch(r"\s*\d{1,18}\s*", text):
            raise ConfigError(f'takes a whole number, not "{text}"')
        return read(int(text))

    return ValueKind("number", read, read_text, _same)


def points(low: float, high: float) -> ValueKind:
    """A number from `low` to `high`, whole or not."""

    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigError(f"takes a number, not {_described(value)}")
        if not low <= value <= high:
            raise ConfigError(f"must be {low:g} to {high:g}, not {_figure(value)}")
        return value

    def read_text(text: str) -> float:
        if not re.fullmatch(r"\s*\d{1,9}(\.\d{1,9})?\s*", text):
            raise ConfigError(f'takes a number, not "{text}"')
        return read(float(text))

    return ValueKind("number", read, read_text, _same)


def seconds(low: float, high: float) -> ValueKind:
    """A duration from `low` to `high` seconds."""

    def bounded(number: float) -> float:
        if low <= number <= high:
            return float(number)
        bounds = f"{format_duration(low)} to {format_duration(high)}"
        raise ConfigError(f"must be {bounds}, not {format_duration(number)}")

    def read_text(text: str) -> float:
        return bounded(duration(text))

    return ValueKind("duration", _with_unit(read_text, "duration"), read_text, format_duration)


def in_bytes(low: int, high: int) -> ValueKind:
    """A size from `low` to `high` bytes."""

    def read_text(text: str) -> int:
        number = size(text)
        if low <= number <= high:
            return number
        bounds = f"{format_size(low)} to {format_size(high)}"
        raise ConfigError(f"must be {bounds}, not {text.strip()}")

    return ValueKind("size", _with_unit(read_text, "size"), read_text, format_size)


def _with_unit(read_text: Callable[[str], Any], what: str) -> Callable[[object], Any]:
    def read(value: object) -> Any:
        if isinstance(value, str):
            return read_text(value)
        # A bare number goes the same way: the unit that is missing is then named.
        if type(value) is int or type(value) is float:
            return read_text(_figure(value))
        raise ConfigError(f"takes a {what} as a string with a unit, not {_described(value)}")

    return read


def _figure(value: float) -> str:
    # TOML's hexadecimal integers have no end, and Python refuses to print one of 5,000 digits.
    return "a number that large" if abs(value) >= 10**18 else f"{value}"  # nan is no such number


def choice(*allowed: str, elsewhere: str = "") -> ValueKind:
    """One of a few words; `elsewhere` is a sentence for one that only another way can say."""

    def read_text(text: str) -> str:
        if text not in allowed:
            other = f"; {elsewhere}" if elsewhere else ""
            raise ConfigError(f'takes {_either(allowed)}, not "{text}"{other}')
        return text

    return ValueKind("word", _only_text(read_text), read_text, str)


def _either(terms: tuple[str, ...]) -> str:
    return f"{', '.join(terms[:-1])} or {terms[-1]}"


def text(check: Callable[[str], str]) -> ValueKind:
    """A string that `check` passes on or refuses."""
    return ValueKind("string", _only_text(check), check, str)


def _only_text(read_text: Callable[[str], Any]) -> Callable[[object], Any]:
    def read(value: object) -> Any:
        if isinstance(value, str):
            return read_text(value)
        raise ConfigError(f"takes a string, not {_described(value)}")

    return read


def strings(check: Callable[[str], str], *, separator: str) -> ValueKind:
    """A list of strings; in an environment variable they stand between `separator`s."""

    def read(value: object) -> tuple[str, ...]:
        if isinstance(value, str):
            raise ConfigError(f'takes a list: write ["{value}"]')
        if not isinstance(value, list | tuple):
            raise ConfigError(f"takes a list of strings, not {_described(value)}")
        for item in value:
            if not isinstance(item, str):
                raise ConfigError(f"takes a list of strings, and one of them is {_described(item)}")
        return tuple(check(item) for item in value)

    def read_text(text: str) -> tuple[str, ...]:
        parts = (part.strip() for part in text.split(separator))
        return tuple(check(part) for part in parts if part)

    return ValueKind("list of strings", read, read_text, list)

"""Reading TOML's values by their type, with an error that says where a wrong one stands."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from hydra.errors import ConfigError

T = TypeVar("T", str, int, float, bool)


def only(data: Mapping[str, object], names: Collection[str], where: str) -> None:
    """Raises `ConfigError` for a key that is not one of `names`, and names those."""
    if unknown := set(data) - set(names):
        text = f"unknown {', '.join(sorted(unknown))}; known: {', '.join(sorted(names))}"
        raise ConfigError(f"{where}: {text}")


def value_of(data: Mapping[str, object], key: str, default: T, where: str) -> T:
    """A value of the type that its default has. A whole number is a number as well."""
    value = data.get(key, default)
    cls = (int, float) if isinstance(default, float) else type(default)
    if not isinstance(value, cls) or (isinstance(value, bool) != isinstance(default, bool)):
        raise ConfigError(f"{where}: {key} is {value!r}, not a {_NAMES[type(default)]}")
    return value  # type: ignore[return-value]


_NAMES = {str: "text", int: "number", float: "number", bool: "boolean"}


def mapping(value: object, where: str) -> Mapping[str, Any]:
    """A table."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"{where} is {value!r}, not a table")
    return value


def texts(value: object, where: str) -> dict[str, str]:
    """A table of texts."""
    document = mapping(value, where)
    if wrong := [key for key, text in document.items() if not isinstance(text, str)]:
        raise ConfigError(f"{where}: {wrong[0]} is {document[wrong[0]]!r}, not a text")
    return dict(document)


def text_list(value: object, where: str) -> tuple[str, ...]:
    """A list of texts."""
    if not isinstance(value, list | tuple) or any(not isinstance(item, str) for item in value):
        raise ConfigError(f"{where} is {value!r}, not a list of texts")
    return tuple(value)

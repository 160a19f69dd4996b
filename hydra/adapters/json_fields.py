"""Tolerant reading of one JSON line from a program that cannot be trusted to write it well.

What is tolerated: a BOM, CRLF, NULs around the line, bytes that are not UTF-8, raw control
characters in strings. What is refused: anything that is not one object, more than `DEPTH` levels
or `BRACKETS` brackets, integers of more than `DIGITS` digits, NaN and infinities.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import NoReturn

Object = Mapping[str, object]

DEPTH = 64
DIGITS = 30
BRACKETS = 500_000
"""`[` and `{` in one line, those in strings included: 4 MiB of nothing but empty lists would take
147 MB, and an edit that embeds a file of source has a tenth of so many."""

_SURROGATE = re.compile(r"\\u[dD]")

_EMPTY: Object = {}


class MalformedLine(ValueError):
    """A line that is not one sane JSON object."""


def decode(line: bytes) -> Object | None:
    """The object in `line`, None for a blank line. Raises `MalformedLine`, and nothing else."""
    text = line.decode("utf-8", "replace").removeprefix("\ufeff").strip("\x00\r\n\t ")
    if not text:
        return None
    if not text.startswith("{"):
        raise MalformedLine("not a JSON object")
    brackets = text.count("[") + text.count("{")
    if brackets > BRACKETS:
        raise MalformedLine(f"{brackets} brackets in one line")
    value = _parsed(text)
    if brackets > DEPTH and _depth(value) > DEPTH:
        raise MalformedLine(f"nested deeper than {DEPTH} levels")
    return _scrubbed(value) if _SURROGATE.search(text) else value


def _parsed(text: str) -> dict[str, object]:
    try:
        value, end = _DECODER.raw_decode(text)
        if end != len(text):
            raise json.JSONDecodeError("Extra data", text, end)
    except (ValueError, RecursionError) as error:
        raise MalformedLine(str(error)[:200]) from None
    if not isinstance(value, dict):
        raise MalformedLine("not a JSON object")
    return value


def string(holder: Object, key: str) -> str:
    """`holder[key]` if it is a string, else an empty one."""
    value = holder.get(key)
    return value if isinstance(value, str) else ""


def integer(holder: Object, key: str) -> int | None:
    """`holder[key]` if it is a whole number and not a bool, else None."""
    value = holder.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number(holder: Object, key: str) -> float | None:
    """`holder[key]` if it is a finite number and not a bool, else None."""
    value = holder.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:
        return None


def mapping(holder: Object, key: str) -> Object:
    """`holder[key]` if it is an object, else an empty one."""
    value = holder.get(key)
    return value if isinstance(value, dict) else _EMPTY


def objects(holder: Object, key: str) -> list[Object]:
    """The objects in the list `holder[key]`; whatever else is in it is left out."""
    value = holder.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def strings(holder: Object, key: str) -> list[str]:
    """The strings in the list `holder[key]`; whatever else is in it is left out."""
    value = holder.get(key)
    items = value if isinstance(value, list | tuple) else ()
    return [item for item in items if isinstance(item, str)]


def first(holder: Object, keys: Sequence[str]) -> str:
    """The first non-empty string among `keys`."""
    return next((text for key in keys if (text := string(holder, key))), "")


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _integer(text: str) -> int:
    if len(text) > DIGITS:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("a number out of range")
    return value


_DECODER = json.JSONDecoder(
    strict=False, parse_constant=_constant, parse_int=_integer, parse_float=_float
)


def _depth(value: object) -> int:
    """How deep `value` is nested, without recursion."""
    deepest, level = 0, [value]
    while level:
        deepest += 1
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        level = [item for item in below if isinstance(item, dict | list)]
    return deepest


def _scrubbed(value: dict[str, object]) -> Object:
    """`value` with lone surrogates replaced: they parse, and then crash whoever writes them."""
    return {_clean(key): _scrub(item) for key, item in value.items()}


def _scrub(value: object) -> object:
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, list):
        return [_scrub(item) for item in value]
    return _scrubbed(value) if isinstance(value, dict) else value


def _clean(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

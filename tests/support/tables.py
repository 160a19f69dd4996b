"""Tables of cases that are data: tests/data/tables/NAME.toml, a row for each case.

`{}` is None, and a list is a tuple.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data" / "tables"


def table(name: str, key: str) -> list[Any]:
    """The rows of one table."""
    return [_value(row) for row in _read(name)[key]]


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((DATA / f"{name}.toml").read_text("utf-8"))


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_value, value))
    if isinstance(value, dict):
        return {key: _value(each) for key, each in value.items()} or None
    return value

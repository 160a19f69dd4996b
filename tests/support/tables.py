"""Tables of cases that are data: files under tests/data/."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data"


@cache
def table(name: str) -> dict[str, Any]:
    """The whole of `tests/data/NAME.toml`."""
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))


def table_rows(name: str, key: str) -> list[Any]:
    """The rows of one table of `tests/data/tables/NAME.toml`, one for each case: `{}` is None, and
    a list is a tuple."""
    return [_value(row) for row in table(f"tables/{name}")[key]]


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_value, value))
    if isinstance(value, dict):
        return {key: _value(each) for key, each in value.items()} or None
    return value

"""Reading what others wrote: data of any shape in, a value of the type wanted out, or nothing.

An event's data may come from a damaged record or a hostile agent; a reporter must show what it
can and never fail.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

Data = Mapping[str, object]


def text(data: Data, name: str, default: str = "") -> str:
    """`data[name]` where it is text."""
    value = data.get(name)
    return value if isinstance(value, str) else default


def number(data: Data, name: str) -> float | None:
    """`data[name]` where it is a finite number; a truth value is none."""
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:
        return None


def record(data: Data, name: str) -> Data:
    """`data[name]` where it is an object, else an empty one."""
    value = data.get(name)
    return value if isinstance(value, Mapping) else {}


def records(data: Data, name: str) -> list[Data]:
    """The objects in the list `data[name]`."""
    value = data.get(name)
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def strings(data: Data, name: str) -> list[str]:
    """The texts in the list `data[name]`."""
    value = data.get(name)
    if not isinstance(value, list | tuple):
        return []
    return [one for one in value if isinstance(one, str)]

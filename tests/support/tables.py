"""Tables of cases that are data: `tests/data/NAME.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data"


def table(name: str) -> dict[str, Any]:
    """The whole of one file."""
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))

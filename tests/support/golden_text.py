"""Texts that a person has read and approved: tests/data/golden/NAME. Written anew, where a change
was meant, by `GOLDEN=write pytest ...`; read the diff."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "data" / "golden"
_WRITES = os.environ.get("GOLDEN") == "write"


def approved(name: str, text: str) -> None:
    """`text` is what stands in that file."""
    path = FOLDER / name
    if _WRITES:
        path.write_bytes(text.encode())
    assert text == path.read_bytes().decode(), name


def section(title: str, text: str) -> str:
    """One of several texts in a file."""
    return f"=== {title}\n{text.rstrip()}\n\n"

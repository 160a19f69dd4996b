"""Texts that a person has read and approved: tests/data/golden/NAME. Written anew, where a change
was meant, by `GOLDEN=write pytest ...`; read the diff."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "data" / "golden"
_WRITES = os.environ.get("GOLDEN") == "write"


def approved(name: str, text: str) -> None:
    """`text` is what stands in that file."""
    path = FOLDER / name
    if _WRITES:
        path.write_bytes(text.encode())
    assert text == path.read_bytes().decode(), name


def alike(entries: Iterable[tuple[str, str]]) -> str:
    """Texts under their names; those that are the same have one entry under all of their names."""
    names: dict[str, list[str]] = {}
    for name, text in entries:
        names.setdefault(text, []).append(f"{name}\n")
    return "\n".join("".join(each) + text for text, each in names.items())


def section(title: str, text: str) -> str:
    """One of several texts in a file."""
    return f"=== {title}\n{text.rstrip()}\n\n"


_WIDTH = 100
_LONG = 150
"""Characters of a part of a document from which it is shown once."""


class Documents:
    """Documents as a person reads them: what is null or empty is left out (that each field is there
    is held by tests/test_json_docs.py), fields stand side by side where there is room, and a part
    that was shown before, in this or another document, is the place where it was."""

    def __init__(self) -> None:
        self._places: dict[str, str] = {}

    def lay_out(self, text: str, name: str) -> str:
        """One document's JSON; parts of it are found by this name."""
        return "".join(f"{line}\n" for line in self._lines(_without_empty(json.loads(text)), name))

    def _lines(self, value: Any, place: str) -> list[str]:
        flat = json.dumps(value)
        if len(flat) > _LONG and not isinstance(value, str):
            if flat in self._places:
                return [f"= {self._places[flat]}"]
            self._places[flat] = place
        if len(flat) < _WIDTH or not isinstance(value, dict | list):
            return [flat]
        named = isinstance(value, dict)
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        rows = []
        for name, part in parts:
            first, *rest = self._lines(part, f"{place} {name}")
            rows.append([f'"{name}": {first}' if named else first, *rest])
        opening, closing = ("{", "}") if named else ("[", "]")
        return [opening, *(f"  {line}" for line in _side_by_side(rows)), closing]


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_empty(part) for name, part in value.items() if _says(part)}
    return [_without_empty(part) for part in value] if isinstance(value, list) else value


def _says(value: Any) -> bool:
    return value is not None and value not in ("", [], {})


def _side_by_side(rows: list[list[str]]) -> Iterator[str]:
    line = ""
    for row in rows:
        if line and (len(row) > 1 or len(line) + len(row[0]) > _WIDTH):
            yield line
            line = ""
        if len(row) > 1:
            yield from row
        else:
            line += f", {row[0]}" if line else row[0]
    if line:
        yield line

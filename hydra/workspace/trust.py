"""What a lane's copy of its agent's settings says of the folder that it stands at.

Trust follows a path: what the user has granted to their checkout is not the lane's.

A lane stands at the checkout's own path, and holds whatever the task's repository and agent put
there. So in the lane's copy of the agent's settings the checkout is a folder that nobody has
trusted yet, as a lane's own path was: its hooks and MCP servers do not start by themselves.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import tomli_w

from hydra.adapters.contract import PathTrust


def withdraw_trust(folders: Iterable[Path], trust: Iterable[PathTrust], place: Path) -> None:
    """Takes the entries of `place`, and of what holds it or lies in it, out of the lane's copies,
    wherever one of these `folders` has such a file. One that names what is granted and cannot be
    read is taken away whole: its agent may read it all the same. Raises `OSError`."""
    for entry in trust:
        for file in (folder / entry.file for folder in folders):
            if file.is_file():
                _withdraw(file, entry.key, place)


def add_writable(folder: Path, entry: PathTrust, place: Path) -> None:
    """Puts `place` behind the user's own in a list of the lane's copy, which is made where it is
    not there. Raises `OSError`."""
    file = folder / entry.file
    with suppress(ValueError, RecursionError, TypeError, AttributeError):  # not as its agent has it
        document: dict[str, Any] = tomllib.loads(file.read_text()) if file.is_file() else {}
        table, (*outer, key) = document, entry.key.split(".")
        for name in outer:
            table = table.setdefault(name, {})
        table[key] = [*table.get(key, ()), str(place)]
        file.write_text(tomli_w.dumps(document))


def _withdraw(file: Path, key: str, place: Path) -> None:
    is_toml = file.suffix == ".toml"
    data = file.read_bytes()
    try:
        text = data.decode()
        document: Any = tomllib.loads(text) if is_toml else _json(text)
    except (ValueError, RecursionError):
        if key.encode() in data:
            file.unlink()
        return
    granted = document.get(key) if isinstance(document, dict) else None
    value = _without(granted, place)
    if value != granted:
        document[key] = value
        file.write_text(tomli_w.dumps(document) if is_toml else json.dumps(document, indent=2))


_STRING = r'("[^"\\]*(?:\\.[^"\\]*)*")'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=\s*[\]}}])")


def _json(text: str) -> object:
    """JSON with comments, and a comma behind the last entry: Copilot writes the first itself."""
    with suppress(ValueError):
        return json.loads(text)
    for pattern in (_COMMENT, _LAST_COMMA):
        text = pattern.sub(lambda match: match[1] or "", text)
    return json.loads(text.removeprefix("\ufeff"))


def _without(granted: object, place: Path) -> object:
    if isinstance(granted, dict):
        return {path: row for path, row in granted.items() if not _concerns(path, place)}
    if isinstance(granted, list):
        return [path for path in granted if not _concerns(path, place)]
    return granted


def _concerns(path: object, place: Path) -> bool:
    folder = Path(path) if isinstance(path, str) else Path()
    return folder.is_absolute() and (
        place.is_relative_to(folder) or folder.is_relative_to(place) or _same(folder, place)
    )


def _same(folder: Path, place: Path) -> bool:
    """Whether a link leads there: the user may have trusted the checkout by another name."""
    try:
        return place.is_relative_to(folder.resolve())
    except (OSError, RuntimeError):
        return False

"""What is expected of a subject: data in files beside its recordings, and what differs from it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from hydra.conformance.contract.subject import NotCheckable

LINES, DETECT = "lines.expected.json", "detect.expected.json"


def plain(value: Any) -> Any:
    """`value` as JSON gives it back."""
    return json.loads(json.dumps(value, default=_known_fields))


def against(path: Path, document: Mapping[str, Any]) -> Iterator[str]:
    """What differs from the file, a sentence each. Raises `NotCheckable` where there is no file."""
    if not path.is_file():
        raise NotCheckable(f"no {path.name} beside the recordings")
    expected = json.loads(path.read_bytes())
    yield from differences(expected, plain(document), "")


def differences(expected: Any, document: Any, place: str) -> Iterator[str]:
    """Where two values part, by the names on the way there."""
    if isinstance(expected, dict) and isinstance(document, dict):
        for name in sorted({*expected, *document}):
            below = f"{place}.{name}" if place else str(name)
            if name not in document:
                yield f"{below} is gone: it was {_short(expected[name])}"
            elif name not in expected:
                yield f"{below} is new: {_short(document[name])}"
            else:
                yield from differences(expected[name], document[name], below)
    elif expected != document:
        yield f"{place} is {_short(document)} and should be {_short(expected)}"


def write(path: Path, document: Mapping[str, Any]) -> None:
    """One entry a line, so that a diff of two shows what changed."""
    rows = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in plain(document).items()]
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 300 else f"{text[:299]}…"


def _known_fields(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, frozenset | set):
        return sorted(value)
    if isinstance(value, Path):
        return value.as_posix()
    raise TypeError(f"{type(value).__name__} is no JSON")

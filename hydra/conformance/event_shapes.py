"""The shape of a stream's events, inferred from its lines: which fields, of which JSON types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from hydra.adapters.json_fields import MalformedLine, Object, decode

Shape = dict[str, set[str]]
"""A type of event: each field's path, with the JSON types that it was of. A path is written
`message.content[tool_use].id`: `[...]` is an entry of a list, by its `type` where it has one; `*`
stands for keys that are data and no names (a model, an id, a file)."""

NO_JSON = "text that is not JSON"
"""The name of what a stream has beside JSON objects."""

_FREE = frozenset({"input", "arguments", "tool_input"})
"""Fields whose inside is whatever a tool takes: it belongs to the tool, not to the stream."""

_NAMING = (("type",), ("subtype",), ("item", "type"), ("msg", "type"))
_DATA_KEY = re.compile(
    r".*[^A-Za-z0-9_].*|\d.*|[a-z]+_\d+|(?=.*\d)[0-9a-f]{8,}|(?=(?:.*\d){4})\w{16,}", re.DOTALL
)
_ENTRIES = 200
"""Entries of one list that are looked at."""


def shapes(lines: Iterable[bytes]) -> dict[str, Shape]:
    """By type of event."""
    by_kind: dict[str, Shape] = {}
    for kind, line in typed(lines):
        _object(by_kind.setdefault(kind, {"": set()}), line, "")
    return by_kind


def typed(data: Iterable[bytes]) -> Iterator[tuple[str, Object]]:
    """(type, object) of each line that is not blank."""
    for line in data:
        try:
            document = decode(line)
        except MalformedLine:
            yield NO_JSON, {}
            continue
        if document is not None:
            yield _kind(document), document


def _kind(line: Object) -> str:
    """What an event is called: `assistant`, `system/init`, `item.completed/file_change`."""
    terms = []
    for path in _NAMING:
        value: object = line
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, str) and value:
            terms.append(value)
    return "/".join(terms) or "(no type)"


def _object(shape: Shape, document: Mapping[str, object], at: str) -> None:
    data_keys = _folded(document)
    for key, value in document.items():
        name = "*" if data_keys else key
        path = f"{at}.{name}" if at else name
        shape.setdefault(path, set()).add(_json_type(value))
        if key not in _FREE:
            _inside(shape, value, path)


def _inside(shape: Shape, value: object, path: str) -> None:
    if isinstance(value, Mapping):
        _object(shape, value, path)
    elif isinstance(value, list):
        for content in value[:_ENTRIES]:
            if isinstance(content, Mapping | list):
                kind = content.get("type") if isinstance(content, Mapping) else None
                entry = kind if isinstance(kind, str) and kind.isidentifier() else ""
                shape.setdefault(f"{path}[{entry}]", set())
                _inside(shape, content, f"{path}[{entry}]")


def _folded(document: Mapping[str, object]) -> bool:
    """Whether the keys of an object are data: one of them cannot be a name, or all hold the same.

    `{"opus-4": {...}, "haiku-4": {...}}` is a map of models, whatever they are called.
    """
    if any(_DATA_KEY.fullmatch(key) for key in document):
        return True
    inside = {frozenset(v) if isinstance(v, Mapping) else None for v in document.values()}
    alike = next(iter(inside)) if len(inside) == 1 else None
    return alike is not None and len(document) > 1 and len(alike) > 2


def fields(was: Shape, now: Shape) -> dict[str, list[str]]:
    """By how they differ: those that only one side has, and those of other types."""
    other = [
        f"{path} ({' or '.join(sorted(was[path]))} is now {' or '.join(sorted(now[path]))})"
        for path in sorted(was.keys() & now.keys())
        if was[path] != now[path]
    ]
    ways = {"vanished": _tops(was, now), "appeared": _tops(now, was), "changed": other}
    return {how: paths for how, paths in ways.items() if paths}


def _tops(shape: Shape, other: Shape) -> list[str]:
    """Paths that `other` lacks, but for those inside one that is listed already.

    That a list is empty says nothing of its entries; nor does an object of its fields that is not
    there."""
    missing = [path for path in shape.keys() - other.keys() if not path.endswith("[]")]
    return sorted(
        path for path in missing if path.rpartition("[" if path.endswith("]") else ".")[0] in other
    )


def _json_type(value: object) -> str:
    kinds = {bool: "boolean", int: "number", float: "number", str: "string", list: "list"}
    return "null" if value is None else kinds.get(type(value), "object")

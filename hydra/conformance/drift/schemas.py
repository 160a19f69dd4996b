"""The shape of a stream's events, inferred from its lines: which fields, of which JSON types.

A path is written `message.content[tool_use].id`: `[...]` is an entry of a list, by its `type`
where it has one; `*` stands for keys that are data and no names (a model, an id, a file).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from hydra.adapters.json_stream import MalformedLine, Object, decode

NO_JSON = "text that is not JSON"
"""The name of what a stream has beside JSON objects."""

FREE = frozenset({"input", "arguments", "tool_input"})
"""Fields whose inside is whatever a tool takes: it belongs to the tool, not to the stream."""

_NAMING = (("type",), ("subtype",), ("item", "type"), ("msg", "type"))
_DATA_KEY = re.compile(
    r".*[^A-Za-z0-9_].*|\d.*|[a-z]+_\d+|(?=.*\d)[0-9a-f]{8,}|(?=(?:.*\d){4})\w{16,}", re.DOTALL
)
_ENTRIES = 200
"""Entries of one list that are looked at."""


@dataclass(slots=True)
class Field:
    """One path: in how many of the objects that could hold it, and as which JSON types."""

    seen: int = 0
    types: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Shape:
    """One type of event: how often it came, its fields, and how often each object in it did."""

    seen: int = 0
    fields: dict[str, Field] = field(default_factory=dict)
    objects: dict[str, int] = field(default_factory=dict)

    @property
    def paths(self) -> frozenset[str]:
        """Every field, every object, and "" for the event itself."""
        return frozenset(self.fields) | frozenset(self.objects)

    @property
    def listed(self) -> frozenset[str]:
        """Those that another version can lack. That a list is empty says nothing of its entries."""
        return frozenset(path for path in self.paths if not path.endswith("[]"))

    def always(self, path: str) -> bool:
        """Whether every object that could hold `path` did."""
        return self.fields[path].seen == self.objects[holder(path)]


def lines_of(data: Iterable[bytes]) -> Iterator[tuple[str, Object]]:
    """(type, object) of each line that is not blank; what is no JSON object is `NO_JSON`, {}."""
    for line in data:
        try:
            document = decode(line)
        except MalformedLine:
            yield NO_JSON, {}
            continue
        if document is not None:
            yield name(document), document


def name(line: Object) -> str:
    """What an event is called: `assistant`, `system/init`, `item.completed/file_change`."""
    terms = []
    for path in _NAMING:
        value: object = line
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, str) and value:
            terms.append(value)
    return "/".join(terms) or "(no type)"


def infer(events: Iterable[tuple[str, Object]]) -> dict[str, Shape]:
    """The shape of each type of event."""
    shapes: dict[str, Shape] = {}
    for kind, line in events:
        shape = shapes.setdefault(kind, Shape())
        shape.seen += 1
        _object(shape, line, "")
    return shapes


def holder(path: str) -> str:
    """What holds it: `content[text]` of `content[text].id`, `content` of `content[text]`."""
    return path.rpartition("[" if path.endswith("]") else ".")[0]


def folded(document: Mapping[str, object]) -> bool:
    """Whether the keys of an object are data: one of them cannot be a name, or all hold the same.

    `{"opus-4": {...}, "haiku-4": {...}}` is a map of models, whatever they are called.
    """
    if any(_DATA_KEY.fullmatch(key) for key in document):
        return True
    inside = {frozenset(v) if isinstance(v, Mapping) else None for v in document.values()}
    alike = next(iter(inside)) if len(inside) == 1 else None
    return alike is not None and len(document) > 1 and len(alike) > 2


def entry(path: str, value: object) -> str:
    """The path of one entry of the list at `path`."""
    kind = value.get("type") if isinstance(value, Mapping) else None
    return f"{path}[{kind}]" if isinstance(kind, str) and kind.isidentifier() else f"{path}[]"


def _object(shape: Shape, document: Mapping[str, object], at: str) -> None:
    shape.objects[at] = shape.objects.get(at, 0) + 1
    if folded(document):
        # However many keys: the map has entries, which is one thing.
        part = shape.fields.setdefault(_under(at, "*"), Field())
        part.seen += 1
        for value in document.values():
            part.types.add(json_type(value))
            _inside(shape, value, _under(at, "*"))
        return
    for key, value in document.items():
        path = _under(at, key)
        part = shape.fields.setdefault(path, Field())
        part.seen += 1
        part.types.add(json_type(value))
        if key not in FREE:
            _inside(shape, value, path)


def _inside(shape: Shape, value: object, path: str) -> None:
    if isinstance(value, Mapping):
        _object(shape, value, path)
    elif isinstance(value, list):
        for content in value[:_ENTRIES]:
            inner = entry(path, content)
            if isinstance(content, Mapping | list):
                _inside(shape, content, inner)


def _under(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key


def json_type(value: object) -> str:
    """JSON's word for it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "list" if isinstance(value, list) else "object"

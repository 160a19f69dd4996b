"""Two readings of a stream held against each other, and documents with a field added or spoiled."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hydra.conformance.contract.sound import endings
from hydra.conformance.recorded import Stream, documents
from hydra.records.events import AgentEvent

ANSI = "\x1b[2J\x1b]0;title\x07\x1b[31m\u202e\u2028\x00\x7f"

VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**25,
    1.5e300,
    "",
    "\ud800" + ANSI,
    "x" * 5_000,
    [],
    [None, [[]], {"type": []}],
    {},
    {"type": {"type": None}},
)
"""What is put into every field of every known line."""


def unlike(name: str, expected: list[Any], items: list[Any]) -> Iterator[str]:
    """Where two lists of events part first, by the event's place and field."""
    for number, (document, data) in enumerate(zip(expected, items, strict=False), 1):
        if document == data:
            continue
        what = "/".join(part for part in (document["kind"], document["sub"]) if part)
        if (document["kind"], document["sub"]) != (data["kind"], data["sub"]):
            yield f"{name}: event {number} is {data['kind']}/{data['sub']} and should be {what}"
            return
        for field in sorted({*document["data"], *data["data"]}):
            if document["data"].get(field) != data["data"].get(field):
                record, right = data["data"].get(field), document["data"].get(field)
                yield f"{name}: event {number} ({what}) has {field} {record!r} and not {right!r}"
        return
    if len(expected) != len(items):
        rest = (expected if len(expected) > len(items) else items)[min(len(expected), len(items))]
        how = "is missing" if len(expected) > len(items) else "is one too many"
        yield f"{name}: event {min(len(expected), len(items)) + 1}, {rest['kind']}, {how}"


def without(events: Iterable[AgentEvent], subs: Sequence[str]) -> list[AgentEvent]:
    """Events less the progress of these subs."""
    return [event for event in events if event.kind != "progress" or event.sub not in subs]


def changed(
    stream: Stream, how: str, before: list[AgentEvent], after: list[AgentEvent]
) -> Iterator[str]:
    """What differs of two readings of a stream; an ending that counts lines may."""
    numbered = {"no_terminal_event"}
    if any(event.data.get("reason") in numbered for event in endings(before)):
        before, after = before[:-1], after[:-1]
    yield from unlike(f"{stream.name}, {how}", documents(before), documents(after))


def widened(line: bytes) -> bytes:
    """A JSON line with a new field in every object; any other as it is."""
    try:
        # What is no JSON to begin with (NaN, a number out of range) stays as it is.
        return json.dumps(_wide(json.loads(line), 0), allow_nan=False).encode()
    except ValueError:
        return line


def _wide(value: Any, level: int) -> Any:
    if isinstance(value, list):
        return [_wide(item, level + 1) for item in value]
    if isinstance(value, dict):
        document = {name: _wide(item, level + 1) for name, item in value.items()}
        return {**document, "hydra_new_field": "x" if level else {"a": [1, None]}}
    return value


def paths(value: Any, way: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """The way to every field of a document."""
    inside: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inside = list(value.items())
    elif isinstance(value, list):
        inside = list(enumerate(value[:2]))
    for name, item in inside:
        yield (*way, name)
        yield from paths(item, (*way, name))


def with_value(line: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """`line` with the field at the end of `path` replaced; the rest is shared, not copied."""
    if not path:
        return value
    document: Any = list(line) if isinstance(line, list) else dict(line)
    document[path[0]] = with_value(line[path[0]], path[1:], value)
    return document

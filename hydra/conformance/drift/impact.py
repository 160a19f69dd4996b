"""What Hydra loses when a part of a stream is not there any more: by ablation, never from a list.

The part is taken out of the older version's own streams, and the adapter reads them again. What
it then no longer tells is a loss; it is counted only where the newer version's stream of the same
situation does not tell it either, so that a field that merely moved is not held against it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from hydra.adapters.json_stream import MalformedLine, Object, decode
from hydra.conformance.drift import schemas
from hydra.conformance.drift.sides import Side, shared
from hydra.conformance.recorded import parse
from hydra.records.events import AgentEvent

Document = dict[str, object]
"""What a parsed stream tells: an aspect, in words, to what it is."""

_BY_VALUE = ("permission", "sandbox")
_UNSAID = ("notice", "unknown", "malformed")


@dataclass(frozen=True, slots=True)
class Ablation:
    """What is taken out: `apply` gives a line of the event `kind` back without the part, itself
    where it has no such part, None for no line at all."""

    kind: str
    apply: Callable[[Object], Object | None]


class Examiner:
    """Takes parts out of the older side's streams, and says what is lost by it."""

    def __init__(self, old: Side, new: Side) -> None:
        self._new = new
        self._streams = [_DecodedStream(old, name) for name in shared(old, new)]
        self._now: dict[str, Document] = {}

    def losses(self, ablation: Ablation) -> list[str]:
        """In words, over all situations that both have; [] where Hydra does not mind."""
        lost: dict[str, None] = {}
        for stream in self._streams:
            then = stream.without(ablation)
            for aspect, value in stream.document.items() if then is not None else ():
                content = then.get(aspect) if then else None
                if content != value and self._newer(stream.name).get(aspect) != value:
                    lost[_sentence(aspect, value, content)] = None
        return list(lost)

    def _newer(self, name: str) -> Document:
        if name not in self._now:
            self._now[name] = outline(parse(self._new.adapter, self._new.streams[name]))
        return self._now[name]


class _DecodedStream:
    """One of the older streams, decoded once."""

    def __init__(self, side: Side, name: str) -> None:
        self.name = name
        self._adapter, self._stream = side.adapter, side.streams[name]
        self._lines = [(line, _decoded(line)) for line in self._stream.lines]
        self._kinds = [schemas.name(document) if document else "" for _, document in self._lines]
        self.document = outline(parse(self._adapter, self._stream))

    def without(self, ablation: Ablation) -> Document | None:
        """What it tells without the part; None where it never had it."""
        if ablation.kind not in self._kinds:
            return None
        lines: list[bytes] = []
        changed = False
        for (line, document), kind in zip(self._lines, self._kinds, strict=True):
            data = ablation.apply(document) if document and kind == ablation.kind else document
            changed = changed or data is not document
            if data is document:
                lines.append(line)
            elif data is not None:
                lines.append(json.dumps(data).encode())
        return outline(parse(self._adapter, self._stream, lines)) if changed else None


def _decoded(line: bytes) -> Object | None:
    try:
        return decode(line)
    except MalformedLine:
        return None


def outline(events: list[AgentEvent]) -> Document:
    """What the events tell, so that two versions can be held against each other.

    Free texts and figures count as told or not; what Hydra decides by counts by its value.
    """
    document: Document = {}
    for event in events:
        if event.kind == "progress":
            _progress(document, event)
        elif event.kind == "usage":
            document.update({f"usage.{name}": True for name in event.data})
        elif event.kind == "message":
            document[f"messages{'/' + event.sub if event.sub else ''}"] = True
        elif event.kind == "tool_call":
            name, summary = str(event.data["name"]), str(event.data["summary"])
            _add(document, "tool calls", (bool(event.data["id"]), bool(name), summary != name))
        elif event.kind == "tool_result":
            denied = event.data.get("denied") is True
            _add(document, "tool results", (event.data["ok"], denied, bool(event.data["summary"])))
        else:
            _ending(document, event)
    return document


def _progress(document: Document, event: AgentEvent) -> None:
    if event.sub in _UNSAID:
        return
    for name, value in event.data.items():
        if name != "text":
            document[f"{event.sub}.{name}"] = value if name in _BY_VALUE else True


def _ending(document: Document, event: AgentEvent) -> None:
    document["ending"] = event.kind
    for name, value in event.data.items():
        if name == "numbers" and isinstance(value, dict):
            document.update({f"ending.numbers.{number}": True for number in value})
        elif name == "denials" and isinstance(value, list):
            document["ending.denials"] = len(value)
        else:
            free = name in ("text", "message", "turns")
            document[f"ending.{name}"] = bool(value != "") if free else value


def _add(document: Document, aspect: str, value: object) -> None:
    content = document.get(aspect)
    document[aspect] = (*content, value) if isinstance(content, tuple) else (value,)


def _sentence(aspect: str, was: object, now: object) -> str:
    if now is None:
        return f"{aspect} is unknown" if "." in aspect else f"no {aspect} are seen"
    if isinstance(was, tuple) and isinstance(now, tuple):
        if len(was) != len(now):
            return f"only {len(now)} of {len(was)} {aspect} are seen"
        return f"{aspect} are read differently"
    return f"{aspect} reads {now!r} instead of {was!r}"

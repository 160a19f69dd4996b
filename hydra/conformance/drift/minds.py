"""What Hydra loses when a part of a stream is not there any more: by ablation, never from a list.

The part is taken out of the older version's own streams, and the adapter reads them again. What
it then no longer tells is a loss; it is counted only where the newer version's stream of the same
situation does not tell it either, so that a field that merely moved is not held against it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from hydra.adapters.jsonlines import Malformed, Object, decode
from hydra.conformance.drift import schemas
from hydra.conformance.drift.sides import Side, shared
from hydra.conformance.recorded import parse
from hydra.events import AgentEvent

Told = dict[str, object]
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
        self._held = [_Held(old, name) for name in shared(old, new)]
        self._now: dict[str, Told] = {}

    def losses(self, ablation: Ablation) -> list[str]:
        """In words, over all situations that both have; [] where Hydra does not mind."""
        lost: dict[str, None] = {}
        for held in self._held:
            then = held.without(ablation)
            for aspect, value in held.told.items() if then is not None else ():
                left = then.get(aspect) if then else None
                if left != value and self._newer(held.name).get(aspect) != value:
                    lost[_sentence(aspect, value, left)] = None
        return list(lost)

    def _newer(self, name: str) -> Told:
        if name not in self._now:
            self._now[name] = told(parse(self._new.adapter, self._new.streams[name]))
        return self._now[name]


class _Held:
    """One of the older streams, decoded once."""

    def __init__(self, side: Side, name: str) -> None:
        self.name = name
        self._adapter, self._stream = side.adapter, side.streams[name]
        self._lines = [(line, _decoded(line)) for line in self._stream.lines]
        self._kinds = [schemas.name(held) if held else "" for _, held in self._lines]
        self.told = told(parse(self._adapter, self._stream))

    def without(self, ablation: Ablation) -> Told | None:
        """What it tells without the part; None where it never had it."""
        if ablation.kind not in self._kinds:
            return None
        lines: list[bytes] = []
        changed = False
        for (line, held), kind in zip(self._lines, self._kinds, strict=True):
            left = ablation.apply(held) if held and kind == ablation.kind else held
            changed = changed or left is not held
            if left is held:
                lines.append(line)
            elif left is not None:
                lines.append(json.dumps(left).encode())
        return told(parse(self._adapter, self._stream, lines)) if changed else None


def _decoded(line: bytes) -> Object | None:
    try:
        return decode(line)
    except Malformed:
        return None


def told(events: list[AgentEvent]) -> Told:
    """What the events tell, so that two versions can be held against each other.

    Free texts and figures count as told or not; what Hydra decides by counts by its value.
    """
    found: Told = {}
    for event in events:
        if event.kind == "progress":
            _progress(found, event)
        elif event.kind == "usage":
            found.update({f"usage.{name}": True for name in event.data})
        elif event.kind == "message":
            found[f"messages{'/' + event.sub if event.sub else ''}"] = True
        elif event.kind == "tool_call":
            name, summary = str(event.data["name"]), str(event.data["summary"])
            _add(found, "tool calls", (bool(event.data["id"]), bool(name), summary != name))
        elif event.kind == "tool_result":
            denied = event.data.get("denied") is True
            _add(found, "tool results", (event.data["ok"], denied, bool(event.data["summary"])))
        else:
            _ending(found, event)
    return found


def _progress(found: Told, event: AgentEvent) -> None:
    if event.sub in _UNSAID:
        return
    for name, value in event.data.items():
        if name != "text":
            found[f"{event.sub}.{name}"] = value if name in _BY_VALUE else True


def _ending(found: Told, event: AgentEvent) -> None:
    found["ending"] = event.kind
    for name, value in event.data.items():
        if name == "numbers" and isinstance(value, dict):
            found.update({f"ending.numbers.{number}": True for number in value})
        elif name == "denials" and isinstance(value, list):
            found["ending.denials"] = len(value)
        else:
            free = name in ("text", "message", "turns")
            found[f"ending.{name}"] = bool(value != "") if free else value


def _add(found: Told, aspect: str, value: object) -> None:
    held = found.get(aspect)
    found[aspect] = (*held, value) if isinstance(held, tuple) else (value,)


def _sentence(aspect: str, was: object, now: object) -> str:
    if now is None:
        return f"{aspect} is unknown" if "." in aspect else f"no {aspect} are seen"
    if isinstance(was, tuple) and isinstance(now, tuple):
        if len(was) != len(now):
            return f"only {len(now)} of {len(was)} {aspect} are seen"
        return f"{aspect} are read differently"
    return f"{aspect} reads {now!r} instead of {was!r}"

"""The closed set of events, their JSON form, and its version.

The first seven kinds come from agents (seed 004, section 2), normalized by an adapter's parser;
the others are Hydra's own life-cycle. docs/reference/events.md documents every kind and its data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import Struct, to_builtins

from hydra.errors import RecordError
from hydra.records.codec import parse, shaped
from hydra.redaction import redacted

SCHEMA = 1
"""Version of the event's JSON form. A reader refuses a newer one (exit 6)."""

_SPEECH = ("message", "tool_call", "tool_result", "usage")
AGENT_KINDS = (*_SPEECH, "progress", "completed", "failed")

SESSION_FIELDS = ("session", "model", "permission", "sandbox", "effort", "version")
"""What a `progress/session` event may tell, each a text."""


class AgentEvent(NamedTuple):  # lanes make them by the hundred thousand
    """What a parser saw, before Hydra gives it a place and a number.

    docs/reference/events.md has the data of each kind and `sub`: small and JSON-ready. Long texts
    are cut by `clip`, the raw bytes stay in the lane's file.
    """

    kind: str
    sub: str = ""
    data: Mapping[str, object] = {}

    @property
    def is_progress(self) -> bool:
        """Whether it resets the idle clock: retry notices and unknown lines do not."""
        return self.kind in _SPEECH or (self.kind, self.sub) == ("progress", "session")


class Raw(Struct, frozen=True):
    """Where an event's raw bytes lie: a file of the run's folder, offset and length in bytes."""

    file: str
    offset: int
    length: int


class Event(Struct, frozen=True, kw_only=True):
    """One fact of a run, and a line of `events.jsonl`. `seq` orders all events of a run; `wall` is
    UTC seconds since 1970, `mono` seconds since the run started, on a clock that never jumps."""

    v: int = SCHEMA
    seq: int
    wall: float
    mono: float
    run: str
    kind: str
    sub: str = ""
    source: str = "hydra"
    lane: str = ""
    attempt: int = 0
    raw: Raw | None = None
    data: Mapping[str, Any] = {}


def encode(event: Event) -> bytes:
    """One line of `events.jsonl`, newline included; always ASCII and one line: lone surrogates,
    U+2028 and control characters are escaped.

    Raises `TypeError` and `ValueError` for data that is no JSON.
    """
    document = to_builtins(event)
    document["data"] = redacted(document["data"])
    return f"{_json(document)}\n".encode("ascii")


_json = json.JSONEncoder(allow_nan=False).encode


def decode(line: bytes) -> Event:
    """One line back to an `Event`. Raises `RecordError` on damage or a newer schema."""
    try:
        document = parse(line)
        if (version := shaped(document.get("v"), int)) > SCHEMA:
            raise RecordError(
                f"this run was recorded by a newer Hydra (event schema {version}, known: {SCHEMA})",
                hint="update Hydra to read it",
            )
        return shaped(document, Event)
    except ValueError as damage:
        raise RecordError(
            f"a line of events.jsonl cannot be read: {line[:80]!r}",
            hint="what is readable is shown; the raw output of each lane is beside it",
        ) from damage


def clip(text: str, limit: int = 2000) -> str:
    """`text` cut to `limit` characters for an event's data; the whole stands in the raw file."""
    return text if len(text) <= limit else text[: limit - 1] + "\u2026"

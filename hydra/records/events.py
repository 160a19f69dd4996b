"""The closed set of events, their JSON form, and its version.

The first seven kinds come from agents (seed 004, section 2), normalized by an adapter's parser;
the others are Hydra's own life-cycle. docs/reference/events.md documents every kind and its data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import astuple

from hydra.errors import RecordError
from hydra.records.codec import parse, shaped
from hydra.redaction import redacted

SCHEMA = 1
"""Version of the event's JSON form. A reader refuses a newer one (exit 6)."""

AGENT_KINDS = (
    "message",
    "tool_call",
    "tool_result",
    "progress",
    "completed",
    "failed",
    "usage",
)

SESSION_FIELDS = ("session", "model", "permission", "sandbox", "effort", "version")
"""What a `progress/session` event may tell, each a text."""


class AgentEvent(NamedTuple):  # lanes make them by the hundred thousand
    """What a parser saw, before Hydra gives it a place and a number.

    `sub` narrows the kind; `data` is small and JSON-ready: long texts are cut by `clip`, the raw
    bytes stay in the lane's file.

    message      sub "" or "thinking"        {text}
    tool_call    sub ""                      {id, name, summary}
    tool_result  sub ""                      {id, ok, summary, denied?}
    progress     sub "session"               `SESSION_FIELDS`, those that it tells
                 sub "retry"                 {attempt?, of?, status?, retry_after?, text}
                 sub "closing"               {ok, text?}: its closing line; the ending itself comes
                                             once its process has ended
                 sub "notice" | "unknown" | "malformed"   {type?, text?, line?}
    usage        sub "" (totals so far)      {input_tokens?, output_tokens?, cached_tokens?,
                                              cost_usd?}
    completed    sub ""                      {text?, turns?, denials: [names], failed_items: int,
                                              after?: an error that it ended in all the same}
    failed       sub ""                      {error, reason, message, numbers, terminal: bool}
                                             `error` is a kind of hydra.errors.KINDS
    """

    kind: str
    sub: str = ""
    data: Mapping[str, object] = {}

    @property
    def is_progress(self) -> bool:
        """Whether it resets the idle clock: retry notices and unknown lines do not."""
        if self.kind == "progress":
            return self.sub == "session"
        return self.kind in ("message", "tool_call", "tool_result", "usage")

    @property
    def closes(self) -> bool:
        """Whether it is the agent's closing line, or its ending."""
        if self.kind == "progress":
            return self.sub == "closing"
        return self.kind == "completed" or (
            self.kind == "failed" and bool(self.data.get("terminal"))
        )

    @property
    def goes_on(self) -> bool:
        """Whether it shows that the agent is at work, whatever it has said before."""
        if self.kind == "progress":
            return self.sub in ("session", "retry")
        return self.kind in ("message", "tool_call")


class Raw(Struct, frozen=True):
    """Where an event's raw bytes lie: a file of the run's folder, offset and length in bytes."""

    file: str
    offset: int
    length: int


class Event(Struct, frozen=True, kw_only=True):
    """One fact of a run. `seq` orders all events of a run; `wall` is UTC seconds since 1970,
    `mono` seconds since the run started, on a clock that never jumps."""

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
    """One line of `events.jsonl`, newline included; always valid UTF-8 and one line.

    Raises `TypeError` and `ValueError` for data that is no JSON.
    """
    # By hand: the library makes an encoder for each call, which takes five times as long. All
    # text is quoted as ASCII, which keeps lone surrogates, U+2028 and control characters out.
    seq, wall, mono, run, kind, sub, source, lane, attempt, raw, data = astuple(event)
    data = redacted(data)
    fields = [
        f"{_quoted(key)}: {_quoted(value) if isinstance(value, str) else _json(value)}"
        for key, value in data.items()
    ]
    place = "null" if raw is None else _RAW % (_quoted(raw.file), raw.offset, raw.length)
    return (
        f'{{"v": {SCHEMA}, "seq": {seq}, "wall": {wall:.6f}, "mono": {mono:.6f}, '
        f"{_origin(run, kind, sub, source, lane, attempt)}"
        f'"raw": {place}, "data": {{{", ".join(fields)}}}}}\n'
    ).encode("ascii")


@lru_cache(maxsize=256)
def _origin(run: str, kind: str, sub: str, source: str, lane: str, attempt: int) -> str:
    return (
        f'"run": {_quoted(run)}, "kind": {_quoted(kind)}, "sub": {_quoted(sub)}, '
        f'"source": {_quoted(source)}, "lane": {_quoted(lane)}, "attempt": {attempt}, '
    )


_RAW = '{"file": %s, "offset": %d, "length": %d}'
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

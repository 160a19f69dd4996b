"""The closed set of events, their JSON form, and its version.

The first seven kinds come from agents (seed 004, section 2), normalized by an adapter's parser;
the others are Hydra's own life-cycle. docs/events.md documents every kind and its data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from hydra.errors import RecordError

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

HYDRA_KINDS: Mapping[str, str] = {
    "run_started": "the record is open: {lanes, base, base_name, confined, soft, limits}",
    "run_warning": "something a person should know of the whole run: {text}",
    "run_interrupted": "Ctrl-C or a signal: {signal, times}",
    "run_ended": "every lane has ended: {usable, seconds}",
    "lane_waiting": "the lane waits for a place: {position}",
    "lane_opening": "the lane's ground is being opened",
    "lane_opened": "the worktree stands: {worktree, seconds}",
    "lane_warning": "a difference or degradation on this lane: {text}",
    "setup_started": "a set-up command runs: {command}",
    "setup_ended": "it ended: {command, exit_code, seconds}",
    "agent_started": "the agent's process runs: {pid, argv, keeper, mark, start}",
    "agent_exited": "it ended: {code, signal, survivors, seconds}",
    "limit_warning": "half of a limit has passed without progress: {limit, seconds, of}",
    "stopping": "Hydra ends the agent: {reason, signal}",
    "parse_fallback": "the lane now reads plain text after repeated JSON failures: {failures}",
    "patch_taken": "the attempt's work is a commit: {commit, files, insertions, deletions}",
    "lane_ended": "the attempt's outcome: {status, error, seconds}",
}
"""Hydra's own kinds, with what each means and carries."""

KINDS = frozenset(AGENT_KINDS) | frozenset(HYDRA_KINDS)


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """What a parser saw, before Hydra gives it a place and a number.

    `sub` narrows the kind; `data` is small and JSON-ready: long texts are cut by `clip`, the raw
    bytes stay in the lane's file.

    message      sub "" or "thinking"        {text}
    tool_call    sub ""                      {id, name, summary}
    tool_result  sub ""                      {id, ok, summary, denied?}
    progress     sub "session"               {session, model?, permission?, sandbox?, version?}
                 sub "retry"                 {attempt?, of?, status?, retry_after?, text}
                 sub "notice" | "unknown" | "malformed"   {type?, text?}
    usage        sub "" (totals so far)      {input_tokens?, output_tokens?, cached_tokens?,
                                              cost_usd?}
    completed    sub ""                      {text?, turns?, denials: [names], failed_items: int}
    failed       sub ""                      {error, reason, message, numbers, terminal: bool}
                                             `error` is a kind of hydra.errors.KINDS
    """

    kind: str
    sub: str = ""
    data: Mapping[str, object] = field(default_factory=dict)

    @property
    def is_progress(self) -> bool:
        """Whether it resets the idle clock: retry notices and unknown lines do not."""
        if self.kind == "progress":
            return self.sub == "session"
        return self.kind in ("message", "tool_call", "tool_result", "usage")


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """Where an event's raw bytes lie: a file of the run's folder, offset and length in bytes."""

    file: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
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
    data: Mapping[str, object] = field(default_factory=dict)


def encode(event: Event) -> bytes:
    """One line of `events.jsonl`, newline included; always valid UTF-8 and one line."""
    out: dict[str, object] = {
        "v": SCHEMA,
        "seq": event.seq,
        "wall": round(event.wall, 6),
        "mono": round(event.mono, 6),
        "run": event.run,
        "kind": event.kind,
        "sub": event.sub,
        "source": event.source,
        "lane": event.lane,
        "attempt": event.attempt,
        "raw": None
        if event.raw is None
        else {"file": event.raw.file, "offset": event.raw.offset, "length": event.raw.length},
        "data": dict(event.data),
    }
    # ensure_ascii keeps lone surrogates, U+2028 and control characters out of the file.
    return json.dumps(out, ensure_ascii=True, allow_nan=False).encode() + b"\n"


def decode(line: bytes) -> Event:
    """One line back to an `Event`. Raises `RecordError` on damage or a newer schema."""
    try:
        data = json.loads(line)
        if data["v"] > SCHEMA:
            raise RecordError(
                f"this run was recorded by a newer Hydra (event schema {data['v']},"
                f" known: {SCHEMA})",
                hint="update Hydra to read it",
            )
        raw = data.get("raw")
        return Event(
            seq=data["seq"],
            wall=data["wall"],
            mono=data["mono"],
            run=data["run"],
            kind=data["kind"],
            sub=data.get("sub", ""),
            source=data.get("source", "hydra"),
            lane=data.get("lane", ""),
            attempt=data.get("attempt", 0),
            raw=None if raw is None else Raw(**raw),
            data=data.get("data", {}),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as damage:
        raise RecordError(
            f"a line of events.jsonl cannot be read: {line[:80]!r}",
            hint="what is readable is shown; the raw output of each lane is beside it",
        ) from damage


def clip(text: str, limit: int = 2000) -> str:
    """`text` cut to `limit` characters for an event's data; the whole stands in the raw file."""
    return text if len(text) <= limit else text[: limit - 1] + "\u2026"

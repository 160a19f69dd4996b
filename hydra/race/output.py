"""What an agent writes, on its way into the record: bytes first, then lines, then events.

Whole lines are redacted and kept in the lane's file, and only then parsed; an event carries the
place of its raw bytes. Nothing here raises on what an agent wrote, or grows with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from hydra.adapters.contract import Parser
from hydra.log import get_logger
from hydra.process.lines import LineBlock, LineFramer
from hydra.process.sink import RawSink
from hydra.records.events import AgentEvent, Raw, clip
from hydra.records.outcome import ExitStatus
from hydra.redaction import Redactor

_log = get_logger(__name__)

PARSE_FAILURES = 20
"""JSON failures in a row after which a lane reads plain text (seed 004, section 4.3)."""

EVENT_BYTES = 64 * 1024**2
"""Of one attempt's events, roughly, in events.jsonl; the largest real runs have a hundredth."""

STDERR_TAIL = 64 * 1024
_STDERR_LINE = 64 * 1024
_PIECE = 512 * 1024
"""Bytes of an overlong line that are redacted together: each look at them is a copy of them."""
_WAITING = 1000
"""Lines told that may wait for the end of an overlong one."""
_PLAIN = 1500
"""Bytes of plain text that become one message; an event's text ends at 2000 characters."""
_ENTRIES = 1000
_ENVELOPE = 300
"""Bytes of an event without its texts."""
_LARGE = 2000
"""An event below has no field that needs cutting."""

T = TypeVar("T")

EmitAgentEvent = Callable[[AgentEvent, Raw | None, bool], None]


@dataclass
class OutputCounts:
    """What was seen and could not be used, for the outcome's warnings."""

    malformed: int = 0
    unknown: int = 0
    oversized: int = 0
    redacted: int = 0
    unrecorded: int = 0
    """Events beyond `EVENT_BYTES`: they count, and stand in the raw file alone."""
    unwritten: int = 0


@dataclass
class OutputReader:
    """One attempt's output. `emit` gets each event, the place of its raw bytes, and whether the
    record still has room for it."""

    parser: Parser
    sink: RawSink
    stderr_sink: RawSink
    redactor: Redactor
    emit: EmitAgentEvent
    line_limit: int
    counts: OutputCounts = field(default_factory=OutputCounts)
    raw_mode: bool = False
    on_fallback: Callable[[int], None] = lambda failures: None
    batch: Callable[[], AbstractContextManager[None]] = nullcontext
    """Held around all that one piece of output brings: the record may write it at once."""
    after_line: Callable[[], None] = lambda: None
    """Called once a line has been parsed and its events are told; may not read on by itself."""

    def __post_init__(self) -> None:
        self._stdout = _RedactingStream(self.line_limit, self.redactor)
        self._stderr = _RedactingStream(_STDERR_LINE, self.redactor)
        self._parse_line = self.parser.parse_line
        self._failures_in_a_row = 0
        self._hidden = False
        self._room = EVENT_BYTES
        self._within_line = False
        self._waiting_lines: list[bytes] = []
        self._told_redacted = 0
        self.stderr_tail = b""

    def stdout(self, chunk: bytes) -> None:
        """Takes what arrived on the agent's stdout."""
        with self.batch():
            for block in self._stdout.feed(chunk):
                self._take(block)

    def feed_line(self, line: bytes) -> None:
        """Takes a whole line, without its newline, that did not come by stdout: an answer of the
        agent's own server. It stands among those of stdout, which it never tears apart."""
        if not self._within_line:
            self._take_told([line])
        elif len(self._waiting_lines) < _WAITING:
            self._waiting_lines.append(line)
        else:
            self.counts.oversized += 1

    def stderr(self, chunk: bytes) -> None:
        """Takes what arrived on the agent's stderr: kept with a limit, never parsed."""
        for block in self._stderr.feed(chunk):
            self._keep_stderr(block)

    def close(self) -> None:
        """Both streams have ended: an unterminated last line still counts. Idempotent."""
        with self.batch():
            for block in self._stdout.close():
                self._take(block)
        for block in self._stderr.close():
            self._keep_stderr(block)
        self.counts.redacted = self._stdout.redacted + self._stderr.redacted + self._told_redacted
        self.counts.unwritten = self.sink.failed + self.stderr_sink.failed

    def _take(self, block: LineBlock) -> None:
        place = self.sink.write(block.data)
        if block.oversized:
            self.counts.oversized += block.last
            self._within_line = not block.last
            if block.last:
                waiting, self._waiting_lines = self._waiting_lines, []
                self._take_told(waiting)
            return
        lines = block.data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        self._parse_all(lines, place)

    def _take_told(self, lines: list[bytes]) -> None:
        with self.batch():
            for line in lines:
                clean, redactions = self.redactor.redact(line + b"\n")
                self._told_redacted += redactions
                self._take(LineBlock(clean))

    def _parse_all(self, lines: list[bytes], place: Raw | None) -> None:
        """`place` is that of all the lines together."""
        offset, plain_start, plain = 0, 0, bytearray()

        def tell_plain() -> None:
            events = _safely(self.parser.parse_raw, bytes(plain))
            self._tell(events, _raw_slice(place, plain_start, offset - plain_start))
            plain.clear()

        for line in lines:
            aside = self.raw_mode and not line.startswith(b"{")
            if plain and (not aside or len(plain) > _PLAIN):
                tell_plain()
            if aside:
                plain_start = plain_start if plain else offset
                plain += line + b"\n"
            elif line:
                if events := self._parse(line):
                    self._tell(events, _raw_slice(place, offset, len(line) + 1))
                self.after_line()
            offset += len(line) + 1
        if plain:
            tell_plain()

    def _parse(self, line: bytes) -> list[AgentEvent]:
        events = _safely(self._parse_line, line)
        malformed = joined = False
        for event in events:
            if event.kind == "progress":
                malformed = malformed or event.sub == "malformed"
                self.counts.unknown += event.sub == "unknown"
            # A parser may put a message together from several lines, or parts of one.
            joined = joined or event.kind == "message"
        if not malformed:
            self._failures_in_a_row = 0
            # What escapes spelled in one line (an id, a session) a parser may tell with a later.
            self._hidden = self._hidden or self.redactor.may_hide(line)
            if events and (joined or self._hidden):
                return [_redacted(event, self.redactor) for event in events]
            return events
        if self.raw_mode:
            return _safely(self.parser.parse_raw, line + b"\n")
        self.counts.malformed += 1
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= PARSE_FAILURES:
            self.raw_mode = True
            _log.info("its output is read as plain text", failures=self._failures_in_a_row)
            self.on_fallback(self._failures_in_a_row)
        return events

    def _tell(self, events: list[AgentEvent], place: Raw | None) -> None:
        for event in events:
            size = _size(event)
            if size > _LARGE:
                event = bounded(event)
                size = _size(event)
            self._room -= size
            recorded = self._room > 0 or event.kind in ("completed", "failed")
            self.counts.unrecorded += not recorded
            self.emit(event, place, recorded)

    def _keep_stderr(self, block: LineBlock) -> None:
        self.stderr_sink.write(block.data)
        self.stderr_tail = (self.stderr_tail + block.data)[-STDERR_TAIL:]


class _RedactingStream:
    """A stream's lines without its secrets; a line over the limit is redacted in windows."""

    def __init__(self, limit: int, redactor: Redactor) -> None:
        self.redacted = 0
        self._framer = LineFramer(limit)
        self._redactor = redactor
        self._window = b""

    def feed(self, chunk: bytes) -> Iterator[LineBlock]:
        return map(self._redact, _pieces(self._framer.feed(chunk)))

    def close(self) -> Iterator[LineBlock]:
        return map(self._redact, _pieces(self._framer.close()))

    def _redact(self, block: LineBlock) -> LineBlock:
        data = self._window + block.data
        # What may begin a secret waits for the line's next piece.
        cut = len(data) if block.last else self._redactor.cut(data)
        self._window = data[cut:]
        clean, redactions = self._redactor.redact(data[:cut])
        self.redacted += redactions
        return LineBlock(clean, block.oversized, block.last)


def _pieces(blocks: list[LineBlock]) -> Iterator[LineBlock]:
    """The same, with the first piece of a line over the limit, which is long, in shorter ones."""
    for block in blocks:
        size = len(block.data)
        if not block.oversized or size <= _PIECE:
            yield block
            continue
        for at in range(0, size, _PIECE):
            end = at + _PIECE
            yield LineBlock(block.data[at:end], oversized=True, last=block.last and end >= size)


def ending(
    parser: Parser, exit: ExitStatus, files: Mapping[str, bytes], redactor: Redactor
) -> list[AgentEvent]:
    """What only the end tells, without secrets and cut like all the rest."""
    events = _safely(partial(parser.end, exit), files)
    # What it tells was held since a line of long ago, or stands in a file of the agent's own.
    return [bounded(_redacted(event, redactor)) for event in events]


def _redacted(event: AgentEvent, redactor: Redactor) -> AgentEvent:
    data = {key: _redact_value(value, redactor) for key, value in event.data.items()}
    return AgentEvent(event.kind, event.sub, data)


def _redact_value(value: object, redactor: Redactor) -> object:
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, list | tuple):
        return [_redact_value(item, redactor) for item in value]
    return value


def bounded(event: AgentEvent) -> AgentEvent:
    """`event` with its texts and lists cut: no field that an agent fills is longer."""
    data = {key: _bounded(value) for key, value in event.data.items()}
    return AgentEvent(event.kind, event.sub, data)


def _bounded(value: object) -> object:
    if isinstance(value, str):
        return clip(value)
    if isinstance(value, list | tuple):
        return [_bounded(item) for item in value[:_ENTRIES]]
    return value


def _size(event: AgentEvent) -> int:
    size = _ENVELOPE
    for value in event.data.values():
        if isinstance(value, str):
            size += len(value)
        elif isinstance(value, list | tuple):
            size += sum(len(item) if isinstance(item, str) else 8 for item in value)
    return size


def _raw_slice(place: Raw | None, offset: int, length: int) -> Raw | None:
    if place is None:
        return None
    return Raw(place.file, place.offset + offset, min(length, place.length - offset))


def _safely(parse: Callable[[T], list[AgentEvent]], what: T) -> list[AgentEvent]:
    try:
        return parse(what)
    except Exception as bug:
        _log.debug("the adapter failed on a line", exc_info=True)
        # An adapter's mistake costs a line, not the lane.
        text = f"the adapter failed on what the agent wrote: {type(bug).__name__}: {bug}"
        return [AgentEvent("progress", "malformed", {"text": clip(text, 500)})]

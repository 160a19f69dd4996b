"""What the stream checks come to where a CLI writes plain text, or one JSON document at its end."""

from __future__ import annotations

import json
import re
import tracemalloc
from collections.abc import Iterable, Iterator, Sequence

from hydra.conformance.contract.alike import VALUES, changed, paths, widened, with_value
from hydra.conformance.contract.sound import files_of, read, sound
from hydra.conformance.contract.subject import ContractSubject, Form, NotCheckable
from hydra.conformance.recorded import Recording, Stream, parse
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus

_LONG_LINE, _LONG_LINES = 100_000, 300
_MEMORY = 12_000_000
"""Bytes that a parser may hold of a stream which is no JSON objects."""
_MOST = 2_500


def unknown_words(subject: ContractSubject, stream: Stream) -> Iterator[str]:
    """Words that nobody knows between all lines of plain text: something that was said more."""
    mixed = [part for line in stream.lines for part in (line, b"hydra made up words")]
    seen = parse(subject.adapter, stream, mixed)
    yield from (f"{stream.name}, with unknown words: {text}" for text in sound(seen))
    before = _unsaid(parse(subject.adapter, stream))
    yield from changed(stream, "with unknown words", before, _unsaid(seen))


def _unsaid(events: Iterable[AgentEvent]) -> list[AgentEvent]:
    """Without what was said in words."""
    agent_events = (event for event in events if event.kind != "message")
    return [
        AgentEvent(e.kind, e.sub, {k: v for k, v in e.data.items() if k != "text"})
        for e in agent_events
    ]


def unknown_fields(subject: ContractSubject, stream: Stream) -> Iterator[str]:
    """A new field in every object of the one document."""
    whole = widened(b"\n".join(stream.lines))
    before, seen = parse(subject.adapter, stream), parse(subject.adapter, stream, [whole])
    yield from changed(stream, "with unknown fields", before, seen)


def bounded(subject: ContractSubject) -> Iterator[str]:
    """Fed much more than any run writes, a parser holds a few MB of it."""
    parser = subject.adapter.parser()
    tracemalloc.start()
    try:
        for number in range(_LONG_LINES):
            parser.parse_line(b"%d " % number + b"made up words " * (_LONG_LINE // 14))
        count, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    if count > _MEMORY:
        yield f"of {_LONG_LINES * _LONG_LINE // 10**6} MB of output it holds {count // 10**6} MB"


def uncounted(subject: ContractSubject) -> Iterator[str]:
    """Of plain text every line is told as said; of half a document nothing, and it is no end."""
    for line in (b"oops {", b"[]", b'{"type":"hydra_made_up_type"}', b" \t\r", b""):
        parser = subject.adapter.parser()
        seen = parser.parse_line(line)
        first = [event.sub or event.kind for event in seen]
        if "malformed" in first or (subject.form is Form.DOCUMENT and first):
            yield f"{line!r} is read as {first}"
        seen += parser.end(ExitStatus(code=0), {})
        if any(event.kind == "completed" for event in seen):
            yield f"{line!r} alone ends in completed"
        text = "\n".join(str(e.data.get("text")) for e in seen if e.kind == "message")
        if subject.form is Form.TEXT and text.strip() != line.decode().strip():
            yield f"{line!r} is said as {text!r}"


def spoiled(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """The same for what is not one object a line: every field of the documents, and of text every
    line with such a value in the place of each of its words and numbers."""
    streams = recording.streams()
    if not streams:
        raise NotCheckable("no recorded stream")
    tried = 0
    for stream in streams:
        files = files_of(subject, stream)
        for lines in _variants(subject, stream.lines):
            tried += 1
            if tried > _MOST:
                return
            seen = read(subject, lines, stream.exit, files)
            yield from (f"{stream.name}: {lines[-1][:60]!r}: {text}" for text in sound(seen))


def _variants(subject: ContractSubject, lines: Sequence[bytes]) -> Iterator[list[bytes]]:
    if subject.form is Form.DOCUMENT:
        try:
            whole = json.loads(b"\n".join(lines))
        except ValueError:
            return
        for number, path in enumerate(paths(whole, ())):
            value = VALUES[number % len(VALUES)]
            yield [json.dumps(with_value(whole, path, value)).encode()]
        return
    for number, line in enumerate(lines):
        for at, document in enumerate(re.findall(rb"[\w.$]+", line)[:12]):
            value = str(VALUES[(number + at) % len(VALUES)]).encode("utf-8", "replace")
            yield [*lines[:number], line.replace(document, value, 1)]

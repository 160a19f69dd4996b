"""Whether a parser reads what was recorded, and goes on reading it when a CLI says more, says it
again, says it in another order, or stops in the middle."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence

from hydra.conformance.contract import forms
from hydra.conformance.contract.alike import changed, unlike, widened, without
from hydra.conformance.contract.sound import endings, read, sound
from hydra.conformance.contract.subject import ContractCheck, ContractSubject, Form, NotCheckable
from hydra.conformance.recorded import Recording, Stream, documents, parse
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus

_NEW_TYPE = b'{"type":"hydra_made_up_type","subtype":"new","hydra_new":[{"a":1}],"uuid":"made-up"}'
_CUTS = 600
"""Places at which the streams of one version are cut, evenly over all that there are."""
_MANY = 10_001
"""Calls in one stream: more than a parser should hold."""
_TOTALS = ("input_tokens", "output_tokens", "cached_tokens", "cost_usd")


def _read(
    subject: ContractSubject, stream: Stream, lines: Sequence[bytes] | None = None
) -> list[AgentEvent]:
    return parse(subject.adapter, stream, lines)


def _streams(recording: Recording) -> list[Stream]:
    streams = recording.streams()
    if not streams:
        raise NotCheckable("no recorded stream")
    return streams


def approved_events(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """Each recorded run gives exactly the events that a person has read and approved. Raises
    `NotCheckable` where nobody has said of any run which those are."""
    streams = _streams(recording)
    names = [text for stream in streams for text in _unexpected(subject, stream)]
    yield from names
    if not names and all(stream.expected is None for stream in streams):
        raise NotCheckable("of no recorded run is it said which events it gives (*.expected.json)")


def _unexpected(subject: ContractSubject, stream: Stream) -> Iterator[str]:
    seen = _read(subject, stream)
    yield from (f"{stream.name}: {text}" for text in sound(seen))
    if stream.expected is not None:
        yield from unlike(stream.name, list(stream.expected), documents(seen))


def one_line_says_what_it_says(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """No ending is given that the lines did not hold: an empty stream is none that is done."""
    for code in (0, 1, None):
        seen = read(subject, [], ExitStatus(code=code), {})
        yield from (f"an empty stream: {text}" for text in sound(seen))
        if [event.kind for event in endings(seen)] != ["failed"]:
            yield f"an empty stream with exit {code} does not end in failed"
    for stream in _streams(recording):
        yield from (f"{stream.name}, said twice over: {t}" for t in _twice_ended(subject, stream))


def _twice_ended(subject: ContractSubject, stream: Stream) -> Iterator[str]:
    parser = subject.adapter.parser()
    seen = [event for line in stream.lines for event in parser.parse_line(line)]
    for _ in range(2):
        seen += parser.end(stream.exit, {"stderr": stream.stderr})
    yield from sound(seen)


def unknown(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """A type that nobody knows between all lines, and a new field in every object: nothing that
    was said before is lost or changed."""
    function = {Form.TEXT: forms.unknown_words, Form.DOCUMENT: forms.unknown_fields}.get(
        subject.form
    )
    for stream in _streams(recording):
        if function is not None:
            yield from function(subject, stream)
            continue
        before = without(_read(subject, stream), ("unknown",))
        mixed = [part for line in stream.lines for part in (line, _NEW_TYPE)]
        seen = _read(subject, stream, mixed)
        yield from (f"{stream.name}, with unknown types: {text}" for text in sound(seen))
        # Something was understood or not: an ending without a closing event counts the lines.
        yield from changed(stream, "with unknown types", before, without(seen, ("unknown",)))
        wide = [widened(line) for line in stream.lines]
        seen = without(_read(subject, stream, wide), ("unknown",))
        yield from changed(stream, "with unknown fields", before, seen)


def cut(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """A stream that stops, between lines and inside one: one ending, no exception, and of nothing
    nothing is said to be done."""
    places = [(stream, lines) for stream in _streams(recording) for lines in _cuts(stream.lines)]
    for stream, lines in places[:: 1 + len(places) // _CUTS]:
        seen = _read(subject, stream, lines)
        where = f"{stream.name}, cut after {sum(map(len, lines))} bytes"
        yield from (f"{where}: {text}" for text in sound(seen))
        unread = not any(line.strip() for line in lines)
        if unread and any(event.kind == "completed" for event in seen):
            yield f"{where}: completed, and nothing was said"


def _cuts(lines: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Before each line, and in it: after its first byte, inside a word, before its last byte,
    and inside the first character of several bytes or the first escape."""
    for number, line in enumerate(lines):
        contents = list(lines[:number])
        yield contents
        places = {1, len(line) // 2, len(line) - 1, line.find(b"\\") + 1}
        places |= {next((at for at, byte in enumerate(line) if byte > 0x7F), 0) + 1}
        for place in sorted(place for place in places if 0 < place < len(line)):
            yield [*contents, line[:place]]


def shuffled(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """The lines backwards, turned round and mixed: one ending, no exception."""
    for stream in _streams(recording):
        lines = [line for line in stream.lines if line]
        mixed = random.Random(stream.name).sample(lines, len(lines))  # noqa: S311  # no secret
        half = len(lines) // 2
        for how, order in (
            ("backwards", lines[::-1]),
            ("turned round", lines[half:] + lines[:half]),
            ("mixed", mixed),
        ):
            seen = _read(subject, stream, order)
            yield from (f"{stream.name}, {how}: {text}" for text in sound(seen))


def doubled(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """Every line twice: totals stay totals, a call is one call, and the ending is the same."""
    for stream in _streams(recording):
        before = _read(subject, stream)
        seen = _read(subject, stream, [line for line in stream.lines for _ in range(2)])
        yield from (f"{stream.name}, doubled: {text}" for text in sound(seen))
        once, twice = _totals(before), _totals(seen)
        for name in sorted(once):
            if subject.form is Form.TEXT:  # a line of text that is there twice was said twice
                break
            # Two documents where one should be may be none at all.
            none = subject.form is Form.DOCUMENT and name not in twice
            if once[name] != twice.get(name) and not none:
                yield f"{stream.name}, doubled: {name} is {twice.get(name)} and not {once[name]}"
        for kind in ("tool_call", "tool_result"):
            counts = [sum(e.kind == kind for e in events) for events in (before, seen)]
            if subject.form is Form.LINES and counts[0] != counts[1]:
                yield f"{stream.name}, doubled: {counts[1]} {kind} and not {counts[0]}"
        first, last = endings(before)[-1], endings(seen)[-1]
        fields = ("error", "reason", "denials", "failed_items")
        names = {Form.LINES: fields, Form.TEXT: fields[:2], Form.DOCUMENT: ()}[subject.form]
        for field in names:
            if first.data.get(field) != last.data.get(field):
                yield f"{stream.name}, doubled: the ending has another {field}"


def long(subject: ContractSubject) -> Iterator[str]:
    """After more calls than are worth remembering, the newest is still known: said again, it is
    not another one. A parser of text, or of one document, holds no more of it than a few MB."""
    newest = subject.newest()
    if newest is not None and subject.form is not Form.LINES:
        yield from forms.bounded(subject)
        return
    for stream in newest.streams() if newest else ():
        parser = subject.adapter.parser()
        for line in stream.lines:
            calls = [event for event in parser.parse_line(line) if event.kind == "tool_call"]
            id = str(calls[0].data.get("id")).encode() if len(calls) == 1 else b""
            if id and line.count(b'"%s"' % id) == 1:
                yield from _many(subject, stream.name, line, id)
                return
    raise NotCheckable("no recorded call of a tool")


def _many(subject: ContractSubject, name: str, line: bytes, id: bytes) -> Iterator[str]:
    parser = subject.adapter.parser()
    line = re.sub(rb'"uuid": ?"[^"]*"', b'"uuid":null', line)
    count = 0
    for number in range(_MANY):
        fresh = line.replace(b'"%s"' % id, b'"made-up-%d"' % number)
        count = sum(event.kind == "tool_call" for event in parser.parse_line(fresh))
        if not count:
            yield f"{name}: call {number + 1} of one stream is not told"
            return
    if any(event.kind == "tool_call" for event in parser.parse_line(fresh)):
        yield f"{name}: after {_MANY} calls the newest, said again, is told as another one"


def _totals(events: Iterable[AgentEvent]) -> dict[str, object]:
    """The totals that a race would show: the last that was said of each."""
    document: dict[str, object] = {}
    for event in events:
        if event.kind == "usage":
            document |= {name: event.data[name] for name in _TOTALS if name in event.data}
    return document


CHECKS = (
    ContractCheck("streams.known", versioned=approved_events),
    ContractCheck("streams.endings", versioned=one_line_says_what_it_says),
    ContractCheck("streams.unknown", versioned=unknown),
    ContractCheck("streams.cut", versioned=cut),
    ContractCheck("streams.reordered", versioned=shuffled),
    ContractCheck("streams.duplicated", versioned=doubled),
    ContractCheck("streams.long", whole=long),
)

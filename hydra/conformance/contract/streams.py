"""Whether a parser reads what was recorded, and goes on reading it when a CLI says more, says it
again, says it in another order, or stops in the middle."""

from __future__ import annotations

import json
import random
import re
import tracemalloc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from hydra.conformance.contract.subject import ContractCheck, ContractSubject, Form, NotCheckable
from hydra.conformance.recorded import Recording, Stream, documents, parse
from hydra.errors import KINDS
from hydra.records.events import AGENT_KINDS, SESSION_FIELDS, AgentEvent, Event, encode
from hydra.records.outcome import ExitStatus

_CUTS = 600
"""Places at which the streams of one version are cut, evenly over all that there are."""
_MANY = 10_001
"""Calls in one stream: more than a parser should hold."""
_MEMORY = 12_000_000
"""Bytes that a parser may hold of a stream which is no JSON objects."""
_LONG_LINE, _LONG_LINES = 100_000, 300
_TOTALS = frozenset({"input_tokens", "output_tokens", "cached_tokens", "cost_usd"})

# what holds for whatever a parser was fed

_SUBS: Mapping[str, tuple[str, ...]] = {
    "message": ("", "thinking"),
    "progress": ("session", "retry", "closing", "notice", "unknown", "malformed"),
}
_FIELDS: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    "message": {"text": (str,)},
    "tool_call": {"id": (str,), "name": (str,), "summary": (str,)},
    "tool_result": {"id": (str,), "ok": (bool,), "summary": (str,)},
    "completed": {"denials": (list, tuple), "failed_items": (int,)},
    "failed": {
        "error": (str,),
        "reason": (str,),
        "message": (str,),
        "numbers": (dict,),
        "terminal": (bool,),
    },
}


def endings(events: Iterable[AgentEvent]) -> list[AgentEvent]:
    """The closing events among them."""
    return [event for event in events if event.kind in ("completed", "failed")]


def sound(events: Sequence[AgentEvent], where: str) -> Iterator[str]:
    """What is wrong with a whole stream's events: they are of the closed set, and end once."""
    for number, event in enumerate(events):
        yield from (f"{where}: {text}" for text in _malformed(number, event))
    lines = [event.kind for event in endings(events)]
    if len(lines) != 1:
        yield f"{where}: it has {len(lines)} endings ({', '.join(lines) or 'none'}) and not one"


def _malformed(number: int, event: AgentEvent) -> Iterator[str]:
    kind, data = event.kind, event.data
    if kind not in AGENT_KINDS:
        yield f"{kind!r} is no kind of event"
    elif event.sub not in _SUBS.get(kind, ("",)):
        yield f"event {kind} has an unknown sub {event.sub!r}"
    for field, kinds in _FIELDS.get(kind, {}).items():
        if not isinstance(data.get(field), kinds):
            yield f"event {kind} has {field} {data.get(field)!r}"
    for name, fields in (("usage", _TOTALS), ("session", frozenset(SESSION_FIELDS))):
        if name in (kind, event.sub) and not fields.issuperset(data):
            yield f"event {name} has {', '.join(sorted(set(data) - fields))}"
    if kind == "failed" and data.get("error") not in KINDS:
        yield f"event failed has error {data.get('error')!r}, which is no kind of error"
    if kind == "failed" and data.get("terminal") is not True:
        yield "event failed is not said to be terminal"
    try:
        encode(Event(seq=number, wall=0, mono=0, run="r", kind=kind, sub=event.sub, data=data))
    except (TypeError, ValueError, RecursionError) as error:
        yield f"event {kind} cannot be recorded: {error}"


def _survives(subject: ContractSubject, stream: Stream, how: str) -> Iterator[str]:
    """One ending, no exception, and of nothing nothing is said to be done."""
    events = parse(subject.adapter, stream)
    yield from sound(events, how)
    unread = not any(line.strip() for line in stream.lines)
    if unread and any(event.kind == "completed" for event in events):
        yield f"{how}: completed, and nothing was said"


# two readings of a stream held against each other


def _unlike(name: str, expected: list[Any], items: list[Any]) -> Iterator[str]:
    """Where two lists of events part first, by the event's place and field."""
    for number, (right, data) in enumerate(zip(expected, items, strict=False), 1):
        if right == data:
            continue
        what = "/".join(part for part in (right["kind"], right["sub"]) if part)
        if (right["kind"], right["sub"]) != (data["kind"], data["sub"]):
            yield f"{name}: event {number} is {data['kind']}/{data['sub']} and should be {what}"
            return
        for field in sorted({*right["data"], *data["data"]}):
            has, due = data["data"].get(field), right["data"].get(field)
            if has != due:
                yield f"{name}: event {number} ({what}) has {field} {has!r} and not {due!r}"
        return
    if len(expected) != len(items):
        shared = min(len(expected), len(items))
        rest = (expected if len(expected) > len(items) else items)[shared]
        how = "is missing" if len(expected) > len(items) else "is one too many"
        yield f"{name}: event {shared + 1}, {rest['kind']}, {how}"


def recorded_streams(recording: Recording) -> list[Stream]:
    """A version's runs. Raises `NotCheckable` where there is none."""
    streams = recording.streams()
    if not streams:
        raise NotCheckable("no recorded stream")
    return streams


def approved_events(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """Each recorded run gives exactly the events that a person has read and approved. Raises
    `NotCheckable` where nobody has said of any run which those are."""
    streams = recorded_streams(recording)
    texts: list[str] = []
    for stream in streams:
        events = parse(subject.adapter, stream)
        texts += sound(events, stream.name)
        if stream.expected is not None:
            texts += _unlike(stream.name, list(stream.expected), documents(events))
    yield from texts
    if not texts and all(stream.expected is None for stream in streams):
        raise NotCheckable("of no recorded run is it said which events it gives (*.expected.json)")


def one_line_says_what_it_says(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """No ending is given that the lines did not hold: an empty stream is none that is done."""
    for code in (0, 1, None):
        events = subject.adapter.parser().end(ExitStatus(code=code), {})
        yield from sound(events, "an empty stream")
        if [event.kind for event in endings(events)] != ["failed"]:
            yield f"an empty stream with exit {code} does not end in failed"
    for stream in recorded_streams(recording):
        parser = subject.adapter.parser()
        events = [event for line in stream.lines for event in parser.parse_line(line)]
        for _ in range(2):
            events += parser.end(stream.exit, {"stderr": stream.stderr})
        yield from sound(events, f"{stream.name}, said twice over")


def unknown(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """Words or a type that nobody knows between all lines, and a new field in every object: nothing
    that was said before is lost or changed."""
    for stream in recorded_streams(recording):
        before = _rest(subject, parse(subject.adapter, stream))
        for how, lines in _with_unknown(subject.form, stream.lines):
            events = parse(subject.adapter, stream, lines)
            yield from sound(events, f"{stream.name}, {how}")
            first, then = before, _rest(subject, events)
            # Something was understood or not: an ending without a closing event counts the lines.
            if any(e.data.get("reason") == "no_terminal_event" for e in endings(first)):
                first, then = first[:-1], then[:-1]
            yield from _unlike(f"{stream.name}, {how}", documents(first), documents(then))


def _with_unknown(form: Form, lines: Sequence[bytes]) -> Iterator[tuple[str, list[bytes]]]:
    if form is Form.DOCUMENT:
        yield "with unknown fields", [_widened(b"\n".join(lines))]
        return
    what, line = ("types", _NEW_TYPE) if form is Form.LINES else ("words", b"hydra made up words")
    yield f"with unknown {what}", [part for plain in lines for part in (plain, line)]
    if form is Form.LINES:
        yield "with unknown fields", [_widened(line) for line in lines]


_NEW_TYPE = b'{"type":"hydra_made_up_type","subtype":"new","hydra_new":[{"a":1}],"uuid":"made-up"}'


def _rest(subject: ContractSubject, events: Iterable[AgentEvent]) -> list[AgentEvent]:
    """Without what is unknown; of plain text without what was said in words."""
    if subject.form is not Form.TEXT:
        return [event for event in events if event.sub != "unknown"]
    return [
        AgentEvent(e.kind, e.sub, {name: v for name, v in e.data.items() if name != "text"})
        for e in events
        if e.kind != "message"
    ]


def _widened(line: bytes) -> bytes:
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


def cut(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """A stream that stops, between lines and inside one."""
    places = [
        (stream, lines) for stream in recorded_streams(recording) for lines in _cuts(stream.lines)
    ]
    for stream, lines in places[:: 1 + len(places) // _CUTS]:
        where = f"{stream.name}, cut after {sum(map(len, lines))} bytes"
        yield from _survives(subject, replace(stream, lines=lines), where)


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
    """The lines backwards, turned round and mixed."""
    for stream in recorded_streams(recording):
        lines = [line for line in stream.lines if line]
        mixed = random.Random(stream.name).sample(lines, len(lines))  # noqa: S311  # no secret
        half = len(lines) // 2
        for how, order in (
            ("backwards", lines[::-1]),
            ("turned round", lines[half:] + lines[:half]),
            ("mixed", mixed),
        ):
            yield from _survives(subject, replace(stream, lines=order), f"{stream.name}, {how}")


_STAYS = {
    Form.LINES: ("error", "reason", "denials", "failed_items"),
    Form.TEXT: ("error", "reason"),
    Form.DOCUMENT: (),
}
"""What an ending says as before though every line was there twice."""


def doubled(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """Every line twice: totals stay totals, a call is one call, and the ending is the same."""
    form = subject.form
    for stream in recorded_streams(recording):
        where = f"{stream.name}, doubled"
        before = parse(subject.adapter, stream)
        after = parse(subject.adapter, stream, [line for line in stream.lines for _ in range(2)])
        yield from sound(after, where)
        once, twice = _totals(before), _totals(after)
        # A line of text that is there twice was said twice; two documents may be none at all.
        for name in sorted(once) if form is not Form.TEXT else ():
            if once[name] != twice.get(name) and not (form is Form.DOCUMENT and name not in twice):
                yield f"{where}: {name} is {twice.get(name)} and not {once[name]}"
        for kind in ("tool_call", "tool_result") if form is Form.LINES else ():
            counts = [sum(event.kind == kind for event in events) for events in (before, after)]
            if counts[0] != counts[1]:
                yield f"{where}: {counts[1]} {kind} and not {counts[0]}"
        first, last = endings(before)[-1], endings(after)[-1]
        for field in _STAYS[form]:
            if first.data.get(field) != last.data.get(field):
                yield f"{where}: the ending has another {field}"


def _totals(events: Iterable[AgentEvent]) -> dict[str, object]:
    """The totals that a race would show: the last that was said of each."""
    totals: dict[str, object] = {}
    for event in events:
        if event.kind == "usage":
            totals |= {name: event.data[name] for name in _TOTALS if name in event.data}
    return totals


def long(subject: ContractSubject) -> Iterator[str]:
    """After more calls than are worth remembering, the newest is still known: said again, it is
    not another one. A parser of text, or of one document, holds no more of it than a few MB."""
    newest = subject.newest()
    if newest is not None and subject.form is not Form.LINES:
        yield from _bounded(subject)
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
    for number in range(_MANY):
        fresh = line.replace(b'"%s"' % id, b'"made-up-%d"' % number)
        if not any(event.kind == "tool_call" for event in parser.parse_line(fresh)):
            yield f"{name}: call {number + 1} of one stream is not told"
            return
    if any(event.kind == "tool_call" for event in parser.parse_line(fresh)):
        yield f"{name}: after {_MANY} calls the newest, said again, is told as another one"


def _bounded(subject: ContractSubject) -> Iterator[str]:
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


CHECKS = (
    ContractCheck("streams.known", versioned=approved_events),
    ContractCheck("streams.endings", versioned=one_line_says_what_it_says),
    ContractCheck("streams.unknown", versioned=unknown),
    ContractCheck("streams.cut", versioned=cut),
    ContractCheck("streams.reordered", versioned=shuffled),
    ContractCheck("streams.duplicated", versioned=doubled),
    ContractCheck("streams.long", whole=long),
)

"""Whether a parser survives what no CLI should write: it never raises, and ends once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from hydra.conformance.contract.streams import recorded_streams, sound
from hydra.conformance.contract.subject import ContractCheck, ContractSubject, Form
from hydra.conformance.recorded import Recording, Stream, parse
from hydra.records.outcome import ExitStatus

_MB = 1_000_000
_MOST = 2_500
"""Fields of one version's streams that are spoiled, evenly over all that there are."""

_EXITS = (ExitStatus(code=0), ExitStatus(code=1), ExitStatus(signal=9), ExitStatus())

_ANSI = "\x1b[2J\x1b]0;title\x07\x1b[31m\u202e\u2028\x00\x7f"

HOSTILE = {
    "nothing": b"",
    "NULs": b"\x00" * 40,
    "a NUL in a line": b'{"type":"a\x00b"}',
    "bytes that are no UTF-8": b'{"type":"\xff\xfe\xc3("}',
    "a BOM": b"\xef\xbb\xbf",
    "a line of 1 MB": b'{"type":"' + b"x" * _MB + b'"}',
    "1 MB that is no JSON": b"x" * _MB,
    "10,000 lists, one in another": b'{"type":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "10,000 objects, one in another": b'{"type":' * 10_000 + b"1" + b"}" * 10_000,
    "a number of 5,000 digits": b'{"type":' + b"9" * 5_000 + b"}",
    "a number out of range": b'{"type":1e999,"num_turns":-1e999}',
    "NaN": b'{"type":NaN,"a":Infinity}',
    "a lone surrogate": b'{"type":"\\ud800","message":"\\udfff\\ud800"}',
    "ANSI": json.dumps({"type": _ANSI}).encode(),
    "a list": b"[1, 2]",
    "a text": b'"type"',
    "null": b"null",
    "half an object": b'{"type":"res',
    "two objects": b'{"type":"a"}{"type":"b"}',
    "a name twice": b'{"type":"a","type":{"b":1}}',
    "an empty object": b"{}",
    "HTML": b"<html><body>502 Bad Gateway</body></html>",
}
"""Lines by what is wrong with them."""

_VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**25,
    1.5e300,
    "",
    "\ud800" + _ANSI,
    "x" * 5_000,
    [],
    [None, [[]], {"type": []}],
    {},
    {"type": []},
    {"type": {"type": None}},
)
"""What is put into every field of every known line."""


def lines(subject: ContractSubject) -> Iterator[str]:
    """Each by itself and in the middle of a recorded run: with every way to end."""
    newest = subject.newest()
    whole = newest.streams()[:1] if newest else []
    around = whole[0].lines if whole else []
    half = len(around) // 2
    for name, line in HOSTILE.items():
        for contents in ([line], [*around[:half], line, *around[half:]]):
            for exit in _EXITS if len(line) < _MB else _EXITS[:1]:
                stream = Stream(name=name, lines=contents, exit=exit, stderr=line[:4_000])
                yield from sound(parse(subject.adapter, stream), name)


class _Place(NamedTuple):
    """A field of a stream, or a word of its text: the way to it, and the lines around."""

    stream: Stream
    before: Sequence[bytes]
    value: Any
    path: tuple[str | int, ...]
    after: Sequence[bytes]


def every_field(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """Known lines in which one field, at any depth, holds a value that it never should; of text
    each word."""
    text = subject.form is Form.TEXT
    places = list((_text_terms if text else _document_fields)(subject, recorded_streams(recording)))
    least = 1 if subject.form is Form.LINES else len(_VALUES)  # one value where each is a whole run
    step = max(least, len(places) * len(_VALUES) // _MOST)
    for number, place in enumerate(places):
        values = [value for at, value in enumerate(_VALUES) if not (number + at) % step]
        spoiled = [_with_value(place.value, place.path, value) for value in values]
        shown = ["".join(map(str, item)) if text else json.dumps(item) for item in spoiled]
        lines = [line.encode("utf-8", "replace") for line in shown]
        # One document, or one line of text, stands alone; lines of JSON come one after the other.
        for group in (
            [lines] * bool(lines) if subject.form is Form.LINES else [[line] for line in lines]
        ):
            where = f"{place.stream.name}: {'.'.join(map(str, place.path))}: {group[:1]!r:.80}"
            stream = replace(place.stream, lines=[*place.before, *group, *place.after])
            yield from _raised(subject, stream, where)


def _raised(subject: ContractSubject, stream: Stream, where: str) -> Iterator[str]:
    try:
        yield from sound(parse(subject.adapter, stream), where)
    except Exception as error:
        yield f"{where}: raises {type(error).__name__}: {error}"


def _document_fields(subject: ContractSubject, streams: Sequence[Stream]) -> Iterator[_Place]:
    """Each field of each kind of line, once; of one document every one. A line that was spoiled is
    said again as it was."""
    whole, seen = subject.form is Form.DOCUMENT, set()
    for stream in streams:
        for raw in [b"\n".join(stream.lines)] if whole else stream.lines:
            try:
                line = json.loads(raw)
            except ValueError:
                continue
            if not whole and not isinstance(line, dict):
                continue
            kind = () if whole else (str(line.get("type")), str(line.get("subtype")))
            for path in _paths(line, ()):
                shape = (kind, tuple(part for part in path if isinstance(part, str)))
                if whole or shape not in seen:
                    seen.add(shape)
                    yield _Place(stream, (), line, path, () if whole else (raw,))


def _text_terms(_: ContractSubject, streams: Sequence[Stream]) -> Iterator[_Place]:
    for stream in streams:
        for number, line in enumerate(stream.lines):
            pieces = re.split(r"([\w.$]+)", line.decode("utf-8", "replace"))
            before, after = stream.lines[:number], stream.lines[number + 1 :]
            for at in range(1, min(len(pieces), 24), 2):
                yield _Place(stream, before, pieces, (at,), after)


def _paths(value: Any, way: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    """The way to every field of a document."""
    inside: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        inside = list(value.items())
    elif isinstance(value, list):
        inside = list(enumerate(value[:2]))
    for name, item in inside:
        yield (*way, name)
        yield from _paths(item, (*way, name))


def _with_value(line: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """`line` with the field at the end of `path` replaced; the rest is shared, not copied."""
    if not path:
        return value
    document: Any = list(line) if isinstance(line, list) else dict(line)
    document[path[0]] = _with_value(line[path[0]], path[1:], value)
    return document


def plain_text(subject: ContractSubject) -> Iterator[str]:
    """Once JSON was given up: any bytes, in any pieces, whole characters put together again."""
    parser = subject.adapter.parser()
    events = []
    for chunk in (b"caf\xc3", b"\xa9\n", b"", b"\xff\xfe\x00", b"x" * _MB, _ANSI.encode()):
        events += parser.parse_raw(chunk)
    text = "".join(str(event.data.get("text", "")) for event in events)
    if not text.startswith("caf\u00e9"):
        yield "parse_raw: a character in two pieces is not put together"
    events += parser.end(ExitStatus(code=0), {})
    yield from sound(events, "parse_raw")
    if any(event.kind == "completed" for event in events):
        yield "parse_raw: plain text ends in completed"


_COUNTED: Mapping[bytes, tuple[str, ...]] = {
    b"oops {": ("malformed",),
    b"[]": ("malformed",),
    b" \t\r": (),
    b"": (),
    b'{"type":"hydra_made_up_type"}': ("unknown",),
    b"{}": ("unknown",),
    b'{"type":["result"]}': ("unknown",),
}
"""As what each line has to be told of a stream of JSON objects."""


def counted(subject: ContractSubject) -> Iterator[str]:
    """A line that is no JSON is told as malformed, a blank one as nothing, and one of a new type
    as unknown: Hydra counts them, and falls back to plain text by the first. Of plain text all is
    told as said; of one document nothing is told before its end, and half of one is no success."""
    for line, due in _COUNTED.items():
        parser = subject.adapter.parser()
        events = parser.parse_line(line)
        read_as = tuple(event.sub or event.kind for event in events)
        if subject.form is Form.LINES:
            if read_as != due or any(event.kind != "progress" for event in events):
                yield f"{line!r} is read as {read_as or 'nothing'}, not as {due or 'nothing'}"
            continue
        if "malformed" in read_as or (subject.form is Form.DOCUMENT and read_as):
            yield f"{line!r} is read as {read_as}"
        events += parser.end(ExitStatus(code=0), {})
        if any(event.kind == "completed" for event in events):
            yield f"{line!r} alone ends in completed"
        text = "\n".join(str(e.data.get("text")) for e in events if e.kind == "message")
        if subject.form is Form.TEXT and text.strip() != line.decode().strip():
            yield f"{line!r} is said as {text!r}"


CHECKS = (
    ContractCheck("hostile.lines", whole=lines),
    ContractCheck("hostile.every_field", versioned=every_field),
    ContractCheck("hostile.plain_text", whole=plain_text),
    ContractCheck("hostile.counted", whole=counted),
)

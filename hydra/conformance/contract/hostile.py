"""Whether a parser survives what no CLI should write: it never raises, and ends once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hydra.conformance.contract import forms
from hydra.conformance.contract.alike import ANSI, VALUES, paths, with_value
from hydra.conformance.contract.sound import malformed, read, sound
from hydra.conformance.contract.subject import ContractCheck, ContractSubject, Form, NotCheckable
from hydra.conformance.recorded import Recording
from hydra.records.outcome import ExitStatus

_MB = 1_000_000

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
    "ANSI": json.dumps({"type": ANSI}).encode(),
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


_MOST = 2_500
_EXITS = (ExitStatus(code=0), ExitStatus(code=1), ExitStatus(signal=9), ExitStatus())


def lines(subject: ContractSubject) -> Iterator[str]:
    """Each by itself and in the middle of a recorded run: with every way to end."""
    newest = subject.newest()
    whole = newest.streams()[:1] if newest else []
    around = whole[0].lines if whole else []
    half = len(around) // 2
    for name, line in HOSTILE.items():
        for contents in ([line], [*around[:half], line, *around[half:]]):
            for exit in _EXITS if len(line) < _MB else _EXITS[:1]:
                files = {"stderr": line[:4_000]}
                yield from (f"{name}: {t}" for t in sound(read(subject, contents, exit, files)))


def every_field(subject: ContractSubject, recording: Recording) -> Iterator[str]:
    """Known lines in which one field, at any depth, holds a value that it never should."""
    if subject.form is not Form.LINES:
        yield from forms.spoiled(subject, recording)
        return
    shapes = list(_shapes(recording))
    if not shapes:
        raise NotCheckable("no recorded stream")
    step = max(1, len(shapes) * len(VALUES) // _MOST)
    parser = subject.adapter.parser()
    spoiled = (
        (path, value, line)
        for number, (line, path) in enumerate(shapes)
        for at, value in enumerate(VALUES)
        if (number + at) % step == 0
    )
    for path, value, line in spoiled:
        data = json.dumps(with_value(line, path, value)).encode()
        try:
            wrong = list(malformed(parser.parse_line(data)))
        except Exception as error:
            wrong = [f"raises {type(error).__name__}: {error}"]
        place = ".".join(map(str, path))
        yield from (f"{line.get('type')}: {place} is {_short(value)}: {text}" for text in wrong)
    parser.end(ExitStatus(code=0), {"stderr": b""})
    for line, path in shapes[:: max(1, len(shapes) // 200)]:
        data = json.dumps(with_value(line, path, {"type": []})).encode()
        seen = read(subject, [data], ExitStatus(code=0), {"stderr": b""})
        yield from (f"{line.get('type')}: {'.'.join(map(str, path))}: {t}" for t in sound(seen))


def _shapes(recording: Recording) -> Iterator[tuple[dict[str, Any], tuple[str | int, ...]]]:
    """Each field of each kind of line, once: the line, and the way to the field."""
    seen = set()
    for stream in recording.streams():
        for raw in stream.lines:
            try:
                line = json.loads(raw)
            except ValueError:
                continue
            if not isinstance(line, dict):
                continue
            kind = (str(line.get("type")), str(line.get("subtype")))
            for path in paths(line, ()):
                shape = (kind, tuple(part for part in path if isinstance(part, str)))
                if shape not in seen:
                    seen.add(shape)
                    yield line, path


def plain_text(subject: ContractSubject) -> Iterator[str]:
    """Once JSON was given up: any bytes, in any pieces, whole characters put together again."""
    parser = subject.adapter.parser()
    seen = []
    for chunk in (b"caf\xc3", b"\xa9\n", b"", b"\xff\xfe\x00", b"x" * _MB, ANSI.encode()):
        seen += parser.parse_raw(chunk)
    text = "".join(str(event.data.get("text", "")) for event in seen)
    if not text.startswith("caf\u00e9"):
        yield "parse_raw: a character in two pieces is not put together"
    seen += parser.end(ExitStatus(code=0), {})
    yield from (f"parse_raw: {text}" for text in sound(seen))
    if any(event.kind == "completed" for event in seen):
        yield "parse_raw: plain text ends in completed"


def counted(subject: ContractSubject) -> Iterator[str]:
    """A line that is no JSON is told as malformed, a blank one as nothing, and one of a new type
    as unknown: Hydra counts them, and falls back to plain text by the first. Of plain text all is
    told as said; of one document nothing is told before its end, and half of one is no success."""
    if subject.form is not Form.LINES:
        yield from forms.uncounted(subject)
        return
    for name, line, subs in (
        ("no JSON", b"oops {", ["malformed"]),
        ("a list", b"[]", ["malformed"]),
        ("a blank line", b" \t\r", []),
        ("an empty line", b"", []),
        ("a new type", b'{"type":"hydra_made_up_type"}', ["unknown"]),
        ("no type", b"{}", ["unknown"]),
        ("a type that is no text", b'{"type":["result"]}', ["unknown"]),
    ):
        seen = subject.adapter.parser().parse_line(line)
        texts = [event.sub for event in seen]
        if texts != subs or any(event.kind != "progress" for event in seen):
            yield f"{name} is read as {texts or 'nothing'}, not as {subs or 'nothing'}"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) < 40 else f"{text[:36]}..."


CHECKS = (
    ContractCheck("hostile.lines", whole=lines),
    ContractCheck("hostile.every_field", versioned=every_field),
    ContractCheck("hostile.plain_text", whole=plain_text),
    ContractCheck("hostile.counted", whole=counted),
)

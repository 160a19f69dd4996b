"""What can be done to the bytes of one line. Each draws from the `Random` that it is given."""

from __future__ import annotations

import json
import re
from random import Random

from tests.support.stream_corpus import complaints

SECRETS = ("made-up-secret-value-7Q", 'pa/ss "w\u00f6rd"+=\\1234')
"""Planted into some of the lines: never to be seen again."""

BYTES = (
    *(b"\x00", b"\x1b[2J", b"\x1b]0;owned\x07", b"\x1b]52;c;cm0=\x1b\\", b"\x1b", b"\x07", b"\x7f"),
    *(b"\x9b2J", b"\xc2\x9b2J", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9", b"\xe2\x80\xae"),
    *(b"\xe2\x81\xa6", b"\xe2\x80\x8b", b"\xef\xbb\xbf", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\r"),
    *(b"\r\n", b"\t", b"\\", b'"', b"{", b"}", b"[", b",", b"\\u0000", b"\\ud800", b"\\u202e"),
    *(b"\\u001b]52;c;cm0=\\u0007", b"\\u009b2J", b"\\u2028", b"\xf3\xa0\x81\x81", b"\xcc\x81" * 9),
)
"""What is put between bytes: controls of every family, raw and as JSON spells them."""


def flip(rng: Random, line: bytes) -> bytes:
    """One bit of it."""
    at = rng.randrange(len(line)) if line else 0
    return line[:at] + bytes([line[at] ^ 1 << rng.randrange(8)]) + line[at + 1 :] if line else line


def cut(rng: Random, line: bytes) -> bytes:
    """Its beginning, its end, or all but a part of it."""
    start, stop = sorted((rng.randrange(len(line) + 1), rng.randrange(len(line) + 1)))
    return rng.choice((line[:start], line[start:], line[:start] + line[stop:]))


def insert(rng: Random, line: bytes) -> bytes:
    """Some of `BYTES` at any place."""
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(line) + 1)
        line = line[:at] + rng.choice(BYTES) + line[at:]
    return line


def around(rng: Random, line: bytes) -> bytes:
    """Some of `BYTES` before it or behind it."""
    more = rng.choice(BYTES) * rng.randrange(1, 3)
    return more + line if rng.random() < 0.5 else line + more


def split(rng: Random, line: bytes) -> bytes:
    """In two, by a CR or by a newline."""
    at = rng.randrange(len(line) + 1)
    return line[:at] + rng.choice((b"\r", b"\r\n", b"\n", b"\n\n")) + line[at:]


def junk(rng: Random, line: bytes) -> bytes:
    """Nothing of it: random bytes, a log line, JSON that is no object, or nothing."""
    size = rng.randrange(60)
    plain = (b"", b"[]", b"null", b'"x"', b"{}", b"{", b"WARN: retrying", rng.choice(complaints()))
    return rng.randbytes(size) if rng.random() < 0.3 else rng.choice(plain)


def secret(rng: Random, line: bytes) -> bytes:
    """A secret at any place, as it is or as a CLI would spell it."""
    value = rng.choice(SECRETS)
    spelled = rng.choice(
        (
            value.encode(),
            json.dumps(value)[1:-1].encode(),
            json.dumps(value, ensure_ascii=False)[1:-1].encode(),
            "".join(f"\\u{ord(name):04x}" for name in value).encode(),
            json.dumps(json.dumps(value))[3:-3].encode(),
        )
    )
    places = [match.end() for match in re.finditer(rb'":\s*"', line)] or [0]
    for at in sorted(rng.sample(places, min(len(places), rng.choice((1, 4, 8)))), reverse=True):
        line = line[:at] + spelled + line[at:]
    return line


BY_BYTES = (flip, cut, insert, around, split, junk, secret)

"""One JSON line from a program that cannot be trusted to write it well."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra.adapters.json_fields import (
    DEPTH,
    MalformedLine,
    decode,
    integer,
    number,
    objects,
    string,
)

TOLERATED = (
    (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
    (b'\x00\x00{"a":1}\x00\r', {"a": 1}),
    (b'{"a":"x\x00y"}', {"a": "x\x00y"}),
    (b'{"a":"\xff"}', {"a": "\ufffd"}),
    (b'{"a":"\xe2\x80\xa8"}', {"a": "\u2028"}),
    (b'{"a":"\\ud800 x","\\udfff":["\\uD83D"]}', {"a": "\ufffd x", "\ufffd": ["\ufffd"]}),
    (b'{"a":"\\ud83d\\ude00"}', {"a": "\U0001f600"}),
    (b"", None),
    (b" \r\x00", None),
)
REFUSED = (
    *(b"plain text", b"[1]", b'"x"', b'{"a":', b'{"a":1} trailing', b'{"a":NaN}', b'{"a":1e999}'),
    *(b'{"a":-Infinity}', b'{"a":' + b"9" * 31 + b"}", b'{"a":' + b"9" * 5000 + b"}"),
    *(b'{"a":' + b"[" * 100_000, b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    b'{"a":' * (DEPTH + 1) + b"1" + b"}" * (DEPTH + 1),
)


def test_what_is_tolerated() -> None:
    for line, expected in TOLERATED:
        assert decode(line) == expected


@pytest.mark.parametrize("line", REFUSED, ids=lambda line: line[:20])
def test_what_is_refused(line: bytes) -> None:
    with pytest.raises(MalformedLine):
        decode(line)


def test_depth_counts_levels_and_not_brackets() -> None:
    assert decode(json.dumps({"a": [[1]] * 500}).encode()) == {"a": [[1]] * 500}
    assert decode(b'{"a":' * DEPTH + b"1" + b"}" * DEPTH) is not None


@given(st.binary(max_size=200))
def test_nothing_else_is_ever_raised(line: bytes) -> None:
    with contextlib.suppress(MalformedLine):
        decode(line)


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.none()))
def test_honest_lines_come_back_as_they_were(value: dict[str, object]) -> None:
    if all(not isinstance(item, int) or abs(item) < 10**29 for item in value.values()):
        assert decode(json.dumps(value).encode()) == value


def test_access_never_trusts_a_type() -> None:
    holder = {"s": 1, "n": "1", "b": True, "l": [{"x": 1}, 2, "y"], "f": 1.5}
    assert string(holder, "s") == ""
    assert [integer(holder, name) for name in "nbf"] == [None] * 3
    assert [number(holder, name) for name in "fb"] == [1.5, None]
    assert [objects(holder, name) for name in "ls"] == [[{"x": 1}], []]


def test_a_line_of_nothing_but_brackets_is_refused_before_it_is_built() -> None:
    with pytest.raises(MalformedLine, match="brackets in one line"):
        decode(b'{"a":[' + b"[]," * 600_000 + b"[]]}")
    large = {"file": "if (x) { y[1] = {}; }\n" * 50_000}
    assert decode(json.dumps(large).encode()) == large

"""A check's output as lines: without colours and carriage returns, bounded, in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator

WIDTH = 4096
"""Bytes of a line that a test runner's own words are looked for in; a longer line is none."""

INDENT = 128
"""Blanks before a nested test's line; deeper ones are not looked at."""

LINES = 1_000_000
"""Lines that are looked at: half of them from the front, half from the end."""

_CHUNK = 1 << 16
# Each part stops at the next escape, so no input makes it quadratic.
_SEQUENCE = re.compile(
    rb"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]"
    rb"|\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)"
    rb"|[ -/]{0,8}[0-Z\\^-~])"
)


def cleaned(output: bytes) -> bytes:
    """`output` without escape sequences; a carriage return ends a line as a newline does."""
    if b"\x1b" in output:
        output = _SEQUENCE.sub(b"", output)
    if b"\r" in output:
        output = output.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return output.replace(b"\x00", b"") if b"\x00" in output else output


def shortened(output: bytes) -> tuple[bytes, int]:
    """`output` with at most about `LINES` lines, and how many were left out of its middle."""
    count = output.count(b"\n")
    if count <= LINES:
        return output, 0
    front = _place(output, LINES // 2)
    back = max(front, _place(output, count - LINES // 2) - _CHUNK)
    gap = output.count(b"\n", front, back)
    return output[:front] + b"\n" + output[back:], gap


def _place(output: bytes, lines: int) -> int:
    """Where about `lines` lines have gone by."""
    at = seen = 0
    while at < len(output) and seen < lines:
        seen += output.count(b"\n", at, at + _CHUNK)
        at += _CHUNK
    return min(at, len(output))


def each_line(output: bytes) -> Iterator[str]:
    """The lines of `output` that are not too long; bytes that are not UTF-8 are replaced."""
    at = 0
    while at < len(output):
        end = output.find(b"\n", min(at + _CHUNK, len(output)))
        end = len(output) if end < 0 else end
        for line in output[at:end].split(b"\n"):
            if len(line) <= WIDTH:
                yield line.decode("utf-8", "replace")
        at = end + 1

"""The two lines of a failing check that tell most, of all that it printed."""

from __future__ import annotations

import re

MOST = 2
_WIDTH = 200
_ENDS = 256 * 1024
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")

_STRONG = (
    re.compile(r"^E\s+(?=\S)(?!\+)"),  # pytest: the error itself
    re.compile(r"^(?:FAILED|ERROR) \S+\.py\b|^(?:FAIL|ERROR): \w+ \("),
    re.compile(r"^(?:\w+\.)*(?:\w*Error|\w*Exception|SystemExit|KeyboardInterrupt)\b: ?"),
    re.compile(r"^error(?:\[\w+\])?: "),  # rustc, uv
    re.compile(r"^thread '.*' panicked|^\s*(?:left|right): "),
    re.compile(r"^\s*--- FAIL: "),
    re.compile(r"^\s+\w+_test\.go:\d+: "),
    re.compile(r"^npm (?:ERR!|error) (?!A complete log|code |path |errno)"),
    re.compile(r"^\s*(?:AssertionError|Error|TypeError|ReferenceError)\b.*: "),
    re.compile(r"^not ok \d+|^\s*(?:\u2715|\u2716|\u00d7) "),
    re.compile(r"not found\s*$|No such file or directory\s*$|No module named "),
)
"""Whose first lines are taken, the strongest first."""
_WEAK = re.compile(r"\berror\b|\bfail(?:ed|ure)?\b", re.IGNORECASE)


def lines(output: str) -> tuple[str, ...]:
    """At most two lines, without escapes; the last ones where none of them says what is wrong."""
    text = _ESCAPES.sub("", output[-_ENDS:])
    printed = [line.rstrip() for line in text.splitlines() if line.strip()]
    # One of each kind: the error, then where.
    first = [next(filter(pattern.search, printed), "") for pattern in _STRONG]
    fitting = dict.fromkeys(map(_plain, filter(None, first)))
    if not fitting:
        fitting = dict.fromkeys(map(_plain, filter(_WEAK.search, printed)))
    return tuple(fitting or map(_plain, printed[-MOST:]))[:MOST]


def _plain(line: str) -> str:
    return re.sub(r"^E\s+", "", line).strip()[:_WIDTH]

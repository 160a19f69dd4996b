"""The two lines of a failing check that tell most, of all that it printed."""

from __future__ import annotations

import re

MOST = 2
_WIDTH = 200
ENDS = 1024 * 1024
"""Characters at the end of what was printed that are looked at: a long run of TAP has its failures
anywhere."""
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)")

_STRONG = (
    re.compile(r"^E\s+(?=\S)(?!\+)"),  # pytest: the error itself
    re.compile(r"^(?:FAILED|ERROR) \S+\.py\b|^(?:FAIL|ERROR): \w+ \("),
    # `node --test` quotes what a file printed as comments of TAP.
    re.compile(
        r"^(?:# )?(?:\w+\.)*(?:\w*Error|\w*Exception|SystemExit|KeyboardInterrupt)\b"
        r"(?: \[\w+\])?: ?"
    ),
    re.compile(r"^error(?:\[\w+\])?: "),  # rustc, uv
    re.compile(r"^thread '.*' panicked|^\s*(?:left|right): "),
    re.compile(r"^\s*--- FAIL: "),
    re.compile(r"^\s+\w+_test\.go:\d+: "),
    re.compile(r"^npm (?:ERR!|error) (?!A complete log|code |path |errno)"),
    re.compile(r"^\s*(?:AssertionError|Error|TypeError|ReferenceError)\b.*: "),
    re.compile(
        r"^\s*not ok \d+(?!.* # (?:TODO|SKIP)\b)|^\s*(?:\u2715|\u2716|\u00d7) ", re.IGNORECASE
    ),
    re.compile(r"not found\s*$|No such file or directory\s*$|No module named "),
)
"""Whose first lines are taken, the strongest first."""
_WEAK = re.compile(r"\berror\b|\bfail(?:ed|ure)?\b", re.IGNORECASE)
_GOOD = re.compile(
    r"^\s*(?:ok\b|[#\u2139\u2713\u2714] )|\b0 (?:errors?|fail(?:ed|ures?)?)\b", re.IGNORECASE
)
"""What passed, titles and totals of TAP, and counts of nothing: words in there are none of why."""
_NONE = re.compile(r"^[#\u2139] tests 0$")


def lines(output: str) -> tuple[str, ...]:
    """At most two lines, without escapes; the last ones where none of them says what is wrong."""
    text = _ESCAPES.sub("", output[-ENDS:])
    printed = [line.rstrip() for line in text.splitlines() if line.strip()]
    # One of each kind: the error, then where.
    first = [next(filter(pattern.search, printed), "") for pattern in _STRONG]
    fitting = dict.fromkeys(map(_plain, filter(None, first)))
    if not fitting:
        weak = [line for line in printed if _WEAK.search(line) and not _GOOD.search(line)]
        fitting = dict.fromkeys(map(_plain, weak or filter(_NONE.match, printed)))
    return tuple(fitting or map(_plain, printed[-MOST:]))[:MOST]


def _plain(line: str) -> str:
    return re.sub(r"^(?:E\s+|[#\u2139] )", "", line).strip()[:_WIDTH]

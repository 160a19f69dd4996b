"""The two lines of a failing check that tell most, of all that it printed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hydra.checks.text_parsers.sections import without_marks

MOST = 2
_WIDTH = 200
ENDS = 1024 * 1024
"""Characters at the end of what was printed that are looked at: a long run of TAP has its failures
anywhere."""
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)")

_PREFIX = re.compile(r"^INTERNALERROR> ?|^(?!npm )[\w.@/-]+ ERR! ?")
"""Before each line of what ends pytest itself, whose last one is the error, and of what tools print
by npm's own logger."""

_STRONG = (
    # pytest begins one that does not parse with where it is.
    re.compile(r"^E\s+(?:SyntaxError|IndentationError|TabError): "),
    re.compile(r"^E\s+(?=\S)(?!\+)"),  # pytest: the error itself
    # `node --test` quotes what a file printed as comments of TAP. unittest says of a module that
    # it failed, and below why.
    re.compile(
        r"^(?!ImportError: Failed to import test module: )"
        r"(?:# )?\[?(?:\w+\.)*(?:\w*Error|\w*Exception|SystemExit|KeyboardInterrupt)\b"
        r"(?: \[\w+\])?: ?"
    ),
    re.compile(r"^(?:\w+\.)+[A-Z]\w+: \S"),  # an exception of a library's
    re.compile(r"^(?:FAILED|ERROR) \S+\.py\b|^(?:FAIL|ERROR): \w+ \("),
    re.compile(r"^error(?:\[\w+\])?: (?!test failed, to rerun pass )"),  # rustc, uv
    re.compile(r"^thread '.*'(?: \(\d+\))? panicked"),  # rust
    re.compile(r"^\s*(?:left|right): "),
    re.compile(r"^\s*--- FAIL: "),
    re.compile(r"^\s+\w+_test\.go:\d+: "),
    re.compile(r"^\s*Cannot find (?:module|package) ['\"]|^\S+\.go:\d+:\d+: "),  # jest, go
    re.compile(r"^npm (?:ERR!|error) "),
    re.compile(r"^\s*(?:Uncaught )?(?:[A-Z]\w*)?Error\b.*: "),  # mocha
    re.compile(r"^\s+\d+:\d+\s+error\s+\S"),  # eslint
    re.compile(
        r"^\s*not ok \d+(?!.* # (?:TODO|SKIP)\b)|^\(fail\) |\S \.\.\. FAILED\b"
        r"|^\s*[\u2715\u2716\u2717\u2718\u00d7] "
        r"(?!\d+ problems? \(|failing tests:|.* # TODO\b)",
        re.IGNORECASE,
    ),
    re.compile(r"not found\s*$|No such file or directory\s*$|No module named "),
)
"""Whose first lines are taken, the strongest first."""
_WEAK = re.compile(r"\berror\b|\bfail(?:ed|ure)?\b", re.IGNORECASE)
_GOOD = re.compile(
    r"^\s*(?:ok\b|[#\u2139\u2713\u2714] )|\b0 (?:errors?|fail(?:ed|ures?)?)\b", re.IGNORECASE
)
"""What passed, titles and totals of TAP, and counts of nothing: words in there are none of why."""
_OF_RUNNERS = re.compile(
    r"^npm (?:notice|warn|WARN)\b|^npm (?:ERR!|error) (?:A complete log|Lifecycle script "
    r"|Test failed|\S+@\d\S* \S+: |Exit status \d|\s+/\S+\.log$|Failed at the "
    r"|This is probably not a problem |(?:code|path|errno|workspace|location|command)(?: |$)"
    r"|(?:in|at) \w+: )"
    r"|^npm (?:ERR!|error)$|^\s*(?:WARN|ELIFECYCLE)\b|^> \S+@\d\S* \S|^\s+\d+:\d+\s+warning\s"
    r"|^[\w.@/-]+ (?:info|http|verb|timing) |^\[notice\] |^error Command failed with exit code"
    r"|^(?:\u2716 )?\d+ problems?(?: \(|$)|^\s+\d+ errors? and \d+ warnings? potentially fixable "
    r"|^g?make(?:\[\d+\])?: \*\*\* |^error: (?:script \S+ exited |Recipe \S+ failed |Test failed$)"
    r"|^info Visit https:|^\(Use `node --trace-uncaught |^Node\.js v\d|^\s*[\^~]+$"
    r"|^\s+at (?:\S+ )*\(?\S+:\d+:\d+\)?$|^-+\|[-|]*$|^File +\| "
    r"|^(?:[^|]+\|){5}[ \d,.-]*$"
)
"""What npm, pnpm, yarn, bun, deno, node, make, just and pip say of themselves and of the failure of
a script, a linter's count, the frames of a stack, a table of coverage, and what is a warning: never
a reason while there is any other line."""
_CAUSED = re.compile(
    r"(?:The above exception was the direct cause of|During handling of the above exception)"
)
"""What Python says after an error that became another one."""
_INVALID = re.compile(r"\d+ validation errors? for \w+$")
"""How pydantic begins: what is wrong stands in the next two lines."""
_ASSERTED = re.compile(r"\[ERR_ASSERTION\]: .*:$")
"""How node's assertions begin: the values stand below, after a line that says which is which."""
_WHICH = ("+ actual", "+ expected")
_EQUAL = " Expected values to be strictly equal:"
_NONE = re.compile(r"^[#\u2139] tests 0$")


def lines(output: str) -> tuple[str, ...]:
    """At most two lines, without escapes; the last ones where none of them says what is wrong."""
    text = _ESCAPES.sub("", output[-ENDS:])
    marked = (_PREFIX.sub("", line) for line in without_marks(text.splitlines()))
    whole = [line.rstrip() for line in marked if line.strip()]
    printed = [line for line in whole if not _OF_RUNNERS.match(line)] or whole
    printed = [*_last_of_chains(printed)]
    # One of each kind: the error, then where.
    first = [next(filter(pattern.search, printed), "") for pattern in _STRONG]
    fitting = dict.fromkeys(map(_plain, filter(None, first)))
    if not fitting:
        weak = [line for line in printed if _WEAK.search(line) and not _GOOD.search(line)]
        fitting = dict.fromkeys(map(_plain, weak or filter(_NONE.match, printed)))
    return tuple(fitting or map(_plain, printed[-MOST:]))[:MOST]


def _last_of_chains(printed: list[str]) -> Iterator[str]:
    """Without the errors that became others; one that says what is wrong below itself in one."""
    for number, line in enumerate(printed):
        after = printed[number + 1 : number + 3]
        is_place = after[:1] and re.match(r"\S+:\d+: \w+$", after[0])
        if any(map(_CAUSED.match, after if is_place else after[:1])):
            continue
        if _ASSERTED.search(line):
            lines = printed[number + 1 : number + 4]
            below = [value for value in lines if not value.startswith(_WHICH)]
            values = below[:1] if any(" !== " in value for value in below[:1]) else below[:2]
            line = " ".join((line.removesuffix(_EQUAL), *map(str.strip, values)))
        yield f"{line}: {' '.join(map(str.strip, after))}" if _INVALID.search(line) else line


def _plain(line: str) -> str:
    return re.sub(r"^(?:E\s+|[#\u2139] )", "", line).strip()[:_WIDTH]

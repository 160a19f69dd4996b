"""What a failing test's report says beyond pytest's own words, which cut long values short.

A failure that was seen once, in a CI run, is read from that alone.
"""

from __future__ import annotations

import shlex
import subprocess
from collections import deque
from collections.abc import Iterator, Sequence

_LAST = 4
"""Programs of a test that are shown: the last."""

_MOST = 100_000
"""Characters of one output: more than any document."""

_ran: deque[str] = deque(maxlen=_LAST)


def clear() -> None:
    """A test begins."""
    _ran.clear()


def note(argv: Sequence[object], code: int, stdout: str, stderr: str) -> None:
    """A program has ended."""
    line = shlex.join(map(str, argv))
    _ran.append(f"$ {line}\nexit {code}\n--- stdout\n{_cut(stdout)}\n--- stderr\n{_cut(stderr)}\n")


def sections(error: BaseException) -> Iterator[tuple[str, str]]:
    """Titles and texts for the report of a test that failed by `error`."""
    for failed in _programs(error):
        text = f"{failed}\n--- stdout\n{_text(failed.stdout)}\n--- stderr\n{_text(failed.stderr)}\n"
        yield "the program that failed", text
    if _ran:
        yield "programs that ran last", "\n".join(_ran)


Failed = subprocess.CalledProcessError | subprocess.TimeoutExpired


def _programs(error: BaseException) -> Iterator[Failed]:
    if isinstance(error, Failed):
        yield error
    for inner in error.exceptions if isinstance(error, BaseExceptionGroup) else ():
        yield from _programs(inner)


def _text(output: str | bytes | None) -> str:
    text = output.decode("utf-8", "replace") if isinstance(output, bytes) else output
    return _cut(text or "")


def _cut(text: str) -> str:
    if len(text) <= _MOST:
        return text
    half = _MOST // 2
    return f"{text[:half]}\n... {len(text) - _MOST:,} characters ...\n{text[-half:]}"

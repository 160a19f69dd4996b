"""What separates two patches, for a person: the test's own text, and what each patch gave."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

GIVES = 600
"""Characters of what a failing check said of one test."""

SOURCE = 2000
"""Characters of a test's text."""

_TELLING = re.compile(
    r"^\s*E\s|Error\b|\bassert|\b(expected|received|actual|got|want(ed)?|left|right)\b|panicked|!=",
    re.I,
)
_RULE = re.compile(r"^\s*([=_*~-])\1{5,}|^(FAIL|ERROR|---|===|ok|not ok|test )\b|^\s*\u25cf ")
_SECTION, _LINES, _SOURCE_LINES = 80, 8, 40
_SEPARATORS = re.compile(r"::|\.(?=\w+$)| > | \u203a |/")


def name_in(id: str) -> str:
    """A test's own name in its id, as it stands in its file: without file, class and parameters."""
    bare = re.sub(r"\[.*\]$", "", id.strip()) or id
    return _SEPARATORS.split(bare)[-1].strip() or bare


def gives(output: str, id: str) -> str:
    """The lines of a check's output that say how a test failed; "" where none is found."""
    lines = output.split("\n")
    pattern = _term(name_in(id))
    for at, line in enumerate(lines):
        if pattern.search(line) and (texts := _telling(lines, at, pattern)):
            return clipped(textwrap.dedent("\n".join(texts)), GIVES)
    return ""


def _telling(lines: Sequence[str], start: int, pattern: re.Pattern[str]) -> list[str]:
    texts: list[str] = []
    for place, line in enumerate(lines[start + 1 : start + _SECTION]):
        # A rule under the test's own line belongs to it; the next one begins another test.
        if place > 1 and _RULE.search(line) and not pattern.search(line):
            break
        if _TELLING.search(line) and not line.lstrip().startswith(("def ", "File ", "class ")):
            texts.append(line.rstrip())
    return texts[:_LINES]


def source(texts: Sequence[str], id: str) -> str:
    """The test itself, out of the files that were brought; "" where its name is in none."""
    pattern = _term(name_in(id))
    for text in texts:
        lines = text.split("\n")
        for at, line in enumerate(lines):
            if (
                line.strip()
                and pattern.search(line)
                and not line.lstrip().startswith(("#", "//", "*", "import "))
            ):
                return clipped(textwrap.dedent("\n".join(_body(lines, at))), SOURCE)
    return ""


def _body(lines: Sequence[str], at: int) -> list[str]:
    """From a line to where its indentation ends."""
    depth = _depth(lines[at])
    body = [lines[at]]
    for line in lines[at + 1 : at + _SOURCE_LINES]:
        if line.strip() and _depth(line) <= depth:
            if line.lstrip()[:1] in ("}", ")", "]"):
                body.append(line)
                if line.strip() not in ("):", ") {"):
                    break
                continue
            break
        body.append(line)
    while body and not body[-1].strip():
        body.pop()
    return body


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _term(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")


def clipped(text: str, limit: int) -> str:
    """`text`, cut where it is longer."""
    return text if len(text) <= limit else f"{text[: limit - 1]}\u2026"

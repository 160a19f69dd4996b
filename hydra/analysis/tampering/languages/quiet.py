"""Where in a text of braces an assertion cannot fail, or does not run."""

from __future__ import annotations

import re

from hydra.analysis.tampering.languages.braces import BraceSource
from hydra.analysis.tampering.languages.calls import statement_end

_TRY = re.compile(r"\btry\s*\{")
_CATCH = re.compile(r"\s*catch\s*(\([^()]*\))?\s*\{")
_NEVER = re.compile(r"\bif\s*\(?\s*(?:false|0|!true)\s*\)?\s*\{")
_LOUD = re.compile(r"\b(?:throw|expect|assert\w*|fail\w*|done|reject|panic|exit)\b|\bt\.\w+")
_DOWN = re.compile(r"[(\[{]|\breturn\b")

Span = tuple[int, int, str]


def silent(source: BraceSource) -> list[Span]:
    """What is caught and told to nobody, and what stands under a condition that never holds."""
    rows: list[Span] = []
    for match in _TRY.finditer(source.bare):
        start, end = source.inside(match.end() - 1)
        caught = _CATCH.match(source.bare, end + 1)
        if caught is not None and not _telling(caught[1] or ""):
            body = source.bare[slice(*source.inside(caught.end() - 1))]
            if not _LOUD.search(body):
                rows.append((start, end, "swallowed"))
    for match in _NEVER.finditer(source.bare):
        start, end = source.inside(match.end() - 1)
        rows.append((start, end, "never"))
    return rows


def _telling(caught: str) -> bool:
    """Whether what is caught is of a kind that no assertion raises (`IOException e`)."""
    kinds = re.findall(r"\b[A-Z]\w*", caught)
    broad = {"Exception", "Throwable", "Error", "AssertionError", "RuntimeException", "Any"}
    return bool(kinds) and not set(kinds) & broad


def returns(source: BraceSource, start: int, end: int) -> list[Span]:
    """What stands behind a `return` of the body itself."""
    at = start
    while (match := _DOWN.search(source.bare, at, end)) is not None:
        if match[0] == "return":
            last = statement_end(source, match.end(), end)
            return [(last, end, "return")]
        at = min(end, source.ends.get(match.start(), end) + 1)
    return []

"""How much of a stranger's text a sentence takes."""

from __future__ import annotations

import re
from collections.abc import Sequence

SHOWN = 5
"""Names that a sentence gives; the others are counted."""

_NAME = 80
_VALUE = 60


def name(text: str) -> str:
    """A name on one line, its end cut."""
    return _cut(text, _NAME)


def value(text: str) -> str:
    """A value on one line, its end cut."""
    return _cut(text, _VALUE)


def names(many: Sequence[str]) -> str:
    """Up to `SHOWN` names, and how many more there are."""
    shown = ", ".join(name(text) for text in many[:SHOWN])
    rest = len(many) - SHOWN
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def part(number: int, whole: int, noun: str) -> str:
    """ "2 of 3 assertions", "the only assertion", "all 3 assertions"."""
    if number >= whole:
        return f"the only {noun}" if whole == 1 else f"all {whole:,} {noun}s"
    return f"{number:,} of {whole:,} {noun}s"


def _cut(text: str, most: int) -> str:
    flat = re.sub(r"\s+", " ", text[: most * 4]).strip()
    return flat if len(flat) <= most else f"{flat[: most - 3]}..."


def listed_words(text: str) -> list[str]:
    """The words of a table that is easier to read in one piece."""
    return text.split()

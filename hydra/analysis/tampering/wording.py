"""How much of a stranger's text a sentence takes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hydra.text import shortened

SHOWN = 5
"""Names that a sentence gives; the others are counted."""

_VALUE = 60


def name(text: str) -> str:
    """A name on one line."""
    return shortened(_flat(text))


def value(text: str) -> str:
    """A value on one line, its end cut."""
    flat = _flat(text[: _VALUE * 4])
    return flat if len(flat) <= _VALUE else f"{flat[: _VALUE - 3]}..."


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


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def listed_words(text: str) -> list[str]:
    """The words of a table that is easier to read in one piece."""
    return text.split()

"""Small words that the judge's sentences have in common."""

from __future__ import annotations

from collections.abc import Sequence, Sized

from hydra import text

NAMED = 3
"""Names that a sentence has room for; the others are counted."""


def first_names(names: Sequence[str], most: int = NAMED) -> str:
    """The first few, and how many more."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def quoted(names: Sequence[str]) -> str:
    """The same of tests: a name that is a sentence is in quotes."""
    return first_names([text.quoted(name) for name in names])


def number_of(what: Sized | int, noun: str) -> str:
    """`1 test`, `3 tests`, `2,000 patches`."""
    number = what if isinstance(what, int) else len(what)
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun}{'es' if noun.endswith(('ch', 's', 'x')) else 's'}"


def fail(names: Sized) -> str:
    """`fails` of one, `fail` of several."""
    return "fails" if len(names) == 1 else "fail"


def passes(names: Sized) -> str:
    """`passes` of one, `pass` of several."""
    return "passes" if len(names) == 1 else "pass"


def were(names: Sized) -> str:
    """`was` of one, `were` of several."""
    return "was" if len(names) == 1 else "were"


def joined(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last

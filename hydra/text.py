"""Names in a sentence: as many as there is room for."""

from __future__ import annotations

from collections.abc import Sequence


def quoted(test: str) -> str:
    """A test's name as it stands in prose: in quotes where it is a sentence."""
    return f'"{test}"' if " " in test else test


def join_names(names: Sequence[str], most: int = 5) -> str:
    """`a, b and 3 more`: the first `most`, and how many there are beside them."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"

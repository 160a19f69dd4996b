"""A set of words, written as a line of text."""

from __future__ import annotations


def words(line: str) -> frozenset[str]:
    """The words of a line."""
    return frozenset(line.split())

"""How much of a text is read."""

from __future__ import annotations

from hydra.analysis.syntax import LARGEST

LONGEST_LINE = 100_000
"""Nor is one with a longer line: nobody wrote it."""


def too_much(text: str) -> str:
    """Why a text is not read, "" where it is."""
    if len(text) > LARGEST:
        return f"over {LARGEST // 1024:,} KiB"
    if len(text) > LONGEST_LINE and max(map(len, text.split("\n"))) > LONGEST_LINE:
        return f"a line of over {LONGEST_LINE:,} characters"
    return ""

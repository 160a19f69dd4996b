"""What a patch touches that deserves a look, as lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hydra.reporters.text import clean

SHOWN = 12
"""Remarks that are listed; with more, the others are counted."""


def remark_lines(remarks: Sequence[Mapping[str, object]]) -> list[str]:
    """One line each: the path, then what is to be said of it."""
    lines = [_line(remark) for remark in remarks[:SHOWN]]
    if len(remarks) > SHOWN:
        lines.append(f"and {len(remarks) - SHOWN} more: --json has them all")
    return lines


def _line(remark: Mapping[str, object]) -> str:
    kind = clean(str(remark.get("kind", ""))).replace("_", " ")
    path, text = clean(str(remark.get("path", ""))), clean(str(remark.get("text", "")))
    return f"{path}: {text} ({kind})" if path else f"{text} ({kind})"

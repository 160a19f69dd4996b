"""Text on its way into the page: what would hide or reorder other text is shown as its name."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from hydra.report.text import clean

LONGEST = 20_000
"""Characters of any one text outside of a diff; the rest is counted."""

# Letters, punctuation, arrows and boxes: most lines, at the speed of one search.
_PLAIN = re.compile("[\n\t -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u23ff]*")


def prose(text: str, limit: int = LONGEST) -> str:
    """What an agent or a check said, its lines kept."""
    remaining = len(text) - limit
    return clean(text if remaining <= 0 else text[:limit], multiline=True) + (
        f" \u2026 ({remaining:,} characters more)" if remaining > 0 else ""
    )


def code(text: str) -> str:
    """Lines of a diff: tabs stay, and every control character is named for itself."""
    if _PLAIN.fullmatch(text):
        return text
    return "\n".join(map(_code_line, text.split("\n")))


def _code_line(line: str) -> str:
    if _PLAIN.fullmatch(line):
        return line
    return "\t".join(clean(part, verbatim=True) for part in line.split("\t"))


def whole(value: object) -> object:
    """A document of any shape with every text in it made harmless, keys too."""
    if isinstance(value, str):
        return prose(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): whole(row) for key, row in value.items()}
    if isinstance(value, Sequence):
        return [whole(row) for row in value]
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return prose(str(value))

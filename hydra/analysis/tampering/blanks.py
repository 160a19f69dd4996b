"""Texts of languages without a grammar here: what is neither a comment nor in a string."""

from __future__ import annotations

import re

_SLASHES = r"//[^\n]*+|/\*(?:[\s\S]*?\*/|[\s\S]*+)"
_HASH = r"(?<![^\s;])#[^\n]*+"
_DOUBLE = r'"(?:[^"\\]++|\\[\s\S])*+(?:"|\Z)'
_CHARACTER = r"'(?:[^'\\\n]|\\[^\n]{1,10}?)'"
_C = f"{_SLASHES}|{_DOUBLE}|{_CHARACTER}"
_SHELL = f"{_HASH}|{_DOUBLE}|'[^']*+(?:'|\\Z)"
_SKIPPED = {
    **dict.fromkeys(
        ("c", "cc", "cpp", "cxx", "h", "hh", "hpp", "cs", "scala", "swift", "json"), _C
    ),
    **dict.fromkeys(("sh", "bash", "zsh", "yml", "yaml"), _SHELL),
    "php": rf"{_SLASHES}|{_HASH}|{_DOUBLE}|'(?:[^'\\]++|\\[\s\S])*+(?:'|\Z)",
    "zig": rf"{_C}|\\\\[^\n]*+",
    "d": rf"{_C}|`[^`]*+(?:`|\Z)",
}
_PATTERNS = {ending: re.compile(pattern) for ending, pattern in _SKIPPED.items()}
_INK = re.compile(r"[^\n]")


def bare(ending: str, text: str) -> str | None:
    """A text with its comments, and what its strings hold, blanked; None where nothing is known of
    files with this ending."""
    pattern = _PATTERNS.get(ending)
    return pattern.sub(lambda match: _INK.sub(" ", match[0]), text) if pattern else None

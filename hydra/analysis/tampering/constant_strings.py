"""Texts in code that are put together of parts: what they come to, as far as it stands there."""

from __future__ import annotations

import re

_PART = r"(?:\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|`(?:[^`\\\n]|\\.)*+`)"
_CHAIN = re.compile(rf"{_PART}(?:\s*+(?:\+|\.concat\()?\s*+[rbuf]{{0,2}}{_PART})*+")
_PARTS = re.compile(_PART)
_MEMBER = re.compile(r"(?<=[\w)\]])\[[ \t]*([\"'`])([A-Za-z_]\w*)\1[ \t]*\]")
_TOOL = r"(?<![a-z])(?:py|unit)?(?:tests?|spec|jest|mocha)(?![a-z])"
_TESTS = re.compile(_TOOL, re.I)
_IN_TEXT = re.compile(rf"[\"'`/][^\"'`\n]*{_TOOL}[^\"'`\n]*[\"'`/]", re.I)


def folded(code: str, *, members: bool = False) -> str:
    """Code with `'te' + 'st'` as one text, and with `members` `a['b']` as `a.b`, as JavaScript has
    it. Lines keep their numbers."""
    chained = _CHAIN.sub(_joined, code)
    return _MEMBER.sub(r".\2", chained) if members else chained


def _joined(chain: re.Match[str]) -> str:
    parts = _PARTS.findall(chain[0])
    if len(parts) < 2:
        return chain[0]
    quote, text = parts[0][0], "".join(part[1:-1] for part in parts)
    return f"{quote}{text}{quote}" + "\n" * chain[0].count("\n")


def names_tests(line: str) -> bool:
    """Whether a line has a text that names tests or their tools, whole or in parts."""
    if _IN_TEXT.search(line):
        return True
    return bool(_TESTS.search("".join(part[1:-1] for part in _PARTS.findall(line))))

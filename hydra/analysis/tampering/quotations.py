"""Which lines of a Python file lie inside a text in quotes, without parsing it."""

from __future__ import annotations

import re

_QUOTATION = re.compile(
    r"#[^\n]*+"
    r'|"""(?:[^"\\]++|\\.|"(?!""))*+(?:"""|\Z)'
    r"|'''(?:[^'\\]++|\\.|'(?!''))*+(?:'''|\Z)"
    r'|"(?:[^"\\\n]|\\.)*+"'
    r"|'(?:[^'\\\n]|\\.)*+'",
    re.S,
)
"""A text in quotes; a comment as well, for the quotes that stand in it."""


def flattened(text: str) -> str:
    """The same with a blank for the end of each line that lies inside of one."""
    if not any(begins in text for begins in ('"""', "'''", "\\\n")):
        return text
    return _QUOTATION.sub(lambda quotation: quotation[0].replace("\n", " "), text)

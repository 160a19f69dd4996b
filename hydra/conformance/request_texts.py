"""What any agent's request says in its texts: the folder that it works in, and who asks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

_PATH = r"[`\"']?(/[^\n\r`\"'<]+)"
_FOLDERS = tuple(
    re.compile(before + _PATH)
    for before in (
        r"(?i)current(?:ly)? working (?:directory|in the directory)(?: is)?:? ?",
        r"(?i)working directory(?: is)?:? ?",
        r"(?i)workspace director(?:y|ies):?\**\s+-? ?",
        r"<cwd>",
        r"% pwd\n",
    )
)
"""How the CLIs name the folder, the plainest first."""


def folder(text: str) -> str:
    """The agent's working folder as its request names it; "" where it does not."""
    match = next((match for pattern in _FOLDERS if (match := pattern.search(text))), None)
    return match[1].rstrip("/., ") if match else ""


def texts(content: Any) -> Iterator[str]:
    """Every text of a message's content: a text itself, or parts that hold one."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, Iterable):
        for part in content:
            text = part.get("text") if isinstance(part, dict) else part
            if isinstance(text, str):
                yield text


def conversation(*marks: str) -> str:
    """A conversation's name where the request has none: made from what stays the same in it."""
    return hashlib.sha256("\0".join(marks).encode()).hexdigest()[:16]

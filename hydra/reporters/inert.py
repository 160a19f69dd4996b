"""Others' text in Markdown as GitHub renders it: it stays text, whatever it is.

Rendering is two steps: Markdown makes HTML of it, then GitHub looks through the text for @names,
#numbers and addresses. An entity or a backslash stops the first; only an element between the
characters stops the second.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from hydra.reporters.text import clean

LONGEST = 300
"""Characters of one text that are kept."""

_SPECIAL = re.compile(r"([\\`*\[\]~|$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
_FIRST = re.compile(r"^(\d+)?([-+=.)]|#(?!\w))")
_LINKED = re.compile(r"(?i)(@|#(?=\w)|(?<=\bgh)-(?=\d)|:(?=/)|(?<=\bwww)\.)")
_TAME = re.compile(r"[^`|\\&<>\s](?:[^`|\\&<>\n]*[^`|\\&<>\s])?")


def inert(text: str, longest: int = LONGEST) -> str:
    """`text` as a line of prose, in a list's item or a table's cell."""
    kept = _SPECIAL.sub(r"\\\1", _short(text, longest))
    kept = _FIRST.sub(lambda found: f"{found[1] or ''}\\{found[2]}", kept.strip(" "))
    return _unlinked(escape(kept, quote=False))


def plain(text: str, longest: int = LONGEST) -> str:
    """`text` inside of HTML (a `<summary>`), where there is no Markdown."""
    return _unlinked(escape(_short(text, longest), quote=False))


def code(text: str, longest: int = LONGEST) -> str:
    """A name as code. What a table or a backtick would break is written as entities."""
    kept = _short(text, longest)
    if _TAME.fullmatch(kept):
        return f"`{kept}`"
    if not kept.strip(" "):
        return ""
    told = "".join(one if one.isalnum() or one == " " else f"&#{ord(one)};" for one in kept)
    return f"<code>{_split_at(told)}</code>"


def rows_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are inert already; an empty one keeps its place."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell or ' ' for cell in line)} |" for line in lines)


def _short(text: str, longest: int) -> str:
    kept = clean(text[: longest + 1])
    return kept if len(kept) <= longest else f"{kept[: longest - 1]}\u2026"


def _unlinked(text: str) -> str:
    return _LINKED.sub(r"<span>\1</span>", text)


def _split_at(text: str) -> str:
    # An address is looked for in text that is decoded already.
    return text.replace("&#64;", "<span>&#64;</span>")

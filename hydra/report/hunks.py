"""A patch in the pieces that can be picked, each with its id."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hydra.report.text import clean

if TYPE_CHECKING:
    from hydra.landing.hunks import Hunk


SHORT = 6
"""Hexadecimal digits of an id that are shown, at least."""


def hunks_text(hunks: Sequence[Hunk], shorts: Mapping[str, str]) -> bytes:
    """The patch as a diff shows it, the id of each hunk before its lines.

    `shorts` are the `short_ids` of the whole patch, however few of its hunks are shown.
    """
    lines: list[bytes] = []
    last = None
    for hunk in hunks:
        if hunk.path != last:
            lines.append(b"diff " + _printable(hunk.path))
            last = hunk.path
        lines.append(f"@@ {shorts[hunk.id]} {hunk.head.removeprefix('@@ ')}".encode())
        lines.append(hunk.body.removesuffix(b"\n"))
    return b"".join(line + b"\n" for line in lines if line)


def hunk_rows(hunks: Sequence[Hunk], shorts: Mapping[str, str]) -> list[dict[str, object]]:
    """The same as data; `id` is whole."""
    return [
        {
            "id": hunk.id,
            "short": shorts[hunk.id],
            "path": hunk.path.decode("utf-8", "backslashreplace"),
            "kind": hunk.kind,
            "head": hunk.head,
            "added": sum(len(edit.new) for edit in hunk.edits),
            "deleted": sum(len(edit.old) for edit in hunk.edits),
        }
        for hunk in hunks
    ]


def short_ids(hunks: Sequence[Hunk]) -> dict[str, str]:
    """The shortest beginnings, all equally long, that tell these hunks apart."""
    ids = {hunk.id for hunk in hunks}
    length = SHORT
    while len({name[:length] for name in ids}) < len(ids):
        length += 1
    return {name: name[:length] for name in ids}


def _printable(path: bytes) -> bytes:
    return os.fsdecode(path).encode("unicode_escape") if b"\n" in path else path


# ---- A diff for a person's eyes: control characters made visible, coloured as git colours it.

_COLORS = ((b"@@", "36"), (b"+++", "1"), (b"---", "1"), (b"+", "32"), (b"-", "31"), (b"diff", "1"))


def shown(text: bytes, *, color: bool) -> bytes:
    """`text` with nothing in it that a terminal would obey."""
    return b"".join(_line(line, color) for line in text.split(b"\n")).removesuffix(b"\n")


def _line(line: bytes, color: bool) -> bytes:
    # Tabs are what a diff is indented with; all other control characters are shown, not sent.
    parts = line.decode("utf-8", "backslashreplace").split("\t")
    safe = "\t".join(clean(part, verbatim=True) for part in parts)
    code = next((code for start, code in _COLORS if line.startswith(start)), "") if color else ""
    return (f"\x1b[{code}m{safe}\x1b[m\n" if code else f"{safe}\n").encode()

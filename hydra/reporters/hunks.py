"""A patch in the pieces that can be picked, each with its id."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

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
    while len({one[:length] for one in ids}) < len(ids):
        length += 1
    return {one: one[:length] for one in ids}


def _printable(path: bytes) -> bytes:
    return os.fsdecode(path).encode("unicode_escape") if b"\n" in path else path

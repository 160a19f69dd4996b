"""Names in a tree: which git refuses."""

from __future__ import annotations

import os
import re

_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""Code points that HFS+ leaves out when it compares names (git's utf8.c, next_hfs_char)."""

_DOT_GIT = re.compile(r"(\.git|git~1)[ .]*(:.*)?", re.S)
"""What NTFS takes for .git: its short name, dots and blanks behind it, a stream (read-cache.c)."""

_DOT_GITMODULES = re.compile(r"(\.gitmodules|gitmod~[1-4]|gi7eb[0-9a-f~]*)[ .]*(:.*)?", re.S)

_SUSPECT = re.compile(rb"(?i)git|gi7eb|[^\x20-\x7e]|\\|(?:^|/)(?:[./]|$)")
"""What there is in every path that is refused: nearly none has it, and needs no closer look."""

LINK = "120000"
"""The mode of a symlink in a tree."""


def refused(path: bytes, mode: str = "") -> str:
    """Why git would not check this path out on some system; "" where it would everywhere.

    `mode` is its file's: what git reads by itself may be no link.
    """
    if not _SUSPECT.search(path):
        return ""
    if path.startswith(b"/") or not path:
        return "not a path inside the repository"
    for part in path.split(b"/"):
        if part in (b"", b".", b".."):
            return "not a path inside the repository"
        if b"\0" in part:
            return "not a name"
        text = _IGNORED.sub("", os.fsdecode(part)).lower()
        # A backslash parts folders where NTFS is.
        if any(_DOT_GIT.fullmatch(term) for term in text.split("\\")):
            return "git keeps this name for itself"
        if mode == LINK and _DOT_GITMODULES.fullmatch(text):
            return "git takes no symlink for this file"
    return ""


def parents(path: bytes) -> list[bytes]:
    """The folders a path lies in, from the top down; the top itself is none of them."""
    parts = path.split(b"/")
    return [b"/".join(parts[:n]) for n in range(1, len(parts))]

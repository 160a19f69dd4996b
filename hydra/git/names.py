"""Names in a tree: which git refuses, and which are one and the same to another file system."""

from __future__ import annotations

import os
import re
import unicodedata
from functools import lru_cache

_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""Code points that HFS+ leaves out when it compares names (git's utf8.c, next_hfs_char)."""

_DOT_GIT = re.compile(r"(\.git|git~1)[ .]*(:.*)?", re.S)
"""What NTFS takes for .git: its short name, dots and blanks behind it, a stream (read-cache.c)."""


@lru_cache(maxsize=65536)
def folded(name: bytes) -> str:
    """One form for all names that some file system holds to be equal: by case or Unicode form."""
    text = os.fsdecode(name)
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def refused(path: bytes) -> str:
    """Why git would not check this path out on some system; "" where it would everywhere."""
    if path.startswith(b"/") or not path:
        return "not a path inside the repository"
    for part in path.split(b"/"):
        if part in (b"", b".", b".."):
            return "not a path inside the repository"
        if b"\0" in part:
            return "not a name"
        text = _IGNORED.sub("", os.fsdecode(part)).lower()
        if _DOT_GIT.fullmatch(text):
            return "git keeps this name for itself"
    return ""


def parents(path: bytes) -> list[bytes]:
    """The folders a path lies in, from the top down; the top itself is none of them."""
    parts = path.split(b"/")
    return [b"/".join(parts[:n]) for n in range(1, len(parts))]

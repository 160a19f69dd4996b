"""A path of a patch, before and after."""

from __future__ import annotations

from msgspec import Struct


class FileChange(Struct, frozen=True, kw_only=True):
    """One path of a patch, before and after; a rename is a deletion and an addition.

    Modes are git's, "" where it was, or is, not there. `old` and `new` are the texts, None where
    there is none, where it is binary, or where it was too large to be read: `unread` tells the
    last from the others. `insertions` and `deletions` are None for a binary file. `collected`: a
    run of tests names it as a file of theirs.
    """

    path: str
    old_mode: str = ""
    new_mode: str = ""
    old_oid: str = ""
    new_oid: str = ""
    binary: bool = False
    insertions: int | None = None
    deletions: int | None = None
    old: str | None = None
    new: str | None = None
    unread: bool = False
    collected: bool = False

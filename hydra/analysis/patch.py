"""A path of a patch, before and after."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Holds = Literal["", "tests", "data", "code", "unclear"]
"""What of tests is in a file, by who names it. `tests`: a run does, as a file of theirs. `data`:
tests of the base do, and nothing else does. `code`: a run does, and it is code with tests in it.
`unclear`: a run does, and its functions are code or helpers of its tests."""


class FileChange(Struct, frozen=True, kw_only=True):
    """One path of a patch, before and after; a rename is a deletion and an addition.

    Modes are git's, "" where it was, or is, not there. `old` and `new` are the texts, None where
    there is none, where it is binary, or where it was too large to be read: `unread` tells the
    last from the others. `insertions` and `deletions` are None for a binary file.
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
    holds: Holds = ""

"""A path of a patch, before and after."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Weight = Literal["gate", "suspect", "remark"]
"""`gate`: by itself it holds a patch back. `suspect`: it does where the base's own,
put back, fail or cannot run. `remark`: it is told, and weighs nothing."""


class Finding(Struct, frozen=True, kw_only=True):
    """One true sentence on a patch.

    `kind` is one of docs/why/selection.md; `text` is a clause that stands after the lane's name
    ("removes 2 assertions of test_first_page"); `path` is from the tree's top, `line` its line in
    the patch's version, or in the base's where it is gone (None: not one line). `tests` are the
    names of the tests it is about, as the code has them.
    """

    kind: str
    weight: Weight
    text: str
    path: str = ""
    line: int | None = None
    tests: tuple[str, ...] = ()


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

"""What reading a patch brings to light, before anything of it is weighed."""

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

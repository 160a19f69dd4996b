"""What is known of one file of a patch."""

from __future__ import annotations

from msgspec import Struct

EXECUTABLE, LINK, MODULE = "100755", "120000", "160000"


class TouchedPath(Struct, frozen=True, kw_only=True):
    """One path. `old_mode` and `new_mode` are git's; "" where it was, or is, not there.

    `size` is the new content's in bytes, None where it is not known. `old` and `new` are the
    contents of a manifest, `new` also where a symlink points; None: not read.
    """

    path: bytes
    old_mode: str = ""
    new_mode: str = ""
    old_oid: str = ""
    new_oid: str = ""
    binary: bool = False
    size: int | None = None
    old: bytes | None = None
    new: bytes | None = None

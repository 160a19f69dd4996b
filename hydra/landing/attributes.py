"""What a file bears besides its content and git's x bit: its owner, its permissions, its extended
attributes and access list. git gives a file that it writes those of any new one; a landing gives it
those of the file that it takes the place of.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from hydra.git.diff import TreeEntry

_CARRIED = ("user.", "system.posix_acl_access")
"""Not `security.`: what a program may do is of its content, and labels are the system's to give."""

_FILE, _PROGRAM = "100644", "100755"


class Attributes(NamedTuple):
    """Of a regular file; `extended` by name."""

    mode: int
    owner: int
    group: int
    extended: Mapping[str, bytes]

    @classmethod
    def of(cls, path: bytes) -> Attributes | None:
        """Those of the file that stands there; None where none does. A link has none."""
        try:
            facts = os.lstat(path)
        except OSError:
            return None
        if not stat.S_ISREG(facts.st_mode):
            return None
        return cls(stat.S_IMODE(facts.st_mode) & 0o777, facts.st_uid, facts.st_gid, _extended(path))

    def give(self, path: bytes, old: TreeEntry | None, new: TreeEntry) -> None:
        """Gives them to a file that git wrote as `new`; where its x bit changes, with that.

        As far as the file system and one's rights allow. Raises `OSError` for the permissions.
        """
        facts, mode = os.lstat(path), self._mode(old, new)
        if not stat.S_ISREG(facts.st_mode):
            return
        if (facts.st_uid, facts.st_gid) != (self.owner, self.group):
            with suppress(PermissionError):  # another's file, or a group that one is not in
                os.chown(path, self.owner, self.group)
        if stat.S_IMODE(facts.st_mode) != mode:
            os.chmod(path, mode)  # noqa: PTH101  bytes
        for name, value in self.extended.items():
            with suppress(OSError):
                os.setxattr(path, name, value)

    def _mode(self, old: TreeEntry | None, new: TreeEntry) -> int:
        if old is None or old.mode == new.mode or new.mode not in (_FILE, _PROGRAM):
            return self.mode
        plain = self.mode & ~0o111
        return plain | (plain & 0o444) >> 2 if new.mode == _PROGRAM else plain


def _extended(path: bytes) -> dict[str, bytes]:
    if not hasattr(os, "listxattr"):
        return {}
    try:
        names = os.listxattr(path)
        return {name: os.getxattr(path, name) for name in names if name.startswith(_CARRIED)}
    except OSError:
        return {}

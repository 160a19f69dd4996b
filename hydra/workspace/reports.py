"""Files that a check leaves in its worktree for Hydra to read: what wrote them is not trusted."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from hydra.containment import read_regular

MOST = 1000
"""Files that one pattern may name; a Gradle project has one for each test class."""

Seen = dict[str, tuple[int, int, int]]
"""Each file's inode, size and ctime in ns: one that was there before is no answer."""


def seen(folder: Path, pattern: str) -> Seen:
    """What fits `pattern` now."""
    return {str(path): _facts(status) for path, status in _fitting(folder, pattern)}


def fresh(folder: Path, pattern: str, before: Seen, limit: int) -> tuple[list[bytes], bool]:
    """The content of each file that fits `pattern` and is new or changed since `before`.

    Together at most `limit` bytes; also whether there was anything else. Links (to folders, too)
    and FIFOs are passed over, and nothing blocks.
    """
    found: list[bytes] = []
    more = False
    for path, status in _fitting(folder, pattern):
        if before.get(str(path)) == _facts(status):
            more = True
            continue
        data = read_regular(path, limit + 1)
        if data is None or len(data) > limit or len(found) == MOST:
            more = True
            continue
        limit -= len(data)
        found.append(data)
    return found, more


def _fitting(folder: Path, pattern: str) -> Iterator[tuple[Path, os.stat_result]]:
    inside = Path(os.path.realpath(folder.parent), folder.name)
    with suppress(OSError, ValueError, NotImplementedError, RecursionError):
        for path in sorted(inside.glob(pattern)):
            # No part of the way may be a link: a patch can hold one that leads out.
            if Path(os.path.realpath(path.parent)) == path.parent:
                with suppress(OSError):
                    status = path.lstat()
                    if stat.S_ISREG(status.st_mode):
                        yield path, status


def _facts(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_size, status.st_ctime_ns

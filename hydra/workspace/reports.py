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
    contents: list[bytes] = []
    more = False
    for path, status in _fitting(folder, pattern):
        if before.get(str(path)) == _facts(status):
            more = True
            continue
        data = read_regular(path, limit + 1)
        if data is None or len(data) > limit or len(contents) == MOST:
            more = True
            continue
        limit -= len(data)
        contents.append(data)
    return contents, more


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


# ---- Files that an agent keeps of its own and Hydra reads at the end: its folder is not trusted.

LARGEST = 8 * 1024 * 1024
"""Bytes read of one file; Codex's record of a session tells what it applied at its beginning."""


def newest(folder: Path, pattern: str) -> bytes:
    """The newest regular file in `folder` that fits the glob, its first `LARGEST` bytes; or b"".

    Links (to folders, too) and FIFOs that an agent may have laid there are passed over, and
    nothing blocks.
    """
    inside = Path(os.path.realpath(folder.parent), folder.name)
    named = [path for path in folder.glob(pattern) if _leads_to(path, inside)]
    pairs = [(status.st_mtime, path) for path in named if (status := _regular(path))]
    return read_regular(max(pairs)[1], LARGEST) or b"" if pairs else b""


def _leads_to(path: Path, inside: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(inside)


def _regular(path: Path) -> os.stat_result | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None

"""Files that an agent keeps of its own and Hydra reads at the end: its folder is not trusted."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from hydra.containment import read_regular

LARGEST = 8 * 1024 * 1024
"""Bytes read of one file; Codex's record of a session tells what it applied at its beginning."""


def newest(folder: Path, pattern: str) -> bytes:
    """The newest regular file in `folder` that fits the glob, its first `LARGEST` bytes; or b"".

    Links (to folders, too) and FIFOs that an agent may have laid there are passed over, and
    nothing blocks.
    """
    inside = Path(os.path.realpath(folder.parent), folder.name)
    named = [path for path in folder.glob(pattern) if _leads_to(path, inside)]
    found = [(status.st_mtime, path) for path in named if (status := _regular(path))]
    return read_regular(max(found)[1], LARGEST) or b"" if found else b""


def _leads_to(path: Path, inside: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(inside)


def _regular(path: Path) -> os.stat_result | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None

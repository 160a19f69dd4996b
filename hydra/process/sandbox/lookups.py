"""Looks at files that raise nothing: pathlib's own raise where a parent may not be entered."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def exists(path: Path) -> bool:
    """Whether it is there, as far as this account can see."""
    return os.access(path, os.F_OK)


def is_folder(path: Path) -> bool:
    """Whether it is a folder, or a link to one."""
    return stat.S_ISDIR(_mode(path))


def is_file(path: Path) -> bool:
    """Whether it is a regular file, or a link to one."""
    return stat.S_ISREG(_mode(path))


def is_program(path: Path) -> bool:
    """Whether it is a file that somebody may execute."""
    mode = _mode(path)
    return stat.S_ISREG(mode) and bool(mode & 0o111)


def first_bytes(path: Path, count: int = 4) -> bytes:
    """How a regular file begins; nothing where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError:
        return b""


def entries_of(folder: str | Path) -> list[os.DirEntry[str]]:
    """What is in a folder; nothing where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def matches(folder: Path, pattern: str) -> list[Path]:
    """What `folder.glob` finds; nothing where a folder vanishes under it."""
    try:
        return list(folder.glob(pattern))
    except OSError:
        return []


def status_of(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Of the entry itself, no link followed; None where it has gone since the folder was read."""
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except OSError:
        return 0

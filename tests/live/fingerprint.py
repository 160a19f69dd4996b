"""A folder, byte for byte: what a race must leave as it was."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

Fingerprint = dict[str, str]
"""Path relative to the folder (folders end in /) to type, mode and content."""


def fingerprint(root: Path, *, leave_out: Callable[[str], bool] = lambda _: False) -> Fingerprint:
    """Every entry below `root`, `.git` and all: refs, index, objects, stash, config and hooks."""
    seen: Fingerprint = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder, name)
            entry = path.lstat()
            key = str(path.relative_to(root)) + ("/" if stat.S_ISDIR(entry.st_mode) else "")
            if not leave_out(key):
                owner = f"{entry.st_uid}:{entry.st_gid}"
                seen[key] = f"{stat.filemode(entry.st_mode)} {owner} {_content(path, entry)}"
    return seen


def _content(path: Path, entry: os.stat_result) -> str:
    if stat.S_ISLNK(entry.st_mode):
        return f"-> {path.readlink()}"
    if stat.S_ISREG(entry.st_mode):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return f"{entry.st_size} bytes {digest}"
    return ""


def changes(before: Fingerprint, after: Fingerprint) -> dict[str, tuple[str, str]]:
    """Every path that is not the same in both, with what it was and is ("" for not there)."""
    return {
        path: (before.get(path, ""), after.get(path, ""))
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    }


def apart_from_pins(changed: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """`changed` without the one thing a race adds: the ref that pins its base."""
    return {
        path: what
        for path, what in changed.items()
        if not (path == ".git/refs/hydra/" or path.startswith(".git/refs/hydra/")) or what[0]
    }

"""What a repository that an agent could write to names: refs, reflogs, what is under way in it.

All of it is read as plain files, by no git that would take the agent's configuration with it; each
file is a regular one and no larger than its limit, and there are only so many.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from msgspec import Struct

from hydra.containment import read_regular

_OID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_FIRST = re.compile(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?)(?![0-9a-f])")
_STEPS = ("rebase-merge", "rebase-apply", "sequencer")
"""Folders of a rebase, an am, a cherry-pick of several: commits may be named there alone."""

_NO_NAMES = frozenset(("HEAD", "packed-refs", "index", "config", "description", "gitdir"))
_ZERO = re.compile(r"0+")

_LINKS = 5
"""git follows a ref that names another, and so on, this far."""

_REF_BYTES = 8192
FILE_BYTES = 1024 * 1024
_LIST_BYTES = 64 * 1024 * 1024
"""Bytes of packed-refs, and of a reflog: 200,000 tags are 15 MB."""

_FILES = 5000
"""Files that are read of one folder with all below it."""

_ALL_BYTES = 256 * 1024 * 1024
"""Bytes of all reflogs, and of what is under way, that are read: links and holes cost an agent
nothing."""


class Tips(Struct, frozen=True):
    """`refs` by name, each with what it names; `head` and `branch` of its worktree ("" where there
    is none, or where it is detached); `commits` are what reflogs and what is under way name, and
    `whole` says whether all of those were read."""

    refs: dict[str, str]
    head: str
    branch: str
    commits: frozenset[str]
    whole: bool = True


@dataclass(slots=True)
class _Room:
    """How many bytes may still be read; less than none once something was not."""

    remaining: int

    def small(self, path: Path, most: int = FILE_BYTES) -> bytes:
        """What `small` gives, as long as there is room."""
        with suppress(OSError):
            size = path.lstat().st_size
            self.remaining -= size if size <= most else 0
        return small(path, most) if self.remaining >= 0 else b""


def read_tips(git_dir: Path, admin: Path) -> Tips:
    """`admin` is where the HEAD of the worktree lies: `git_dir`, or a folder of its worktrees."""
    refs, links = _refs(git_dir, admin)
    content = small(admin / "HEAD").strip()
    branch = _linked(content)
    for _ in range(_LINKS):
        branch = links.get(branch, branch)
    head = refs.get(branch, "") if branch else _first(content)
    room = _Room(_ALL_BYTES)
    commits = frozenset(_commits(git_dir, admin, room))
    return Tips(dict(sorted(refs.items())), head, branch, commits, whole=room.remaining >= 0)


def admins(git_dir: Path) -> list[Path]:
    """The folders of its linked worktrees."""
    if not is_folder(git_dir / "worktrees"):
        return []
    folders = (path for path in git_dir.glob("worktrees/*") if is_folder(path))
    return sorted(islice(folders, _FILES))


def small(path: Path, most: int = FILE_BYTES) -> bytes:
    """A small regular file's bytes, else none: an agent may have put a FIFO or a link there."""
    try:
        if path.lstat().st_size > most:
            return b""
        return read_regular(path, most) or b""
    except OSError:
        return b""


def _refs(git_dir: Path, admin: Path) -> tuple[dict[str, str], dict[str, str]]:
    """What each ref names, and what refs those name that are only another name, as git has them: a
    file of its own is newer than a line in packed-refs."""
    refs: dict[str, str] = {}
    links: dict[str, str] = {}
    for line in small(git_dir / "packed-refs", _LIST_BYTES).splitlines():
        name, _, ref = line.partition(b" ")
        if ref.startswith(b"refs/") and _OID.fullmatch(name):
            refs[os.fsdecode(ref)] = name.decode()
    for place in dict.fromkeys((git_dir, admin)):  # what a bisect marks lies beside the HEAD
        for file in _below(place, "refs"):
            content, path = small(file, _REF_BYTES), str(file.relative_to(place))
            if oid := _first(content):
                refs[path] = oid
            elif other := _linked(content):
                links[path] = other
                refs.pop(path, None)
    for number, oid in enumerate(_older_stashes(git_dir), 1):
        refs[f"refs/stash-{number}"] = oid
    return refs, links


def _linked(content: bytes) -> str:
    return os.fsdecode(content[5:]).strip() if content.startswith(b"ref: ") else ""


def _older_stashes(git_dir: Path) -> list[str]:
    """`stash@{1}` and on live in the reflog alone, the newest at its end."""
    file = git_dir / "logs" / "refs" / "stash"
    if not all(map(is_folder, file.parents[:2])):
        return []
    lines = small(file, _LIST_BYTES).splitlines()
    return [oid for line in reversed(lines[:-1]) if (oid := _first(line[line.find(b" ") + 1 :]))]


def _commits(git_dir: Path, admin: Path, room: _Room) -> Iterator[str]:
    for place in (git_dir, *admins(git_dir)):
        if room.remaining < 0:
            return
        for file in _below(place, "logs"):
            for line in room.small(file, _LIST_BYTES).splitlines():
                yield from (oid.decode() for oid in line.split(b" ")[:2] if _OID.fullmatch(oid))
        for file in (*_files(place), *(file for step in _STEPS for file in _files(place / step))):
            if file.name not in _NO_NAMES:  # FETCH_HEAD and MERGE_HEAD have a line for each
                yield from filter(None, map(_first, room.small(file).splitlines()))
        if place != admin and (oid := _first(small(place / "HEAD"))):
            yield oid


def _first(line: bytes) -> str:
    """The object that a line begins with, "" for none and for git's own word for none."""
    match = _FIRST.match(line)
    oid = match[1].decode() if match else ""
    return "" if _ZERO.fullmatch(oid) else oid


def _below(place: Path, name: str) -> list[Path]:
    walk = os.walk(place / name) if is_folder(place / name) else iter(())
    paths = (Path(folder, file) for folder, _, files in walk for file in files)
    return list(islice((path for path in paths if not path.name.endswith(".lock")), _FILES))


def _files(folder: Path) -> list[Path]:
    if not is_folder(folder):
        return []
    try:
        with os.scandir(folder) as entries:
            files = [Path(entry) for entry in entries if entry.is_file(follow_symlinks=False)]
    except OSError:
        return []
    return files[:_FILES]


def is_folder(path: Path) -> bool:
    """Whether it is one itself: an agent may have put a link there that leads out of its lane."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False

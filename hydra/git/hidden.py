"""Work that an agent left in its repository but not in its worktree: stashes, other branches.

The refs are read as plain files, by no git that would take the agent's configuration with it.
The objects come over through `index-pack`, which names every object by what it holds: an object
that lies under a false name cannot take the place of one of the user's.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hydra.git.runner import GitFailed, object_path, run

_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"refs/(?:stash|stash-\d+|heads/[\w][\w./+-]*)", re.ASCII)
_MOST = 50
"""Refs that are looked at."""

_FILE_LIMIT = 1024 * 1024
_LIMIT = 20.0
"""Seconds for one git command that reads objects an agent could have written."""


class Kept(NamedTuple):
    """A sentence for each stash or branch, and how many of them are in the lane's repository
    alone, which must stay for that."""

    notes: tuple[str, ...]
    left_behind: int


def keep(patches: Path, git_dir: Path, base: str, *, name: str, most: int) -> Kept:
    """Brings stashes and other branches into patches.git as refs/left/NAME/...; says which.

    `name` is LANE/ATTEMPT; `most` bounds the bytes that one of them may bring. Never raises for
    what an agent did: what cannot be brought over is named, and counted.
    """
    notes = []
    left_behind = 0
    current = {_small(head).strip() for head in git_dir.glob("worktrees/*/HEAD")}
    others = [
        (ref, oid)
        for ref, oid in _refs(git_dir)
        if b"ref: " + ref.encode() not in current and oid != base
    ]
    for ref, oid in others[:_MOST]:
        short = ref.removeprefix("refs/").removeprefix("heads/")
        kept = f"refs/left/{name}/{short}"
        try:
            size = _size(patches, git_dir, oid, base)
            if size == 0:
                continue
            if size > most:
                notes.append(f"{short} holds work that is too large to keep: {size / 1e6:.0f} MB")
                left_behind += 1
                continue
            _bring(patches, git_dir, oid, base, kept)
        except GitFailed as failed:
            notes.append(f"{short} holds work that could not be kept: {failed.message}")
            left_behind += 1
        else:
            notes.append(f"{short} holds work that is not in the worktree: kept as {kept}")
    if more := len(others[_MOST:]):
        notes.append(f"{more} more branches and stashes were not looked at")
    return Kept(tuple(notes), left_behind + more)


def _bring(patches: Path, git_dir: Path, oid: str, base: str, ref: str) -> None:
    pack = run(
        *("pack-objects", "--revs", "--stdout", "--quiet"),
        git_dir=patches,
        isolated=True,
        stdin=f"{oid}\n^{base}\n".encode(),
        extra_env=_also(git_dir),
        timeout=_LIMIT,
    ).stdout
    run(
        "index-pack",
        "--strict",
        "--stdin",
        git_dir=patches,
        isolated=True,
        stdin=pack,
        timeout=_LIMIT,
    )
    # Whole without the agent's objects, or it is not kept.
    run("rev-list", "--objects", "--quiet", oid, f"^{base}", git_dir=patches, isolated=True)
    run("update-ref", "--no-deref", ref, oid, git_dir=patches, isolated=True)


def _size(patches: Path, git_dir: Path, oid: str, base: str) -> int:
    told = run(
        *("rev-list", "--objects", "--disk-usage", oid, f"^{base}"),
        git_dir=patches,
        isolated=True,
        extra_env=_also(git_dir),
        timeout=_LIMIT,
    )
    return int(told.line)


def _also(git_dir: Path) -> dict[str, str]:
    return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": object_path(git_dir / "objects")}


def _refs(git_dir: Path) -> Iterator[tuple[str, str]]:
    found: dict[str, str] = {}
    for line in _small(git_dir / "packed-refs").decode("utf-8", "replace").splitlines():
        oid, _, ref = line.partition(" ")
        found[ref] = oid
    for ref in ("refs/stash", *_loose(git_dir, "refs/heads")):
        oid = _small(git_dir / ref).decode("ascii", "replace").strip()
        if oid:
            found[ref] = oid
    for number, oid in enumerate(_older_stashes(git_dir), 1):
        found[f"refs/stash-{number}"] = oid
    for ref, oid in sorted(found.items()):
        if _REF.fullmatch(ref) and _OID.fullmatch(oid):
            yield ref, oid


def _older_stashes(git_dir: Path) -> list[str]:
    """`stash@{1}` and on live in the reflog alone, the newest at its end."""
    lines = _small(git_dir / "logs" / "refs" / "stash").decode("utf-8", "replace").splitlines()
    return [line.split(" ")[1] for line in reversed(lines[:-1]) if line.count(" ") > 1]


def _loose(git_dir: Path, under: str) -> Iterator[str]:
    for folder, _, files in os.walk(git_dir / under):
        here = Path(folder).relative_to(git_dir)
        yield from (str(here / file) for file in files if not file.endswith(".lock"))


def _small(path: Path) -> bytes:
    """A small regular file's bytes, else none: an agent may have put a FIFO or a link there."""
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > _FILE_LIMIT:
            return b""
        return path.read_bytes()
    except OSError:
        return b""

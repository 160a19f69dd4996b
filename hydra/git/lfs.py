"""The files that Git LFS keeps beside a repository's objects: a pointer in a tree names each of
them by its digest."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path
from threading import get_ident
from typing import BinaryIO

from hydra.containment import EscapeError, entry_below
from hydra.git.repository import Repository
from hydra.git.runner import run, split

_POINTER = re.compile(
    rb"version https://(?:git-lfs|hawser)\.github\.com/spec/v1\n"
    rb"(?:.*\n)*?oid sha256:([0-9a-f]{64})\n"
)

_POINTER_BYTES = 1024
"""An LFS pointer is smaller than this, as LFS's own specification says."""

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def place_of(digest: str) -> Path:
    """Where a file lies in an LFS folder."""
    return Path("objects", digest[:2], digest[2:4], digest)


def storage(repo: Repository) -> Path:
    """The user's own LFS folder."""
    return repo.common_dir / (repo.config.get("lfs.storage") or "lfs")


def pointed(git_dir: Path, objects: Iterable[str]) -> list[str]:
    """The digests that those of these objects name which are pointers. Raises `GitFailed`."""
    return list(dict.fromkeys(_digests(git_dir, objects).values()))


def pointers(git_dir: Path, commit: str) -> dict[bytes, str]:
    """The files at a commit that are pointers, each with the digest that it names. Raises
    `GitFailed`."""
    listed = split(run("ls-tree", "-r", "-z", commit, git_dir=git_dir, isolated=True).stdout)
    entries = (entry.partition(b"\t") for entry in listed if entry.startswith(b"100"))
    objects = {path: facts.split(b" ")[2].decode() for facts, _, path in entries}
    digests = _digests(git_dir, objects.values())
    return {path: digests[oid] for path, oid in objects.items() if oid in digests}


def _digests(git_dir: Path, objects: Iterable[str]) -> dict[str, str]:
    """The objects that are pointers, each with the digest that it names."""
    form = "--batch-check=%(objectsize) %(objecttype) %(objectname)"
    facts = (line.split(b" ") for line in _cat_files(git_dir, form, objects).splitlines())
    blobs = ((size, oid) for size, kind, oid in filter(_is_told, facts) if kind == b"blob")
    small = [oid.decode() for size, oid in blobs if int(size) < _POINTER_BYTES]
    digests: dict[str, str] = {}
    at = 0
    text = _cat_files(git_dir, "--batch", small)
    while at < len(text):
        end = text.index(b"\n", at)
        oid, _, size = text[at:end].split(b" ")
        at = end + 1 + int(size) + 1
        if match := _POINTER.match(text, end + 1, at):
            digests[oid.decode()] = match[1].decode()
    return digests


def _cat_files(git_dir: Path, form: str, objects: Iterable[str]) -> bytes:
    stdin = "".join(f"{oid}\n" for oid in objects).encode()
    return run("cat-file", form, git_dir=git_dir, isolated=True, stdin=stdin).stdout


def _is_told(facts: list[bytes]) -> bool:
    return facts[-1] != b"missing"


def copy(git_dir: Path, folder: str, digest: str, target: Path, most: int = 1 << 62) -> bool:
    """Copies one file out of the LFS `folder` of a gitdir into the LFS folder `target`; whether it
    is there now. Nothing else than the bytes of that digest is ever put there, and no more than
    `most` of them: an agent may have written that folder. Raises `OSError`."""
    place = target / place_of(digest)
    if place.exists():
        return True
    try:
        with entry_below(git_dir, Path(folder, place_of(digest))) as entry:
            source = os.open(entry.name, _READ, dir_fd=entry.folder)
    except (EscapeError, FileNotFoundError):
        return False
    with os.fdopen(source, "rb") as file:
        facts = os.fstat(source)
        fits = stat.S_ISREG(facts.st_mode) and facts.st_size <= most
        return fits and _put(file, digest, place)


def _put(file: BinaryIO, digest: str, place: Path) -> bool:
    place.parent.mkdir(parents=True, exist_ok=True)
    half = place.with_name(f"{digest}.{os.getpid()}-{get_ident()}.hydra")
    sha = hashlib.sha256()
    try:
        with half.open("wb") as out:
            while part := file.read(1 << 20):
                sha.update(part)
                out.write(part)
        if sha.hexdigest() == digest:
            half.replace(place)
        return sha.hexdigest() == digest
    finally:
        half.unlink(missing_ok=True)

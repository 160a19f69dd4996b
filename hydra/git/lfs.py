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

from hydra.containment import EscapeError, entry_below, read_regular
from hydra.git.contents import contents, files, sizes
from hydra.git.repository import Repository

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
    """The digests that those of these objects name which are pointers. Raises `GitError`."""
    return list(dict.fromkeys(_digests(git_dir, objects).values()))


def pointers(git_dir: Path, commit: str) -> dict[bytes, str]:
    """The files at a commit that are pointers, each with the digest that it names. Raises
    `GitError`."""
    objects = files(git_dir, commit)
    digests = _digests(git_dir, objects.values())
    return {path: digests[oid] for path, oid in objects.items() if oid in digests}


def _digests(git_dir: Path, objects: Iterable[str]) -> dict[str, str]:
    """The objects that are pointers, each with the digest that it names."""
    facts = sizes(git_dir, objects, check=True)
    small = [oid for oid, size in facts.items() if size < _POINTER_BYTES]
    texts = contents(git_dir, small, check=True)
    matches = ((oid, _POINTER.match(text)) for oid, text in texts.items())
    return {oid: match[1].decode() for oid, match in matches if match}


def is_pointer(file: Path) -> bool:
    """Whether what stands there is a pointer itself."""
    text = read_regular(file, _POINTER_BYTES)
    return text is not None and _POINTER.match(text) is not None


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

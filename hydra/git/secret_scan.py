"""Which files of a patch hold something that was not in them before: a secret, above all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from hydra.git.runner import GitError, run, split
from hydra.git.tree_scan import first_paths

MOST = 32 * 1024 * 1024
"""Bytes of a patch that are looked through, the small files first."""

_NO_FILE = (b"000000", b"160000")


Count = Callable[[bytes], int]
"""How many secrets stand in some bytes."""


def noted(patches: Path, base: str, commit: str, count: Count | None) -> tuple[str, ...]:
    """A sentence that names the files of a patch with a secret that was not there before."""
    if count is None or commit == base:
        return ()
    try:
        contents = holding(patches, base, commit, count)
    except GitError as failed:
        return (f"not looked through for secrets: {failed.message}",)
    return (f"holds what looks like a secret: {first_paths(contents)}",) if contents else ()


def holding(patches: Path, base: str, commit: str, count: Count) -> list[bytes]:
    """The paths in which `count` finds more at `commit` than at `base`, of the first 32 MiB.

    The patch stays as it is. Raises `GitFailed`.
    """
    changed = list(_changed(patches, base, commit))
    new = _contents(patches, [oid for _, _, oid in changed])
    rows = [(path, old, count(new[oid])) for path, old, oid in changed if oid in new]
    hits = [hit for hit in rows if hit[2]]
    before = _contents(patches, [old for _, old, _ in hits if old])
    return [path for path, old, position in hits if position > count(before.get(old, b""))]


def _changed(patches: Path, base: str, commit: str) -> Iterator[tuple[bytes, str, str]]:
    """Path, the old blob ("" where there was none) and the new one."""
    terms = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--diff-filter=AMT", base, commit)
    fields = split(run(*terms, "--", git_dir=patches, isolated=True, timeout=300).stdout)
    for output, path in zip(fields[::2], fields[1::2], strict=True):
        old_mode, mode, old, new = output.removeprefix(b":").split(b" ")[:4]
        if mode not in _NO_FILE:
            yield path, "" if old_mode in _NO_FILE else old.decode(), new.decode()


def _contents(patches: Path, oids: Sequence[str]) -> dict[str, bytes]:
    """Blobs by name, as many as 32 MiB hold."""
    if not oids:
        return {}
    remaining, names = MOST, []
    for size, oid in sorted(_sizes(patches, set(oids))):
        remaining -= size
        if remaining < 0:
            break
        names.append(oid)
    output = _batch(patches, "--batch", names)
    contents: dict[str, bytes] = {}
    at = 0
    for oid in names:
        end = output.index(b"\n", at)
        size = int(output[at:end].split(b" ")[2])
        contents[oid] = output[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
    return contents


def _sizes(patches: Path, oids: set[str]) -> Iterator[tuple[int, str]]:
    for line in _batch(patches, "--batch-check", sorted(oids)).decode().splitlines():
        terms = line.split(" ")
        if len(terms) == 3:  # else it is missing: a partial clone
            yield int(terms[2]), terms[0]


def _batch(patches: Path, how: str, oids: Sequence[str]) -> bytes:
    stdin = "".join(f"{oid}\n" for oid in oids).encode()
    terms = ("cat-file", how)
    return run(*terms, git_dir=patches, isolated=True, stdin=stdin, timeout=300).stdout

"""Which files of a patch hold something that was not in them before: a secret, above all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from pathlib import Path

from hydra.git.contents import contents, sizes
from hydra.git.diff import MODULE, TreeEntry, changes
from hydra.git.runner import GitError
from hydra.git.tree_scan import first_paths

MOST = 32 * 1024 * 1024
"""Bytes of a patch that are looked through, the small files first."""

Count = Callable[[bytes], int]
"""How many secrets stand in some bytes."""


def noted(patches: Path, base: str, commit: str, count: Count | None) -> tuple[str, ...]:
    """A sentence that names the files of a patch with a secret that was not there before."""
    if count is None or commit == base:
        return ()
    try:
        paths = holding(patches, base, commit, count)
    except GitError as failed:
        return (f"not looked through for secrets: {failed.message}",)
    return (f"holds what looks like a secret: {first_paths(paths)}",) if paths else ()


def holding(patches: Path, base: str, commit: str, count: Count) -> list[bytes]:
    """The paths in which `count` finds more at `commit` than at `base`, of the first 32 MiB.

    The patch stays as it is. Raises `GitError`.
    """
    changed = [(c.path, _blob(c.old), _blob(c.new)) for c in changes(patches, base, commit)]
    new = _smallest(patches, (oid for _, _, oid in changed))
    hits = [(path, old, count(new[oid])) for path, old, oid in changed if oid in new]
    before = _smallest(patches, (old for _, old, number in hits if number))
    return [path for path, old, number in hits if number > count(before.get(old, b""))]


def _blob(entry: TreeEntry | None) -> str:
    return "" if entry is None or entry.mode == MODULE else entry.oid


def _smallest(patches: Path, oids: Iterable[str]) -> dict[str, bytes]:
    """As many of these blobs as 32 MiB hold, by name."""
    remaining, names = MOST, []
    facts = sizes(patches, filter(None, oids), check=True)
    for oid, size in sorted(facts.items(), key=itemgetter(1)):
        remaining -= size
        if remaining < 0:
            break
        names.append(oid)
    return contents(patches, names, check=True)

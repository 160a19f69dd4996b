"""What is known of a patch's files for `hydra.analysis.notices`: names, modes and sizes, and the
few contents that say something. Nothing is checked out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hydra.analysis.notices.manifests import MOST_BYTES, is_manifest
from hydra.analysis.notices.places import TouchedPath
from hydra.git.contents import contents, listed, sizes
from hydra.git.diff import LINK, MODULE, TreeChange, TreeEntry
from hydra.git.patches import Stat

_LINK_BYTES = 4096

_NOTHING = TreeEntry("", "")

_READ = 200
"""Contents read of one patch, at most."""


def touched(git_dir: Path, old: str, new: str) -> tuple[list[Stat], tuple[TouchedPath, ...]]:
    """The lines of each changed file (`patches.numstat`), and what is known of it.

    Two git commands, and one more where a manifest or a symlink is touched. What an object that is
    missing (a partial clone) would say is left out. Raises `GitFailed`.
    """
    if old == new:
        return [], ()
    changes, stats = listed(git_dir, old, new)
    binary = {path for path, added, _ in stats if added is None}
    values = sizes(git_dir, (entry.oid for change in changes for entry in _blobs(change)))
    texts = contents(git_dir, list(_needed(changes, values))[:_READ])
    return stats, tuple(_fact(change, binary, values, texts) for change in changes)


def _blobs(change: TreeChange) -> Iterator[TreeEntry]:
    if change.new is not None and change.new.mode != MODULE:
        yield change.new
    if change.old is not None and change.old.mode.startswith("100") and is_manifest(change.path):
        yield change.old


def _needed(changes: Sequence[TreeChange], sizes: Mapping[str, int]) -> Iterator[str]:
    """What is read: where a symlink points, and a manifest before and after."""
    for change in changes:
        link = change.new is not None and change.new.mode == LINK
        most = _LINK_BYTES if link else MOST_BYTES
        if link or is_manifest(change.path):
            for entry in _blobs(change):
                if sizes.get(entry.oid, most + 1) <= most:
                    yield entry.oid


def _fact(
    change: TreeChange, binary: set[bytes], sizes: Mapping[str, int], texts: Mapping[str, bytes]
) -> TouchedPath:
    old, new = change.old or _NOTHING, change.new or _NOTHING
    return TouchedPath(
        path=change.path,
        old_mode=old.mode,
        new_mode=new.mode,
        old_oid=old.oid,
        new_oid=new.oid,
        binary=change.path in binary and new.mode.startswith("100"),
        size=sizes.get(new.oid),
        old=texts.get(old.oid),
        new=texts.get(new.oid),
    )

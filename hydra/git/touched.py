"""What is known of a patch's files for `hydra.remarks`: names, modes and sizes, and the few
contents that say something. Nothing is checked out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hydra.git.changes import LINK, MODULE, Change, Entry
from hydra.git.contents import contents, listed, sizes
from hydra.git.patches import Stat
from hydra.remarks import Touched, is_manifest
from hydra.remarks.manifests import MOST_BYTES

_LINK_BYTES = 4096

_NOTHING = Entry("", "")

_READ = 200
"""Contents read of one patch, at most."""


def touched(git_dir: Path, old: str, new: str) -> tuple[list[Stat], tuple[Touched, ...]]:
    """The lines of each changed file (`patches.numstat`), and what is known of it.

    Two git commands, and one more where a manifest or a symlink is touched. What an object that is
    missing (a partial clone) would say is left out. Raises `GitFailed`.
    """
    if old == new:
        return [], ()
    found, stats = listed(git_dir, old, new)
    binary = {path for path, added, _ in stats if added is None}
    known = sizes(git_dir, (entry.oid for change in found for entry in _blobs(change)))
    texts = contents(git_dir, list(_wanted(found, known))[:_READ])
    return stats, tuple(_fact(change, binary, known, texts) for change in found)


def _blobs(change: Change) -> Iterator[Entry]:
    if change.new is not None and change.new.mode != MODULE:
        yield change.new
    if change.old is not None and change.old.mode.startswith("100") and is_manifest(change.path):
        yield change.old


def _wanted(found: Sequence[Change], sizes: Mapping[str, int]) -> Iterator[str]:
    """What is read: where a symlink points, and a manifest before and after."""
    for change in found:
        link = change.new is not None and change.new.mode == LINK
        most = _LINK_BYTES if link else MOST_BYTES
        if link or is_manifest(change.path):
            for entry in _blobs(change):
                if sizes.get(entry.oid, most + 1) <= most:
                    yield entry.oid


def _fact(
    change: Change, binary: set[bytes], sizes: Mapping[str, int], texts: Mapping[str, bytes]
) -> Touched:
    old, new = change.old or _NOTHING, change.new or _NOTHING
    return Touched(
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

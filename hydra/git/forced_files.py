"""What an agent has added although it is ignored: so says its index, or its last commit."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from hydra.git.diff import MODULE, TreeChange
from hydra.git.runner import GitFailed
from hydra.git.snapshot_state import SnapshotSession
from hydra.git.sources import LaneRepository, committed, indexed, staged
from hydra.git.tips import read_tips
from hydra.git.tree_scan import first_paths, shown


def forced(session: SnapshotSession, others: Collection[bytes]) -> list[bytes]:
    """Files of the tree that are new, not among `others` (which are not ignored), and added.

    What Hydra has copied in stays out, and is named.
    """
    listed = frozenset(others)
    names = dict.fromkeys(path for source in session.sources for path in _new(session, source))
    paths = [path for path in names if path not in listed and is_plain(session, path)]
    if copies := [path for path in paths if session.excluded(path)]:
        session.notes.append(
            f"added by its agent, not in the patch as copied in: {first_paths(copies)}"
        )
    return [path for path in paths if not session.excluded(path)]


def sparse(session: SnapshotSession) -> frozenset[bytes]:
    """Paths that an agent's own sparse checkout has taken out of its tree: that deletes nothing."""
    for source in session.sources:
        if os.path.isfile(source.admin / "info" / "sparse-checkout"):  # noqa: PTH113
            try:
                return indexed(session.patches, source, session.index.parent, "S")
            except GitFailed as failed:
                _unread(session, failed)
    return frozenset()


def is_plain(session: SnapshotSession, path: bytes) -> bool:
    """Whether a path that an agent has named is a file or a link of the tree itself."""
    parts = path.split(b"/")
    if any(part in (b"", b".", b"..") for part in parts):
        return False
    for n in range(1, len(parts)):
        if _kind(session, b"/".join(parts[:n])) != stat.S_IFDIR:
            return False
    return _kind(session, path) in (stat.S_IFREG, stat.S_IFLNK)


def _kind(session: SnapshotSession, path: bytes) -> int:
    try:
        return stat.S_IFMT(os.lstat(session.full(path)).st_mode)
    except OSError:
        return 0


def _new(session: SnapshotSession, source: LaneRepository) -> Iterator[bytes]:
    try:
        in_index = staged(session.patches, source, session.base, session.index.parent)
        session.staged[source.admin] = in_index
        changes = [*in_index]
        if (head := read_tips(source.git_dir, source.admin).head) not in ("", session.base):
            changes += committed(session.patches, source, session.base, head)
    except GitFailed as failed:
        _unread(session, failed)
        return
    yield from (change.path for change in changes if _is_new(change))


def _is_new(change: TreeChange) -> bool:
    return change.old is None and change.new is not None and change.new.mode != MODULE


def _unread(session: SnapshotSession, failed: GitFailed) -> None:
    session.notes.append(f"what its agent has staged could not be read: {failed.message}")


def inner_names(session: SnapshotSession, source: LaneRepository | None) -> frozenset[bytes]:
    """The paths in the index of a repository inside the tree, from its own top."""
    if source is None:
        return frozenset()
    try:
        return indexed(session.patches, source, Path(session.index.parent))
    except GitFailed:
        session.notes.append(f"the index of {shown(source.prefix.encode())} could not be read")
        return frozenset()

"""The limits of a patch: how many new files, how large one, how large all of them."""

from __future__ import annotations

import os
import stat
from collections import Counter

from hydra.git.runner import join
from hydra.git.snapshot_state import SnapshotSession
from hydra.git.tree_scan import open_file, refused_name, shown


def within_count(session: SnapshotSession, others: list[bytes]) -> list[bytes]:
    """Drops whole folders of untracked files, the fullest first, until the limit holds."""
    limit = session.limits.patch_untracked
    while len(others) > limit:
        folder, inside = _fullest(others, len(others) - limit)
        session.lost.append(
            f"{len(inside)} untracked files in {shown(folder) or 'the top folder'} are over the "
            f"limit of {limit} and stay in the worktree"
        )
        others = [path for path in others if path not in inside]
    return others


def _fullest(paths: list[bytes], excess: int) -> tuple[bytes, frozenset[bytes]]:
    """The deepest folder that alone holds the excess (else the fullest at the top), its files."""
    folder, inside = b"", paths
    while True:
        start = len(folder)
        counted = Counter(path[start : path.rfind(b"/") + 1].split(b"/")[0] for path in inside)
        name, count = counted.most_common(1)[0]
        if name == b"":  # the files that lie here outnumber every folder
            return folder, frozenset(path for path in inside if b"/" not in path[start:])
        if folder and count < excess:
            return folder, frozenset(inside)
        folder += name + b"/"
        inside = [path for path in inside if path.startswith(folder)]


def within_size(session: SnapshotSession, paths: list[bytes]) -> list[bytes]:
    """Drops files over the limit for one file, and what is over the limit for all."""
    sized = []
    for path in paths:
        full = session.full(path)
        try:
            result = os.lstat(full)
        except OSError:
            sized.append((0, path))  # it went this moment: update-index takes it as gone
            continue
        if stat.S_ISREG(result.st_mode):
            open_file(session.top, path, session.survey)
        sized.append((result.st_size, path))
    sized = _without_large(session, [pair for pair in sized if not _refused(session, pair[1])])
    return _within_total(session, sized)


def _refused(session: SnapshotSession, path: bytes) -> bool:
    if refused_name(path):
        session.left_behind += 1
        session.notes.append(f"not in the patch, git refuses the name: {shown(path)}")
        return True
    return False


def _without_large(
    session: SnapshotSession, sized: list[tuple[int, bytes]]
) -> list[tuple[int, bytes]]:
    limit = session.limits.patch_file_bytes
    large = [path for size, path in sized if size > limit]
    if not large:
        return sized
    contents = frozenset(large) - _filtered(session, large)
    for size, path in sized:
        if path in contents:
            session.left_behind += 1
            session.notes.append(
                f"{shown(path)} ({size / 1e6:.0f} MB) is over the limit of {limit / 1e6:.0f} MB "
                "for one file: it is not in the patch and stays in the worktree"
            )
    return [pair for pair in sized if pair[1] not in contents]


def _filtered(session: SnapshotSession, paths: list[bytes]) -> frozenset[bytes]:
    """Those that a filter of the user's (LFS) replaces by a pointer: their size does not count."""
    contents = session.paths("check-attr", "-z", "--stdin", "filter", stdin=join(paths))
    item = zip(contents[::3], contents[2::3], strict=True)
    return frozenset(
        path
        for path, name in item
        if name not in (b"unspecified", b"unset", b"set")
        and session.git("config", f"filter.{os.fsdecode(name)}.clean", check=False).code == 0
    )


def _within_total(session: SnapshotSession, sized: list[tuple[int, bytes]]) -> list[bytes]:
    limit = session.limits.patch_bytes
    if sum(size for size, _ in sized) <= limit:
        return [path for _, path in sized]
    contents, total = [], 0
    for size, path in sorted(sized):
        if total + size <= limit:
            contents.append(path)
            total += size
    session.lost.append(
        f"the patch is over the limit of {limit / 1e6:.0f} MB: {len(sized) - len(contents)} of "
        f"{len(sized)} files, the largest, stay in the worktree"
    )
    return contents

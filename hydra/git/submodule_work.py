"""What an agent did in the files of a submodule: the link stays, its work is a tree of its own.

A submodule's files cannot land as files: the user has a repository of its own in that place.
"""

from __future__ import annotations

import dataclasses
import os
import stat
from collections.abc import Collection, Iterator

from hydra.git.diff import links_in
from hydra.git.forced_files import inner_names
from hydra.git.index import take, tracked
from hydra.git.nested_repos import (
    SubmoduleCheck,
    gitlinks,
    is_repository,
    source_of,
    unignored,
    worth_taking,
)
from hydra.git.runner import GitFailed, object_path, run
from hydra.git.snapshot_limits import within_size
from hydra.git.snapshot_state import SnapshotSession
from hydra.git.sources import LaneRepository, SubmoduleWork
from hydra.git.tips import read_tips
from hydra.git.tree_scan import files_under, shown


def changed_submodules(session: SnapshotSession) -> dict[bytes, list[bytes]]:
    """Submodules that are links no more: to the files to take in their place, [] if it is gone.

    One that still has its repository stays a link: to where it was, or to another commit of the
    user's that its agent has checked out; what else was changed in it is for `works`.
    """
    changed: dict[bytes, list[bytes]] = {}
    for path, oid in gitlinks(session).items():
        try:
            mode = os.lstat(session.full(path)).st_mode
        except OSError:
            changed[path] = []
            continue
        if not stat.S_ISDIR(mode):
            changed[path] = [path]
            continue
        files = list(files_under(session.top, path, session.survey))
        if not files or SubmoduleCheck(session).holds(path, oid):
            continue
        if not is_repository(session, path):
            session.notes.append(f"a submodule with changes, taken as files: {shown(path)}")
            changed[path] = worth_taking(session, path, files)
        elif moved := _moved_to(session, path, oid):
            link = f"160000 {moved}\t".encode() + path + b"\0"
            session.git("update-index", "-z", "--index-info", stdin=link)
            session.moved[path] = moved
        else:
            session.submodules[path] = oid
    return changed


def _moved_to(session: SnapshotSession, path: bytes, recorded: str) -> str:
    """The commit of the user's that a submodule's files are now; "" where they are none."""
    source = source_of(session, path)
    if session.lane is None or source is None:
        return ""
    head = read_tips(source.git_dir, source.admin).head
    if head in ("", recorded):
        return ""
    users = session.lane.objects(session.lane.scratch)  # which has none of an agent's
    terms = ("cat-file", "-e", f"{head}^{{commit}}")
    env = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": object_path(users)}
    answer = run(*terms, git_dir=session.patches, isolated=True, extra_env=env, check=False)
    return head if answer.code == 0 and SubmoduleCheck(session).holds(path, head) else ""


def works(session: SnapshotSession) -> Iterator[SubmoduleWork]:
    """What was changed in those that stay links, and in the submodules inside them."""
    for path, oid in session.submodules.items():
        try:
            yield from _works(session, path, oid)
        except GitFailed as failed:
            session.left_behind += 1
            session.notes.append(
                f"changes in the submodule {shown(path)} stay in the worktree: {failed.message}"
            )


def _works(session: SnapshotSession, path: bytes, oid: str) -> Iterator[SubmoduleWork]:
    source = source_of(session, path)
    if source is None:
        session.left_behind += 1
        session.notes.append(f"changes in the submodule {shown(path)} stay in the worktree")
        return
    own = dataclasses.replace(
        session, index=session.index.with_name("submodule"), near=source.objects
    )
    own.index.unlink(missing_ok=True)
    prefix = b"--prefix=" + path + b"/"
    own.git("read-tree", prefix, oid)
    own.git("update-index", "-q", "--ignore-submodules", "--refresh", check=False)
    gone, present = tracked(own)
    inner = links_in(own.git("ls-files", "--stage", "-z").stdout)
    take(own, gone=gone, present=within_size(own, [*present, *_new(own, path, source, inner)]))
    tree = own.git("write-tree", "--missing-ok", prefix).line
    session.left_behind = own.left_behind
    if tree != own.git("rev-parse", f"{oid}^{{tree}}").line:
        own.keep_new()
        yield SubmoduleWork(path, oid, tree, source)
    for name, recorded in inner.items():
        if is_repository(session, name) and not SubmoduleCheck(session).holds(name, recorded):
            yield from _works(session, name, recorded)


def _new(
    own: SnapshotSession, path: bytes, source: LaneRepository, inner: Collection[bytes]
) -> list[bytes]:
    """Files that its commit has not: those that no rule ignores, or that its agent has added."""
    indexed = frozenset(own.paths("ls-files", "--cached", "-z"))
    below = tuple(name + b"/" for name in inner)
    files = [
        file
        for file in files_under(own.top, path, own.survey)
        if file not in indexed and not file.startswith(below) and not own.excluded(file)
    ]
    added = frozenset(path + b"/" + name for name in inner_names(own, source))
    return [file for file in files if file in added.union(unignored(own, files))]

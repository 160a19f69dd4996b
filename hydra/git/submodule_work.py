"""What an agent did in the files of a submodule: the link stays, its work is a tree of its own.

A submodule's files cannot land as files: the user has a repository of its own in that place.
"""

from __future__ import annotations

import dataclasses
import os
import stat
from collections.abc import Collection
from typing import NamedTuple

from hydra.git.diff import links_in
from hydra.git.forced_files import inner_names
from hydra.git.index import take, tracked
from hydra.git.nested_repos import (
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


class _Work(NamedTuple):
    """What became of a submodule's files: `tree`, as `own` has taken them; "" where that went
    wrong, by `problem`. `is_same`: it is the commit's, and something was left out."""

    path: bytes
    oid: str
    own: SnapshotSession
    source: LaneRepository | None
    tree: str = ""
    is_same: bool = False
    problem: str = ""


def changed_submodules(session: SnapshotSession) -> dict[bytes, list[bytes]]:
    """Submodules that are links no more: to the files to take in their place, [] if it is gone.

    One that still has its repository stays a link: to where it was, or to another commit of the
    user's that its agent has checked out; what else was changed in it goes to `session.works`.
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
        if not files or not (works := _works(session, path, oid)):
            continue
        if not is_repository(session, path):
            session.notes.append(f"a submodule with changes, taken as files: {shown(path)}")
            changed[path] = worth_taking(session, {path: files})
        elif moved := _moved_to(session, path, oid):
            link = f"160000 {moved}\t".encode() + path + b"\0"
            session.git("update-index", "-z", "--index-info", stdin=link)
            session.moved[path] = moved
        else:
            for work in works:
                _keep(session, work)
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
    return head if answer.code == 0 and not _works(session, path, head) else ""


def _works(session: SnapshotSession, path: bytes, oid: str) -> list[_Work]:
    """Those of the submodule and of the submodules inside it whose files are not their commit's."""
    source = source_of(session, path)
    lane = session.lane
    near = source.objects if source else lane.objects(lane.scratch) if lane else None
    own = dataclasses.replace(
        session, index=session.index.with_name("submodule"), near=near, left_behind=0
    )
    work = _Work(path, oid, own, source)
    try:
        own.index.unlink(missing_ok=True)
        prefix = b"--prefix=" + path + b"/"
        own.git("read-tree", prefix, oid)
        own.git("update-index", "-q", "--ignore-submodules", "--refresh", check=False)
        gone, present = tracked(own)
        inner = links_in(own.git("ls-files", "--stage", "-z").stdout)
        take(own, gone=gone, present=within_size(own, [*present, *_new(own, path, source, inner)]))
        tree = own.git("write-tree", "--missing-ok", prefix).line
        is_same = tree == own.git("rev-parse", f"{oid}^{{tree}}").line
    except (GitFailed, OSError) as failed:
        return [work._replace(problem=str(failed))]
    works = [] if is_same and not own.left_behind else [work._replace(tree=tree, is_same=is_same)]
    for name, recorded in inner.items():
        if any(files_under(session.top, name, session.survey)):
            works += _works(session, name, recorded)
    return works


def _keep(session: SnapshotSession, work: _Work) -> None:
    """What was changed in one that stays a link, or in a submodule inside it."""
    session.left_behind += work.own.left_behind
    if work.is_same:
        return
    try:
        if work.tree:
            work.own.pack(work.tree, f"{work.oid}^{{tree}}")
    except GitFailed as failed:
        work = work._replace(tree="", problem=failed.message)
    if work.tree and work.source is not None:
        session.works.append(SubmoduleWork(work.path, work.oid, work.tree, work.source))
    else:
        session.left_behind += 1
        why = f": {work.problem}" * bool(work.problem)
        session.notes.append(
            f"changes in the submodule {shown(work.path)} stay in the worktree{why}"
        )


def _new(
    own: SnapshotSession, path: bytes, source: LaneRepository | None, inner: Collection[bytes]
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

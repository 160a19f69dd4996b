"""All work of a lane's agent that is not in its patch: from every repository it could write to."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from msgspec import Struct

from hydra.git.diff import EMPTY_TREE, MODULE, TreeChange, links_in, module_folders, tree_with
from hydra.git.lane_folder import LaneFolder
from hydra.git.patches import commit_tree
from hydra.git.runner import GitFailed, run
from hydra.git.snapshot import Snapshot, collect
from hydra.git.snapshot_state import WorktreeLost, names
from hydra.git.sources import (
    MOVED,
    LaneRepository,
    inner_source,
    module_sources,
    staged,
)
from hydra.git.stranded_work import StrandedReport, WorkKeeper
from hydra.git.tips import admins, is_folder, read_tips, small
from hydra.git.tree_scan import first_paths, shown
from hydra.records.request import Limits

_REPOSITORIES = 50
"""Repositories inside one tree, and linked worktrees of one, that are looked at."""

_GONE = "its agent took its git repository away: commits and stashes that it made there are gone"
_UNSEEN = "its agent took its git repository away, and not all folders could be searched for it"


class LaneSources(Struct, frozen=True, kw_only=True):
    """Where an agent has worked, and what was taken of it.

    `name` is LANE/ATTEMPT, `taken` the patch; `sources` are the lane's own repositories.
    """

    patches: Path
    lane: LaneFolder
    base: str
    taken: Snapshot
    name: str
    limits: Limits
    exclude: tuple[str, ...] = ()
    sources: tuple[LaneRepository, ...] = ()

    @property
    def worktree(self) -> Path:
        """Where its tree lies."""
        return self.lane.mounted.tree


def keep(lane: LaneSources) -> StrandedReport:
    """Brings it into patches.git. Raises `GitKilled`."""
    keeper = WorkKeeper(
        patches=lane.patches,
        base=lane.base,
        tree=lane.taken.tree,
        name=lane.name,
        most=lane.limits.patch_bytes,
        exclude=names(lane.exclude),
    )
    for work in lane.taken.submodules:
        keeper.keep_submodule(work)
    if lane.lane.lent and not any(lane.lane.was_lent(own.git_dir) for own in lane.sources):
        if lane.lane.is_seen():
            keeper.notes.append(_GONE)
        else:
            keeper.leave(_UNSEEN)
    moved = [source for source in lane.sources if source.prefix]
    for source in moved[MOVED:]:
        keeper.leave(f"{source.git_dir} and more that may be its repository were not looked at")
    for source in lane.sources[: len(lane.sources) - len(moved[MOVED:])]:
        keeper.look(source)
        _keep_staged(keeper, lane, source, lane.worktree)
        linked = [admin for admin in admins(source.git_dir) if admin != source.admin]
        for admin in linked[:_REPOSITORIES]:
            _keep_worktree(keeper, lane, source, admin)
        if (more := len(linked) - _REPOSITORIES) > 0:
            keeper.leave(f"{more} more worktrees of its own were not looked at", more)
    inside = _inside(lane)
    for inner in inside[:_REPOSITORIES]:
        keeper.look(inner)
        _keep_staged(keeper, lane, inner, lane.worktree, inner.folder)
    if (more := len(inside) - _REPOSITORIES) > 0:
        keeper.leave(f"{more} more repositories were not looked at", more)
    return keeper.result()


def _inside(lane: LaneSources) -> list[LaneRepository]:
    """The repositories in its tree, and those of submodules whose folders are gone."""
    seen = (
        inner_source(lane.lane, lane.worktree, folder, oids)
        for folder, oids in lane.taken.repositories
    )
    sources = {os.path.realpath(source.git_dir): source for source in seen if source}
    for own in lane.sources:
        tops = (own.git_dir, *admins(own.git_dir))
        if any(is_folder(top / "modules") for top in tops):
            for source in module_sources(lane.lane, own, _base_links(lane)):
                sources.setdefault(os.path.realpath(source.git_dir), source)
    return [*sources.values()]


def _base_links(lane: LaneSources) -> dict[Path, tuple[bytes, str]]:
    arguments = ("ls-tree", "-r", "-z", lane.base)
    links = links_in(run(*arguments, git_dir=lane.patches, isolated=True).stdout)
    folders = module_folders(lane.patches, lane.base, links)
    return {folders[path]: (path, oid) for path, oid in links.items()}


def _keep_staged(
    keeper: WorkKeeper,
    lane: LaneSources,
    source: LaneRepository,
    worktree: Path,
    folder: bytes = b"",
    tree: str = "",
) -> None:
    """What is in an index and in no file: staged by its content alone, deleted or put back since.

    `folder` is where the repository lies in the tree: what it has at its HEAD is not staged. `tree`
    is what was taken of the files of this worktree; "" is the patch's.
    """
    try:
        with tempfile.TemporaryDirectory(dir=lane.patches, prefix="staged-") as name:
            changes = lane.taken.staged.get(source.admin)
            if changes is None:
                against = _head(source, lane.base) if folder else lane.base
                changes = staged(lane.patches, source, against, Path(name))
            entries = {
                folder + change.path: change.new
                for change in changes
                if change.new and _is_in_no_file(keeper, worktree, folder, change, tree)
            }
            if not entries:
                return
            only = tree_with(lane.patches, lane.base, entries, Path(name))
        _keep_tree(keeper, lane, source, only, f"{source.prefix}staged")
    except GitFailed as failed:
        keeper.leave(f"{source.prefix}what is staged could not be kept: {failed.message}")


def _is_in_no_file(
    keeper: WorkKeeper, worktree: Path, folder: bytes, change: TreeChange, tree: str
) -> bool:
    path = folder + change.path
    if change.new and keeper.has(path, change.new):
        return False
    if keeper.is_put_back(path, change.old, tree):
        return True
    if change.new is None or change.new.mode != MODULE:
        return not _is_there(worktree, path)
    if _is_there(worktree, path + b"/.git") and not keeper.has_below(path):
        keeper.leave(f"not in the patch, a repository in an ignored folder: {shown(path)}")
    return False


def _head(source: LaneRepository, base: str) -> str:
    return read_tips(source.git_dir, source.admin).head or EMPTY_TREE[len(base)]


def _keep_worktree(
    keeper: WorkKeeper, lane: LaneSources, source: LaneRepository, admin: Path
) -> None:
    """The files of one more worktree that the agent has made; staged ones, where it is gone."""
    short = f"{source.prefix}worktrees/{admin.name}"
    dot = lane.lane.mounted.named(admin, small(admin / "gitdir"))
    worktree = dot.parent
    closed = lane.lane.open(worktree).closed
    if _is_in_tree(lane, worktree):
        return
    linked = LaneRepository(source.git_dir, admin, source.objects, f"{short}/")
    if lane.lane.has_settings(worktree):
        keeper.leave(f"{short} was not looked at: it is where its agent has its sign-in")
        return
    is_named = dot.name == ".git" and lane.lane.owns(worktree)
    if not (is_named and os.path.isdir(worktree)):  # noqa: PTH112
        if closed:
            keeper.leave(f"{short} may hold its work, and cannot be read: {first_paths(closed)}")
        _keep_staged(keeper, lane, linked, lane.worktree / "\0")
        return
    try:
        with tempfile.TemporaryDirectory(dir=lane.patches, prefix="linked-") as name:
            taken = collect(
                patches=lane.patches,
                worktree=worktree,
                base=lane.base,
                index=Path(name, "index"),
                exclude=lane.exclude,
                limits=lane.limits,
                lane=lane.lane,
                sources=(linked,),
            )
    except WorktreeLost:
        return
    if taken.incomplete or taken.left_behind:
        keeper.leave(f"{short} has files that could not all be taken: {worktree}")
    _keep_tree(keeper, lane, source, taken.tree, f"{short}/files")
    _keep_staged(keeper, lane, linked, worktree, tree=taken.tree)


def _is_in_tree(lane: LaneSources, worktree: Path) -> bool:
    """Whether it was taken as files of the lane's own tree: one in .git, or in a folder that is
    ignored, was not."""
    top, real = os.path.realpath(lane.worktree), Path(os.path.realpath(worktree))
    if not real.is_relative_to(top):
        return False
    folder = os.fsencode(real.relative_to(top))
    return folder == b"." or any(path.rstrip(b"/") == folder for path, _ in lane.taken.repositories)


def _keep_tree(
    keeper: WorkKeeper, lane: LaneSources, source: LaneRepository, tree: str, short: str
) -> None:
    message = "Left by its agent, and in no worktree\n"
    commit = commit_tree(lane.patches, tree=tree, base=lane.base, message=message)
    if commit != lane.base and keeper.is_new(source, commit):
        keeper.bring(source, commit, short)


def _is_there(worktree: Path, path: bytes) -> bool:
    try:
        os.lstat(os.fsencode(worktree) + b"/" + path)
    except (OSError, ValueError):
        return False
    return True

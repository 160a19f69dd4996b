"""The repositories that an agent could write to, and what their indexes and commits name.

git reads a copy of an index, or objects, with a gitdir of Hydra's own; nothing of an agent's
configuration has a part in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from msgspec import Struct

from hydra.git.diff import TreeChange, read_raw
from hydra.git.lane_folder import LaneFolder, MountedTree
from hydra.git.runner import Result, object_path, run, split
from hydra.git.tips import admins, is_folder, small
from hydra.git.tree_scan import Survey

LIMIT = 20.0
"""Seconds for one git command that reads what an agent could have written."""

MOVED = 50
"""Repositories that were moved away in a lane, or look so, that are looked at."""

_FOLDERS = 5000
"""Folders that are walked through for submodules' repositories."""

_GITFILE_LIMIT = 4096
_INDEX_BYTES = 512 * 1024 * 1024
_INDEX = ("diff-index", "--cached", "-z", "--raw", "--no-renames", "--no-abbrev")
_TREES = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--end-of-options")


class LaneRepository(Struct, frozen=True):
    """A repository that the agent could write to. `admin` is where the HEAD of its worktree lies,
    `objects` the name by which git is to have its objects (`LaneFolder.objects`).

    `prefix` stands before the names of what is found, `folder` before its paths; `settled` are
    commits that are nobody's work; `handed` the refs that it was made with; `nested` one that is
    not the lane's own. `opened` and `closed` are what its agent had closed in it, made readable
    and not to be read at all.
    """

    git_dir: Path
    admin: Path
    objects: Path
    prefix: str = ""
    folder: bytes = b""
    settled: tuple[str, ...] = ()
    handed: frozenset[tuple[str, str]] = frozenset()
    nested: bool = False
    opened: tuple[bytes, ...] = ()
    closed: tuple[bytes, ...] = ()


class SubmoduleWork(Struct, frozen=True):
    """`tree` is what the files of the submodule at `path` are, as against its commit `recorded`."""

    path: bytes
    recorded: str
    tree: str
    source: LaneRepository


def lane_sources(
    lane: LaneFolder, handed: frozenset[tuple[str, str]] = frozenset()
) -> tuple[LaneRepository, ...]:
    """The repository of the lane's tree, if it is one of this lane alone; where its agent has put
    another in the place of the one that it was made with, that too, wherever it lies; of many that
    may be it `MOVED`, and one more."""
    own = _own(lane, handed)
    if own and lane.was_lent(own.git_dir):
        return (own,)
    others = [*islice(filter(lane.was_lent, lane.repositories()), MOVED + 1)]
    moved = (_with(lane, place, handed, lane.open(place), "moved/") for place in others)
    return (*((own,) if own else ()), *moved)


def _own(lane: LaneFolder, handed: frozenset[tuple[str, str]]) -> LaneRepository | None:
    dot = lane.mounted.tree / ".git"
    scan = lane.open(dot)
    admin = inner_git_dir(lane.mounted.tree, lane.mounted)
    if admin != dot:  # its agent has moved it
        scan = lane.open(admin)
    whole = lane.owns(admin) and lane.holds(admin)
    return _with(lane, admin, handed, scan) if whole else None


def _with(
    lane: LaneFolder,
    git_dir: Path,
    handed: frozenset[tuple[str, str]],
    scan: Survey,
    prefix: str = "",
) -> LaneRepository:
    return LaneRepository(
        git_dir,
        git_dir,
        lane.objects(git_dir / "objects"),
        prefix,
        handed=handed,
        opened=tuple(scan.opened),
        closed=tuple(scan.closed),
    )


def inner_source(
    lane: LaneFolder, worktree: Path, folder: bytes, settled: tuple[str, ...] = ()
) -> LaneRepository | None:
    """The repository in a folder of a tree; None where it is none, or not of this lane alone."""
    path = Path(os.fsdecode(os.fsencode(worktree) + b"/" + folder))
    return _nested(lane, inner_git_dir(path, lane.mounted), folder, settled)


def module_sources(
    lane: LaneFolder, own: LaneRepository, base_links: Mapping[Path, tuple[bytes, str]]
) -> Iterator[LaneRepository]:
    """The submodules' repositories that lie in the lane's own, whatever became of their folders;
    `base_links` are the paths and commits that the base names, by where git keeps each."""
    for top in (own.git_dir, *admins(own.git_dir)):
        walk = os.walk(top / "modules") if is_folder(top / "modules") else ()
        for place, folders, _ in islice(walk, _FOLDERS):
            if "objects" in folders:
                folders[:] = [name for name in folders if name == "modules"]
                below = Path(os.path.relpath(place, top))
                path, *commits = base_links.get(below, (os.fsencode(below.relative_to("modules")),))
                if source := _nested(lane, Path(place), path, tuple(commits)):
                    yield source


def _nested(
    lane: LaneFolder,
    git_dir: Path,
    folder: bytes = b"",
    settled: tuple[str, ...] = (),
) -> LaneRepository | None:
    scan = lane.open(git_dir)
    if not lane.holds(git_dir):  # nor is the gitdir of a linked worktree: it has no objects
        return None
    top = folder.strip(b"/") + b"/" if folder else b""
    return LaneRepository(
        git_dir,
        git_dir,
        lane.objects(git_dir / "objects"),
        f"nested/{os.fsdecode(top)}",
        top,
        settled,
        nested=True,
        opened=tuple(scan.opened),
        closed=tuple(scan.closed),
    )


def inner_git_dir(folder: Path, mounted: MountedTree | None) -> Path:
    """The gitdir that a folder's .git is, or names; nothing of its configuration is ever read."""
    dot = folder / ".git"
    line = small(dot, _GITFILE_LIMIT)
    if not line:
        return dot
    mounted = mounted or MountedTree(folder, folder)
    return mounted.named(folder, line.removeprefix(b"gitdir:"))


def staged(
    patches: Path, source: LaneRepository, base: str, scratch: Path
) -> tuple[TreeChange, ...]:
    """What an agent's index has against the base. Raises `GitFailed`."""
    return _changes(patches, source, *_INDEX, base, index=_copy(source.admin / "index", scratch))


def indexed(
    patches: Path, source: LaneRepository, scratch: Path, tag: str = ""
) -> frozenset[bytes]:
    """The paths in an agent's index; with `tag` those that `ls-files -t` gives it."""
    if (index := _copy(source.admin / "index", scratch)) is None:
        return frozenset()
    arguments = ("ls-files", "--cached", "-z", *(("-t",) if tag else ()))
    paths = split(_git(patches, source, *arguments, index=index).stdout)
    if not tag:
        return frozenset(paths)
    return frozenset(path[2:] for path in paths if path.startswith(tag.encode() + b" "))


def committed(
    patches: Path, source: LaneRepository, base: str, commit: str
) -> tuple[TreeChange, ...]:
    """What a commit of an agent's has against the base. Raises `GitFailed`."""
    return _changes(patches, source, *_TREES, base, commit)


def objects_of(source: LaneRepository) -> Mapping[str, str]:
    """The environment in which git sees its objects too."""
    return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": object_path(source.objects)}


def _changes(
    patches: Path, source: LaneRepository, *arguments: str, index: Path | None = None
) -> tuple[TreeChange, ...]:
    if index is None and arguments[0] == _INDEX[0]:
        return ()
    return read_raw(split(_git(patches, source, *arguments, index=index).stdout))


def _git(patches: Path, source: LaneRepository, *arguments: str, index: Path | None) -> Result:
    return run(
        *arguments,
        git_dir=patches,
        index=index,
        isolated=True,
        extra_env=objects_of(source),
        timeout=LIMIT,
    )


def _copy(index: Path, scratch: Path) -> Path | None:
    """A copy of an index, if it is a regular file: an agent may have put a FIFO there."""
    data = small(index, _INDEX_BYTES)
    if not data:
        return None
    copy = scratch / "agents-index"
    copy.write_bytes(data)
    return copy

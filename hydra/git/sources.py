"""The repositories that an agent could write to, and what their indexes and commits name.

git reads a copy of an index, or objects, with a gitdir of Hydra's own; nothing of an agent's
configuration has a part in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import unquote_to_bytes

from hydra.git.diff import TreeChange, read_change
from hydra.git.runner import Result, object_path, run, split
from hydra.git.tips import admins, small

LIMIT = 20.0
"""Seconds for one git command that reads what an agent could have written."""

_FOLDERS = 5000
"""Folders that are walked through for submodules' repositories."""

_GITFILE_LIMIT = 4096
_INDEX_BYTES = 512 * 1024 * 1024
_INDEX = ("diff-index", "--cached", "-z", "--raw", "--no-renames", "--no-abbrev")
_TREES = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--end-of-options")


@dataclass(frozen=True, slots=True)
class LaneRepository:
    """A repository that the agent could write to. `admin` is where the HEAD of its worktree lies.

    `prefix` stands before the names of what is found, `folder` before its paths; `settled` are
    commits that are nobody's work; `handed` the refs that it was made with; `nested` one that is
    not the lane's own.
    """

    git_dir: Path
    admin: Path
    prefix: str = ""
    folder: bytes = b""
    settled: tuple[str, ...] = ()
    handed: frozenset[tuple[str, str]] = frozenset()
    nested: bool = False


@dataclass(frozen=True, slots=True)
class MountedTree:
    """A lane's tree that its commands have at another path, and write that into what git keeps.

    It lies at `tree`; `place` is where they have it, the same where nothing is mounted.
    """

    tree: Path
    place: Path

    def inside(self, path: Path) -> Path:
        """What its commands call `path`."""
        return _moved(path, self.tree, self.place)

    def outside(self, path: Path) -> Path:
        """Where that lies which its commands call `path`."""
        return _moved(path, self.place, self.tree)


def _moved(path: Path, old: Path, new: Path) -> Path:
    return new / path.relative_to(old) if path.is_relative_to(old) else path


def lane_sources(
    git_dir: Path, mounted: MountedTree, handed: frozenset[tuple[str, str]] = frozenset()
) -> tuple[LaneRepository, ...]:
    """The lane's own repository, and the one that an agent has put in its place."""
    admin = _own_admin(git_dir, mounted)
    own = LaneRepository(git_dir, admin, handed=handed)
    other = inner_git_dir(mounted.tree, mounted)
    if _same(other, admin) or not _is_inside(other, git_dir.parent):
        return (own,)
    return (own, LaneRepository(other, other, prefix="replaced/", nested=True))


def inner_source(
    worktree: Path, folder: bytes, path: Path, settled: str, mounted: MountedTree | None
) -> LaneRepository | None:
    """The repository in a folder of the tree; None where it is none, or not of this lane alone."""
    git_dir = inner_git_dir(Path(os.fsdecode(os.fsencode(worktree) + b"/" + folder)), mounted)
    if not _is_inside(git_dir, path):  # nor is the gitdir of a linked worktree: it has no objects
        return None
    return _nested(git_dir, folder, settled)


def module_sources(
    own: LaneRepository, base_links: Mapping[bytes, str]
) -> Iterator[LaneRepository]:
    """The submodules' repositories that lie beside the lane's own, whatever became of their
    folders; `base_links` are the commits that the base names."""
    for top in (own.git_dir, *admins(own.git_dir)):
        walk = os.walk(top / "modules")
        for place, folders, _ in islice(walk, _FOLDERS):
            if "objects" in folders:
                folders[:] = [name for name in folders if name == "modules"]
                name = unquote_to_bytes(os.path.relpath(place, top / "modules"))
                yield _nested(Path(place), name, base_links.get(name, ""))


def _nested(git_dir: Path, folder: bytes, settled: str) -> LaneRepository:
    top = folder.strip(b"/") + b"/"
    commits = (settled,) if settled else ()
    prefix = f"nested/{os.fsdecode(top)}"
    return LaneRepository(git_dir, git_dir, prefix, top, commits, nested=True)


def inner_git_dir(folder: Path, mounted: MountedTree | None) -> Path:
    """The gitdir that a folder's .git is, or names; nothing of its configuration is ever read."""
    dot = folder / ".git"
    line = small(dot, _GITFILE_LIMIT)
    if not line:
        return dot
    named = os.fsdecode(line.removeprefix(b"gitdir:").strip().replace(b"\0", b""))
    if mounted is None:
        return folder / named
    # A relative name, too, leads from where its commands had the folder.
    return mounted.outside(Path(os.path.normpath(mounted.inside(folder) / named)))


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
    return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": object_path(source.git_dir / "objects")}


def _changes(
    patches: Path, source: LaneRepository, *arguments: str, index: Path | None = None
) -> tuple[TreeChange, ...]:
    if index is None and arguments[0] == _INDEX[0]:
        return ()
    fields = split(_git(patches, source, *arguments, index=index).stdout)
    pairs = zip(fields[::2], fields[1::2], strict=True)
    return tuple(read_change(facts, path) for facts, path in pairs)


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


def _own_admin(git_dir: Path, mounted: MountedTree) -> Path:
    """Where the lane's worktree has its HEAD: as that says, else as git names the first one."""
    named = [os.fsencode(top / ".git") for top in (mounted.place, mounted.tree)]
    for admin in admins(git_dir):
        if small(admin / "gitdir", _GITFILE_LIMIT).strip() in named:
            return admin
    return git_dir / "worktrees" / mounted.tree.name


def _same(path: Path, other: Path) -> bool:
    return os.path.realpath(path) == os.path.realpath(other)


def _is_inside(git_dir: Path, path: Path) -> bool:
    """Whether it is a repository, and of this lane: another's is none of Hydra's business."""
    objects = Path(os.path.realpath(git_dir / "objects"))
    return objects.is_dir() and objects.is_relative_to(os.path.realpath(path))

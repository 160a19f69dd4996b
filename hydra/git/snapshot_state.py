"""One collection under way: where it reads and writes, and what it has to say."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hydra.errors import HydraError
from hydra.git.diff import TreeChange
from hydra.git.lane_folder import LaneFolder, MountedTree
from hydra.git.runner import Result, beside, run, split
from hydra.git.sources import LaneRepository, SubmoduleWork
from hydra.git.tree_scan import Survey
from hydra.records.request import Limits

_UNSYNCED = (("core.fsync", "none"),)
"""20,000 files: 1.8 s unsynced against 18.7 s; `keep` syncs one pack afterwards."""

_SYNCED = (("core.fsync", "pack,pack-metadata"), ("pack.window", "0"))

_WHO = ("-c", "user.name=Hydra", "-c", "user.email=hydra@localhost")

_LOOSE = (("core.bigFileThreshold", "1024g"),)
"""Never straight into a pack: `keep` brings what is loose. The user's own threshold would lose all
files above it."""

_TRUE_STAT = (("core.trustctime", "true"), ("core.checkstat", "default"))
"""The collector's own: under the user's laxer words an edit that restores its mtime is missed."""


@dataclass(slots=True)
class SnapshotSession:
    """git with the collector's gitdir, a draft index and the lane's files."""

    patches: Path
    worktree: Path
    index: Path
    base: str
    limits: Limits
    exclude: frozenset[bytes]
    deadline: float
    lane: LaneFolder | None = None
    """Where the lane's repositories lie; None where no agent has been in the tree."""
    sources: tuple[LaneRepository, ...] = ()
    survey: Survey = field(default_factory=Survey)
    notes: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    staged: dict[Path, tuple[TreeChange, ...]] = field(default_factory=dict)
    """What the agent's indexes have against the base, by where each lies."""
    repositories: list[tuple[bytes, tuple[str, ...]]] = field(default_factory=list)
    moved: dict[bytes, str] = field(default_factory=dict)
    """Those that are links to another commit of the user's, each with that commit."""
    works: list[SubmoduleWork] = field(default_factory=list)
    """What was changed in submodules that stay links."""
    near: Path | None = None
    """One more objects folder in which git looks."""
    broken: bool = False
    """Whether something went wrong that may go well another time."""
    left_behind: int = 0
    """Files that are in the worktree alone: too large for a patch, or of a name git refuses."""

    @property
    def top(self) -> bytes:
        """The tree's top as bytes: names in it are bytes, whatever the locale."""
        return os.fsencode(self.worktree)

    @property
    def mounted(self) -> MountedTree | None:
        """Where the lane's commands had its tree."""
        return self.lane.mounted if self.lane else None

    def full(self, path: bytes) -> bytes:
        """Where a path of the tree lies on disk."""
        return self.top + b"/" + path

    def git(
        self,
        *args: str | bytes,
        stdin: bytes = b"",
        check: bool = True,
        work_tree: Path | None = None,
    ) -> Result:
        """One git command within what is left of the collection's time."""
        return run(
            *args,
            git_dir=self.patches,
            work_tree=work_tree or self.worktree,
            index=self.index,
            stdin=stdin,
            check=check,
            isolated=True,
            timeout=max(1.0, self.deadline - time.monotonic()),
            extra_env=self._quarantine(),
            config=(*_TRUE_STAT, *_UNSYNCED, *_LOOSE),
        )

    def paths(self, *args: str | bytes, stdin: bytes = b"") -> list[bytes]:
        """The same, read as `-z` output."""
        return split(self.git(*args, stdin=stdin).stdout)

    def keep(self, tree: str) -> None:
        """Brings all of `tree` that the base has not into patches.git for good, in one pack.

        Until then new objects lie in a folder of this collection's own. Loose objects in
        patches.git would have to be pruned, and git then removes folders that another lane is
        writing to. What the user's repository has too (of another branch, of a stash) git has not
        written: there a `git gc` may take it away.
        """
        if tree != self.git("rev-parse", f"{self.base}^{{tree}}").line:
            # A commit: between two of them git walks but the folders that differ.
            terms = (*_WHO, "commit-tree", "-p", self.base, "-m", "held", tree)
            self.pack(self.git(*terms).line, self.base)

    def pack(self, tip: str, settled: str) -> None:
        """Puts what `tip` leads to and `settled` does not into patches.git, whole and synced."""
        run(
            *("pack-objects", "--revs", "--quiet", self.patches / "objects" / "pack" / "pack"),
            git_dir=self.patches,
            isolated=True,
            stdin=f"{tip}\n^{settled}\n".encode(),
            timeout=600,
            extra_env=self._quarantine(),
            config=_SYNCED,
        )

    @property
    def objects(self) -> Path:
        """Where this collection's new objects lie until they are kept."""
        return self.index.with_name("objects")

    def _quarantine(self) -> dict[str, str]:
        near = (self.patches / "objects", *([self.near] if self.near else ()))
        return beside(self.objects, *near)

    def excluded(self, path: bytes) -> bool:
        """Whether `path` is, or lies under, something Hydra itself copied into the tree."""
        return lies_under(path, self.exclude)


def lies_under(path: bytes, places: frozenset[bytes]) -> bool:
    """Whether `path` is one of `places`, or below one."""
    if not places:
        return False
    parts = path.split(b"/")
    return any(b"/".join(parts[: n + 1]) in places for n in range(len(parts)))


def names(paths: Sequence[str]) -> frozenset[bytes]:
    """Paths from a tree's top as git has them."""
    return frozenset(os.fsencode(path).strip(b"/") for path in paths)


# ---- What is raised where there is no tree to take: apart, for a race begins without the
# collector.


class WorktreeLost(HydraError):
    """The lane's folder is gone, empty, or no folder any more: there is nothing to take."""

    reason = "worktree_lost"

"""Work that an agent left in its repositories and not in its worktree, brought into patches.git.

Stashes, other branches, tags and any other refs; commits that only a reflog, a rebase or a
detached HEAD names; what is staged and no file; the files of worktrees that it made elsewhere; and
the same of the repositories inside its tree. `tips.py` reads the names, as plain files. The objects
come over through `index-pack`, which names every object by what it holds: one that lies under a
false name cannot take the place of one of the user's.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

from hydra.git import lfs
from hydra.git.diff import EMPTY_TREE, TreeChange, TreeEntry, changes
from hydra.git.patches import WHO
from hydra.git.runner import GitFailed, Result, run
from hydra.git.snapshot_state import lies_under
from hydra.git.sources import LIMIT, LaneRepository, SubmoduleWork, committed, objects_of
from hydra.git.tips import Tips, read_tips
from hydra.git.tree_scan import first_paths, shown

_MOST = 50
"""Refs, and commits that no ref names, that are looked at in one repository."""

_ODD = re.compile(r"[^\w./+-]|\.(?=\.)|(?<![^/])\.|\.(?=lock(?:/|$))|\.(?=/|$)", re.ASCII)
"""What stands in a ref's name of the agent's and is not to stand in one of Hydra's."""


class StrandedReport(NamedTuple):
    """A sentence for each piece of work; how many of them are in the lane's repository alone, which
    must stay for that; and the refs of those that are in patches.git."""

    notes: tuple[str, ...] = ()
    left_behind: int = 0
    refs: tuple[str, ...] = ()


@dataclass
class WorkKeeper:
    """Brings what it finds to refs/left/NAME/..., and says so.

    `name` is LANE/ATTEMPT, `tree` the patch's, `most` bounds the bytes that one piece may bring,
    `exclude` are the paths that are never taken. Never raises for what an agent did: what cannot be
    brought over is named, and counted.
    """

    patches: Path
    base: str
    tree: str
    name: str
    most: int
    exclude: frozenset[bytes] = frozenset()
    notes: list[str] = field(default_factory=list)
    refs: list[str] = field(default_factory=list)
    left_behind: int = 0
    _trees: dict[str, dict[bytes, TreeEntry | None]] = field(default_factory=dict)

    def result(self) -> StrandedReport:
        """All of it."""
        return StrandedReport(tuple(self.notes), self.left_behind, tuple(self.refs))

    def look(self, source: LaneRepository) -> None:
        """Every ref of a repository, then the commits that none of them names."""
        tips = read_tips(source.git_dir, source.admin)
        if source.opened:
            self.notes.append(
                f"made readable to look for its work: {first_paths([*source.opened])}"
            )
        if source.closed:
            self.leave(f"may hold its work, and cannot be read: {first_paths([*source.closed])}")
        if os.path.isdir(source.git_dir / "reftable"):  # noqa: PTH112
            self.leave(f"the refs of {source.prefix or 'its repository'} cannot be read: reftable")
        if not tips.whole:
            self.leave(f"not all reflogs of {source.prefix or 'its repository'} were read")
        settled = self._settled(source, tips)
        named = _named(source, tips, settled)
        nobodys = (*settled, *(self._handed(source) if named else ()))
        for short, oid in named[:_MOST]:
            if not self._is_in_patch(source, oid, tips.head):
                self.bring(source, oid, short, nobodys)
        if (more := len(named) - _MOST) > 0:
            self.leave(f"{more} more refs were not looked at", more)
        try:
            self._unnamed(source, tips, (*settled, *(oid for _, oid in named)))
            if not source.nested or tips.head in tips.commits:  # else as it was filled
                self._head(source, tips.head, settled)
        except GitFailed as failed:
            self.leave(f"the commits of its reflogs could not be looked at: {failed.message}")

    def bring(
        self, source: LaneRepository, oid: str, short: str, settled: Iterable[str] = ()
    ) -> None:
        """One piece of work, if it has anything that `settled` has not."""
        ref = self._ref(short)
        try:
            if settled and not self._size(source, oid, settled):
                return
            size = self._size(source, oid, (self.base,))
            if size > self.most:
                self.leave(f"{short} holds work that is too large to keep: {size / 1e6:.0f} MB")
                return
            self._bring(source, oid, ref)
        except GitFailed as failed:
            self.leave(f"{short} holds work that could not be kept: {failed.message}")
        else:
            self.refs.append(ref)
            self.notes.append(f"{short} holds work that is not in the worktree: kept as {ref}")

    def keep_submodule(self, work: SubmoduleWork) -> None:
        """What was changed in the files of a submodule that stays a link, as a commit on the files
        that it was: one of the user's would bring all their history."""
        source, path = work.source, shown(work.path)
        ref = self._ref(f"{source.prefix}files")
        try:
            tree = self._git(source, "rev-parse", f"{work.recorded}^{{tree}}").line
            first = self._commit(source, "The submodule as it was\n", tree)
            commit = self._commit(source, "What was changed in it\n", "-p", first, work.tree)
            if (size := self._size(source, commit, (self.base,))) > self.most:
                self.leave(f"changes in the submodule {path} are too large: {size / 1e6:.0f} MB")
                return
            self._bring(source, commit, ref)
            taken = self._taken(self.tree)
            taken[work.path] = None
            for change in changes(self.patches, first, commit):
                taken[source.folder + change.path] = change.new
        except GitFailed as failed:
            self.leave(f"changes in the submodule {path} could not be kept: {failed.message}")
        else:
            own = f'git -C "$(git rev-parse --show-cdup)"{shlex.quote(path)}'
            fetch = f"{own} fetch {shlex.quote(str(self.patches))} {shlex.quote(ref)}"
            self.refs.append(ref)
            self.notes.append(
                f"the submodule {path} stays as it was, what was changed in it is kept as {ref}: "
                f"{fetch} && {own} cherry-pick -n FETCH_HEAD"
            )

    def _ref(self, short: str) -> str:
        """One of its own: a branch and a tag may be called alike, or as a folder of others."""
        top, name = f"refs/left/{self.name}/", _ODD.sub(_coded, short)
        names = (f"{top}{number}/{name}" for number in count(2))
        return next(ref for ref in chain((top + name,), names) if not self._is_in_use(ref))

    def _is_in_use(self, ref: str) -> bool:
        folder = f"{ref}/".casefold()  # of some disks two that differ in case are one file
        others = (f"{other}/".casefold() for other in self.refs)
        return any(folder.startswith(other) or other.startswith(folder) for other in others)

    def _commit(self, source: LaneRepository, message: str, *arguments: str) -> str:
        return run(
            *("commit-tree", *arguments),
            git_dir=self.patches,
            isolated=True,
            stdin=message.encode(),
            extra_env={**WHO, **objects_of(source)},
            timeout=LIMIT,
        ).line

    def leave(self, note: str, count: int = 1) -> None:
        """Something stays in the lane alone."""
        self.notes.append(note)
        self.left_behind += count

    def _settled(self, source: LaneRepository, tips: Tips) -> tuple[str, ...]:
        """What is no work of the agent's: the base; what was cloned."""
        if not source.nested:
            return (self.base,)
        cloned = {oid for ref, oid in tips.refs.items() if ref.startswith("refs/remotes/")}
        oids = {*source.settled, *cloned} - {""}
        try:
            return tuple(sorted(self._present(source, oids)))
        except GitFailed:
            return ()

    def _handed(self, source: LaneRepository) -> tuple[str, ...]:
        """What the refs lead to that it was made with: of the user's, and no work of an agent's,
        by whatever other name."""
        try:
            oids = {oid for _, oid in source.handed}
            return tuple(sorted(self._present(source, oids, "commit", "tag"))) if oids else ()
        except GitFailed:
            return ()

    def _unnamed(self, source: LaneRepository, tips: Tips, named: Iterable[str]) -> None:
        """Commits that no ref leads to, but for those below another of them."""
        others = tips.commits - {self.base, tips.head, *named}
        if not others or not (candidates := self._present(source, others)):
            return
        users = {oid for _, oid in source.handed}
        above = self._present(source, {tips.head, *named, *users} - {""}, "commit", "tag")
        text = "".join(
            (*(f"{oid}\n" for oid in sorted(candidates)), *(f"^{oid}\n" for oid in sorted(above)))
        )
        arguments = ("rev-list", "--parents", "--topo-order", "--stdin")
        lines = self._git(source, *arguments, stdin=text).stdout.decode().splitlines()
        below = {oid for line in lines for oid in line.split(" ")[1:]}
        tops = [oid for line in lines if (oid := line.split(" ")[0]) not in below]
        tops = [oid for oid in tops if source.nested or self.is_new(source, oid)]
        for number, oid in enumerate(tops[:_MOST], 1):
            self.bring(source, oid, f"{source.prefix}commit-{number}")
        if more := len(tops[_MOST:]):
            self.leave(f"{more} more commits that no branch holds were not looked at", more)

    def _head(self, source: LaneRepository, head: str, settled: Iterable[str]) -> None:
        """What it stands on, where the worktree has nothing of a file that was committed there."""
        if head in ("", self.base, *settled) or any(head == oid for _, oid in source.handed):
            return
        against = (*source.settled, EMPTY_TREE[len(head)])[0] if source.folder else self.base
        objects = {entry.oid for entry in self._taken(self.tree).values() if entry}
        if any(
            change.new
            and source.folder + change.path not in self._taken(self.tree)
            and change.new.oid not in objects
            and not lies_under(source.folder + change.path, self.exclude)
            for change in committed(self.patches, source, against, head)
        ):
            self.bring(source, head, f"{source.prefix}HEAD", settled if source.nested else ())

    def _is_in_patch(self, source: LaneRepository, oid: str, head: str) -> bool:
        """Whether a branch is one that its agent has gone on from, and the patch has all of it."""
        try:
            is_below = (
                not source.nested
                and oid in self._present(source, {oid})
                and not self._size(source, oid, filter(None, (head,)))
            )
            return is_below and not self.is_new(source, oid)
        except GitFailed:
            return False

    def is_new(self, source: LaneRepository, commit: str) -> bool:
        """Whether a commit changes anything that the patch does not change in the same way."""
        return not self._patch.issuperset(committed(self.patches, source, self.base, commit))

    def is_put_back(self, path: bytes, old: TreeEntry | None, tree: str = "") -> bool:
        """Whether a path is in the patch (or in what was taken of another worktree) just as it was
        before its agent staged something else."""
        return old is not None and self._taken(tree or self.tree).get(path, old) == old

    def has(self, path: bytes, entry: TreeEntry) -> bool:
        """Whether the patch has just that in a place."""
        return self._taken(self.tree).get(path) == entry

    def has_below(self, folder: bytes) -> bool:
        """Whether the patch has anything that lies in a folder."""
        return any(path.startswith(folder + b"/") for path in self._taken(self.tree))

    def _taken(self, tree: str) -> dict[bytes, TreeEntry | None]:
        if tree not in self._trees:
            both = self._patch if tree == self.tree else changes(self.patches, self.base, tree)
            self._trees[tree] = {change.path: change.new for change in both}
        return self._trees[tree]

    @cached_property
    def _patch(self) -> frozenset[TreeChange]:
        return frozenset(changes(self.patches, self.base, self.tree))

    def _present(self, source: LaneRepository, oids: Iterable[str], *kinds: str) -> set[str]:
        """Those that are there, and commits (or of another kind that is named)."""
        stdin = "".join(f"{oid}\n" for oid in sorted(oids))
        listing = self._git(source, "cat-file", "--batch-check", stdin=stdin).stdout.decode()
        facts = (line.split(" ") for line in listing.splitlines())
        return {fact[0] for fact in facts if fact[1] in (kinds or ("commit",))}

    def _size(self, source: LaneRepository, oid: str, settled: Iterable[str]) -> int:
        text = "".join((f"{oid}\n", *(f"^{name}\n" for name in settled)))
        arguments = ("rev-list", "--objects", "--disk-usage", "--stdin")
        return int(self._git(source, *arguments, stdin=text).line)

    def _bring(self, source: LaneRepository, oid: str, ref: str) -> None:
        arguments = ("pack-objects", "--revs", "--stdout", "--quiet")
        packed = self._git(source, *arguments, stdin=f"{oid}\n^{self.base}\n").stdout
        self._own("index-pack", "--strict", "--stdin", stdin=packed)
        # Whole without the agent's objects, or it is not kept.
        below = (oid, f"^{self.base}")
        listed = self._own("rev-list", "--objects", "--no-object-names", *below).stdout
        self._bring_lfs(source, listed.decode().split())
        self._own("update-ref", "--no-deref", ref, oid)

    def _bring_lfs(self, source: LaneRepository, objects: Iterable[str]) -> None:
        """The files of Git LFS that are named in there and lie in the agent's repository alone."""
        if not os.path.isdir(source.git_dir / "lfs" / "objects"):  # noqa: PTH112
            return
        for digest in lfs.pointed(self.patches, objects):
            if not os.path.lexists(source.git_dir / "lfs" / lfs.place_of(digest)):
                continue  # the user's own, of which it has the name alone
            try:
                is_here = lfs.copy(source.git_dir, "lfs", digest, self.patches / "lfs", self.most)
            except OSError:
                is_here = False
            if not is_here:
                self.leave(f"a file of Git LFS stays in its repository alone: {digest}")

    def _own(self, *arguments: str, stdin: bytes = b"") -> Result:
        """git that sees what patches.git sees, and nothing of the agent's."""
        return run(
            *arguments,
            git_dir=self.patches,
            isolated=True,
            stdin=stdin,
            timeout=LIMIT,
            config=(("core.fsync", "pack,pack-metadata,reference"),),
        )

    def _git(self, source: LaneRepository, *arguments: str, stdin: str = "") -> Result:
        return run(
            *arguments,
            git_dir=self.patches,
            isolated=True,
            stdin=stdin.encode(),
            extra_env=objects_of(source),
            timeout=LIMIT,
        )


def _named(source: LaneRepository, tips: Tips, settled: Iterable[str]) -> list[tuple[str, str]]:
    """What each ref is called for a person, and what it names; but those that are no work."""
    is_clone = any(ref.startswith("refs/remotes/") for ref in tips.refs)
    cloned = ("refs/remotes/", "refs/tags/") if is_clone else ("refs/remotes/",)
    return [
        (source.prefix + ref.removeprefix("refs/").removeprefix("heads/"), oid)
        for ref, oid in tips.refs.items()
        if ref != tips.branch and oid not in settled and (ref, oid) not in source.handed
        if not (source.nested and ref.startswith(cloned))
    ]


def _coded(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogateescape"))


def handed(packed_refs: bytes) -> frozenset[tuple[str, str]]:
    """The refs of a packed-refs file."""
    lines = (line.decode("utf-8", "surrogateescape") for line in packed_refs.splitlines())
    pairs = (line.partition(" ") for line in lines)
    return frozenset((ref, oid) for oid, _, ref in pairs if ref.startswith("refs/"))

"""How the user's index and work tree stand to a list of changes; nothing of theirs is written.

git runs with the run's patches.git as its gitdir: what it holds of settings, attributes and
content filters is as the user had them before the race, whatever became of their own since.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from hydra.git.diff import MODULE, TreeEntry
from hydra.git.index import draft
from hydra.git.runner import Result, failure, join, run, split
from hydra.git.snapshot_state import names

TRUE_STAT = (("core.trustctime", "true"), ("core.checkstat", "default"))
"""Under the user's laxer words an edit that puts its mtime back would not be seen."""


FLAGS = ("skip-worktree", "assume-unchanged")
"""What keeps git from looking at a path; writing its entry anew takes them off."""


class IndexEntry(Struct, frozen=True):
    """One path in an index. `stage` is over 0 in a conflict; `skipped` is git's skip-worktree,
    `assumed` its assume-unchanged."""

    entry: TreeEntry
    stage: int = 0
    skipped: bool = False
    assumed: bool = False

    @classmethod
    def read(cls, facts: bytes) -> IndexEntry:
        """`H 100644 <oid> 0`, as ls-files shows it."""
        tag, mode, oid, stage = facts.decode().split(" ")
        return cls(TreeEntry(mode, oid), int(stage), tag.upper() == "S", tag.islower())

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags that a person has set, as `WorkTree.flag` takes them."""
        set_ = (self.skipped, self.assumed)
        return tuple(flag for flag, is_set in zip(FLAGS, set_, strict=True) if is_set)


class WorkTree(Struct, frozen=True):
    """A work tree as git sees it through the patches' own gitdir, with an index of Hydra's."""

    patches: Path
    root: Path
    index: Path
    name_length: int = 40
    """Of an object's name: 64 in a SHA-256 repository."""

    def git(self, *args: str | bytes, stdin: bytes = b"", check: bool = True) -> Result:
        """One git command."""
        return run(
            *args,
            git_dir=self.patches,
            work_tree=self.root,
            index=self.index,
            stdin=stdin,
            check=check,
            isolated=True,
            timeout=600,
            config=TRUE_STAT,
        )

    def entries(self) -> dict[bytes, bytes]:
        """All that the index holds, each to be read by `IndexEntry.read`; of a path in conflict,
        its highest stage."""
        listed = split(self.git("ls-files", "--stage", "-v", "-z").stdout)
        return {path: facts for facts, _, path in (field.partition(b"\t") for field in listed)}

    def set(self, entries: Iterable[tuple[bytes, TreeEntry | None]]) -> None:
        """Puts entries into the index, or takes them out (None), without a look at the tree."""
        lines = [self._info(path, entry) for path, entry in entries]
        # What goes, first: a file may take the place of a folder.
        self.git("update-index", "-z", "--index-info", stdin=b"".join(sorted(lines)))

    def flag(self, flag: str, paths: Sequence[bytes]) -> None:
        """Sets one of `FLAGS`; skip-worktree is also how a sparse checkout leaves paths out."""
        if paths:
            stdin = b"".join(path + b"\0" for path in paths)
            self.git("update-index", "-z", f"--{flag}", "--stdin", stdin=stdin)

    def refresh(self) -> bool:
        """Lets the index know what is unchanged on disk, by content where times do not tell.

        Whether all of it is. Raises `GitError` where that cannot be written: all would then look
        changed.
        """
        terms = ("update-index", "--ignore-submodules", "--refresh")
        result = self.git(*terms, check=False)
        if result.code not in (0, 1):
            raise failure(("git", *terms), result)
        return result.code == 0

    def changed(self) -> dict[bytes, str]:
        """Paths whose file is not as the index has it: `M`, `T` (another kind) or `D` (gone)."""
        raw = split(self.git("diff-files", "--raw", "-z", "--ignore-submodules=all").stdout)
        return {path: chr(facts[-1]) for facts, path in zip(raw[::2], raw[1::2], strict=True)}

    def checkout(self, paths: Sequence[bytes]) -> None:
        """Writes these files of the index into the tree, as git would; none may be there."""
        stdin = b"".join(path + b"\0" for path in paths)
        self.git("checkout-index", "-q", "-z", "--stdin", stdin=stdin)

    def _info(self, path: bytes, entry: TreeEntry | None) -> bytes:
        shown = entry or TreeEntry("0", "0" * self.name_length)
        return f"{shown.mode} {shown.oid}\t".encode() + path + b"\0"


def is_module(entry: TreeEntry | None) -> bool:
    """Whether it is a submodule's commit, which git checks nothing out for."""
    return entry is not None and entry.mode == MODULE


# ---- What a command wrote into a worktree: names alone, nothing is taken.

_TIME_LIMIT = 120.0


def written(
    *, patches: Path, worktree: Path, index: Path, exclude: Sequence[str] = ()
) -> tuple[bytes, ...]:
    """Tracked paths whose content changed and new ones that are not ignored; folders end in `/`.

    As the collector does it, with nothing that stands in the worktree's own repository. Raises
    `GitFailed`.
    """
    with draft(index) as copy:
        tree = WorkTree(patches, worktree, copy)
        # By content: a file that was rewritten as it was has not changed.
        tree.git("update-index", "-q", "--ignore-submodules", "--refresh", check=False)
        terms = ("diff-files", "--name-only", "-z", "--ignore-submodules=all")
        changed = split(tree.git(*terms).stdout)
        others = _new(tree)
    mine = names(exclude)
    return tuple(sorted({path for path in (*changed, *others) if path.strip(b"/") not in mine}))


def new_paths(*, patches: Path, worktree: Path, index: Path) -> list[bytes]:
    """The new ones of `written` alone. Raises `GitFailed`."""
    with draft(index) as copy:
        return _new(WorkTree(patches, worktree, copy))


def _new(tree: WorkTree) -> list[bytes]:
    terms = ("ls-files", "--others", "--exclude-standard", "--directory", "-z")
    return split(tree.git(*terms).stdout)


def exposed(*, patches: Path, worktree: Path, folders: Sequence[str]) -> tuple[str, ...]:
    """Those of `folders` that git no longer ignores in a worktree, as the collector would see it.
    Raises `GitFailed`."""
    if not folders:
        return ()
    stdin = join([os.fsencode(f"./{name}/") for name in folders])
    terms = ("check-ignore", "--no-index", "-z", "--stdin")
    answer = run(
        *terms,
        cwd=worktree,
        git_dir=patches,
        work_tree=worktree,
        isolated=True,
        stdin=stdin,
        check=False,
        timeout=_TIME_LIMIT,
    )
    ignored = names([os.fsdecode(path).removeprefix("./") for path in split(answer.stdout)])
    return tuple(name for name in folders if os.fsencode(name) not in ignored)

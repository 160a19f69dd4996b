"""How the user's index and work tree stand to a list of changes; nothing of theirs is written.

git runs with the run's patches.git as its gitdir: what it holds of settings, attributes and
content filters is as the user had them before the race, whatever became of their own since.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hydra.git.changes import MODULE, Entry
from hydra.git.runner import GitFailed, Result, run, split

TRUE_STAT = (("core.trustctime", "true"), ("core.checkstat", "default"))
"""Under the user's laxer words an edit that puts its mtime back would not be seen."""


FLAGS = ("skip-worktree", "assume-unchanged")
"""What keeps git from looking at a path; writing its entry anew takes them off."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """One path in an index. `stage` is over 0 in a conflict; `skipped` is git's skip-worktree,
    `assumed` its assume-unchanged."""

    entry: Entry
    stage: int = 0
    skipped: bool = False
    assumed: bool = False

    @classmethod
    def read(cls, facts: bytes) -> Indexed:
        """`H 100644 <oid> 0`, as ls-files shows it."""
        tag, mode, oid, stage = facts.decode().split(" ")
        return cls(Entry(mode, oid), int(stage), tag.upper() == "S", tag.islower())

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags that a person has set, as `WorkTree.flag` takes them."""
        set_ = (self.skipped, self.assumed)
        return tuple(flag for flag, is_set in zip(FLAGS, set_, strict=True) if is_set)


@dataclass(frozen=True, slots=True)
class WorkTree:
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
        """All that the index holds, each to be read by `Indexed.read`; of a path in conflict, its
        highest stage."""
        listed = split(self.git("ls-files", "--stage", "-v", "-z").stdout)
        return {path: facts for facts, _, path in (field.partition(b"\t") for field in listed)}

    def set(self, entries: Iterable[tuple[bytes, Entry | None]]) -> None:
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

        Whether all of it is. Raises `GitFailed` where that cannot be written: all would then look
        changed.
        """
        words = ("update-index", "--ignore-submodules", "--refresh")
        told = self.git(*words, check=False)
        if told.code not in (0, 1):
            raise GitFailed(("git", *words), told)
        return told.code == 0

    def changed(self) -> dict[bytes, str]:
        """Paths whose file is not as the index has it: `M`, `T` (another kind) or `D` (gone)."""
        raw = split(self.git("diff-files", "--raw", "-z", "--ignore-submodules=all").stdout)
        return {path: chr(facts[-1]) for facts, path in zip(raw[::2], raw[1::2], strict=True)}

    def checkout(self, paths: Sequence[bytes]) -> None:
        """Writes these files of the index into the tree, as git would; none may be there."""
        stdin = b"".join(path + b"\0" for path in paths)
        self.git("checkout-index", "-q", "-z", "--stdin", stdin=stdin)

    def _info(self, path: bytes, entry: Entry | None) -> bytes:
        shown = entry or Entry("0", "0" * self.name_length)
        return f"{shown.mode} {shown.oid}\t".encode() + path + b"\0"


def is_module(entry: Entry | None) -> bool:
    """Whether it is a submodule's commit, which git checks nothing out for."""
    return entry is not None and entry.mode == MODULE

"""A checkout of what Git LFS keeps: a file that was never fetched stays the pointer that it is.

git-lfs would ask the remote for it, and without an answer the whole checkout fails. So where one is
missing, all are checked out as pointers first, and those that are here are filled in afterwards.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct, field

from hydra.git import lfs
from hydra.git.attributes import LFS, Settings
from hydra.git.repository import Repository
from hydra.git.runner import join, run, split

_OFF = (("filter.lfs.process", ""), ("filter.lfs.smudge", ""), ("filter.lfs.required", "false"))
_SKIP = " --skip"
"""As `git lfs install --skip-smudge` has it: a checkout takes nothing of what is here either."""


class LfsFiles(Struct, frozen=True):
    """The LFS files of one checkout: `pointers` by path, `present` those whose content is here, and
    `driver` what is set for git-lfs while it fills them in."""

    pointers: Mapping[bytes, str] = field(default_factory=dict)
    present: frozenset[bytes] = frozenset()
    driver: Settings = ()

    @classmethod
    def of(
        cls, git_dir: Path, commit: str, repo: Repository, patches: Path | None = None
    ) -> LfsFiles:
        """Those of a commit in a lane's repository, which borrows the user's; what a patch brings
        comes out of `patches`. Raises `GitFailed`."""
        pointers = lfs.pointers(git_dir, commit)
        folders = [lfs.storage(repo), *(objects.parent / "lfs" for objects in repo.objects)]
        if patches is not None and (patches / "lfs" / "objects").is_dir():
            folders.append(git_dir / "lfs")
            for digest in pointers.values():
                lfs.copy(patches, "lfs", digest, git_dir / "lfs")
        present = (path for path, digest in pointers.items() if _is_here(folders, digest))
        return cls(pointers, frozenset(present), _driver(repo))

    @property
    def config(self) -> Settings:
        """What is set while git checks out."""
        return self.driver if self._are_whole else _OFF

    def fill(self, worktree: Path, *, isolated: bool = False, timeout: float | None = None) -> int:
        """Puts the content of those that are here into a tree that was just checked out; how many
        stay pointers. Raises `GitFailed`."""
        if self._are_whole:
            return 0
        top = os.fsencode(worktree) + b"/"
        paths = [path for path in self.pointers if os.path.lexists(top + path)]
        terms = ("check-attr", "-z", "--stdin", "filter")
        facts = split(run(*terms, cwd=worktree, isolated=isolated, stdin=join(paths)).stdout)
        filtered = {
            path for path, name in zip(facts[::3], facts[2::3], strict=True) if name == b"lfs"
        }
        filled = sorted(filtered & self.present)
        for path in filled:
            os.unlink(top + path)  # noqa: PTH108  # git writes over none that is as it wrote it
        run(
            *("checkout-index", "--index", "-z", "--stdin"),
            cwd=worktree,
            isolated=isolated,
            stdin=join(filled),
            timeout=timeout,
            config=self.driver,
        )
        return len(filtered - self.present)

    @property
    def _are_whole(self) -> bool:
        return len(self.present) == len(self.pointers)


def _is_here(folders: Iterable[Path], digest: str) -> bool:
    return any((folder / lfs.place_of(digest)).is_file() for folder in folders)


def _driver(repo: Repository) -> Settings:
    keys = (f"filter.{LFS}.{term}" for term in ("smudge", "process"))
    rows = [(key, value) for key in keys if _SKIP in (value := repo.config.get(key, ""))]
    named = [("lfs.storage", str(lfs.storage(repo)))] if "lfs.storage" in repo.config else []
    return (*((key, value.replace(_SKIP, "")) for key, value in rows), *named)

"""Where a landing prepares what is to come, and keeps what was there."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from hydra.git.found import Repository
from hydra.git.runner import run
from hydra.landing.obstacles import mount_of

EXACT = "exact"
"""The folder in a staging folder with the bytes that an undo brings back, each by its digest."""


def places(repository: Repository, name: str) -> tuple[Path, Path]:
    """For the index and for the files of landing `name`, each where it can be renamed from.

    In the git dir, where no tool looks; files in the tree only where that is another file system,
    or another mount of the same.
    """
    git_dir, root, folder = repository.git_dir, repository.root, f".hydra-landing-{name}"
    same = git_dir.stat().st_dev == root.stat().st_dev and mount_of(git_dir) == mount_of(root)
    return git_dir / folder, (git_dir if same else root) / folder


def copy_index(repository: Repository, copy: Path) -> None:
    """A copy of the user's index, whole in itself; none where they have none."""
    git_dir, root = repository.git_dir, repository.root
    if (git_dir / "index").exists():
        shutil.copy2(git_dir / "index", copy)
    if any(git_dir.glob("sharedindex.*")):  # its other half lies in the user's own gitdir
        # In the tree: a file that was written to in the second of its entry is looked at again.
        words = ("update-index", "--no-split-index")
        run(*words, cwd=root, git_dir=git_dir, work_tree=root, index=copy)


def share(root: Path, fresh: Path, paths: Iterable[bytes]) -> None:
    """Gives files below `fresh` the group that they would have, had they been made in their place.

    A folder with the setgid bit, as a team shares one, hands its group on.
    """
    top, made = os.fsencode(root), os.fsencode(fresh)

    @cache
    def group(folder: bytes) -> int:
        try:
            found = os.lstat(top + b"/" + folder)
        except (FileNotFoundError, NotADirectoryError):
            return group(folder.rpartition(b"/")[0])
        return found.st_gid if found.st_mode & stat.S_ISGID else -1

    for path in paths:
        if (gid := group(path.rpartition(b"/")[0])) >= 0:
            with suppress(PermissionError):  # a group that one is not in
                os.chown(made + b"/" + path, -1, gid, follow_symlinks=False)


def is_folder(path: bytes) -> bool:
    """Whether a folder stands there; a link to one is none."""
    return os.path.isdir(path) and not os.path.islink(path)  # noqa: PTH112, PTH114

"""What a command wrote into a worktree: names alone, nothing is taken."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from hydra.git.index import draft
from hydra.git.runner import join, run, split
from hydra.git.session import names

_TIME_LIMIT = 120.0


def written(
    *, patches: Path, worktree: Path, index: Path, exclude: Sequence[str] = ()
) -> tuple[bytes, ...]:
    """Tracked paths whose content changed and new ones that are not ignored; folders end in `/`.

    As the collector does it, with nothing that stands in the worktree's own repository. Raises
    `GitFailed`.
    """
    with draft(index) as copy:

        def git(*words: str, check: bool = True) -> list[bytes]:
            told = run(
                *words,
                git_dir=patches,
                work_tree=worktree,
                index=copy,
                isolated=True,
                check=check,
                timeout=_TIME_LIMIT,
            )
            return split(told.stdout)

        # By content: a file that was rewritten as it was has not changed.
        git("update-index", "-q", "--ignore-submodules", "--refresh", check=False)
        changed = git("diff-files", "--name-only", "-z", "--ignore-submodules=all")
        others = git("ls-files", "--others", "--exclude-standard", "--directory", "-z")
    mine = names(exclude)
    return tuple(sorted({path for path in (*changed, *others) if path.strip(b"/") not in mine}))


def exposed(*, patches: Path, worktree: Path, folders: Sequence[str]) -> tuple[str, ...]:
    """Those of `folders` that git no longer ignores in a worktree, as the collector would see it.
    Raises `GitFailed`."""
    if not folders:
        return ()
    stdin = join([os.fsencode(f"./{name}/") for name in folders])
    words = ("check-ignore", "--no-index", "-z", "--stdin")
    answer = run(
        *words,
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

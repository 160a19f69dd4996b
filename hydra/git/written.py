"""What a command wrote into a worktree: names alone, nothing is taken."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hydra.git.index import draft
from hydra.git.runner import run, split
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

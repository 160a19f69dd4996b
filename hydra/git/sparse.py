"""Which new paths a sparse checkout leaves out, by the user's own patterns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from hydra.git.found import Repository
from hydra.git.runner import run


def left_out(repo: Repository, paths: Sequence[bytes], scratch: Path) -> frozenset[bytes]:
    """Those of `paths` that do not belong into this work tree.

    git 2.39 has no command that says it (`sparse-checkout check-rules` is new in 2.41). The
    patterns are those of an ignore file with the sense turned round, so `check-ignore` answers, in
    an empty repository in `scratch` where nothing else has a say.
    """
    patterns = repo.git_dir / "info" / "sparse-checkout"
    if not paths or not _on(repo) or not patterns.is_file():
        return frozenset()
    empty, tree = scratch / "sparse.git", scratch / "sparse"
    tree.mkdir(parents=True, exist_ok=True)
    run("init", "-q", "--bare", "--template=", empty, cwd=scratch, isolated=True)
    told = run(
        *("check-ignore", "--no-index", "-z", "-v", "-n", "--stdin"),
        git_dir=empty,
        work_tree=tree,
        stdin=b"".join(path + b"\0" for path in paths),
        isolated=True,
        check=False,
        config=(
            ("core.excludesFile", str(patterns)),
            ("core.bare", "false"),
            ("core.ignoreCase", repo.config.get("core.ignorecase", "false")),
        ),
    ).stdout.split(b"\0")
    # SOURCE, LINE, PATTERN, PATH: the last pattern that fits, none where none does.
    inside = {
        path
        for pattern, path in zip(told[2::4], told[3::4], strict=False)
        if pattern and not pattern.startswith(b"!")
    }
    return frozenset(path for path in paths if path not in inside)


def _on(repo: Repository) -> bool:
    value = repo.config.get("core.sparsecheckout", "")
    return value.lower() in ("true", "yes", "on", "1") and os.path.isdir(repo.git_dir)  # noqa: PTH112

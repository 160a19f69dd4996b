"""Which new paths a sparse checkout leaves out, by the user's own patterns."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from hydra.git.found import Repository
from hydra.git.names import refused
from hydra.git.runner import run, split

_SETTINGS = ("core.sparsecheckoutcone", "core.ignorecase", "core.protecthfs", "core.protectntfs")


def left_out(repo: Repository, paths: Sequence[bytes], scratch: Path) -> frozenset[bytes]:
    """Those of `paths` that do not belong into this work tree.

    git 2.39 has no command that says it (`sparse-checkout check-rules` is new in 2.41). So it
    checks these names out, all of them empty, in a repository in `scratch` with the same patterns.
    """
    patterns = repo.git_dir / "info" / "sparse-checkout"
    asked = [path for path in paths if not refused(path)]
    if not asked or not _on(repo) or not patterns.is_file():
        return frozenset()
    git_dir, tree, index = (scratch / name for name in ("sparse.git", "sparse", "sparse-index"))
    tree.mkdir(parents=True, exist_ok=True)
    run("init", "-q", "--bare", "--template=", git_dir, cwd=scratch, isolated=True)
    (git_dir / "info").mkdir(exist_ok=True)
    shutil.copyfile(patterns, git_dir / "info" / "sparse-checkout")
    blob = run("hash-object", "-w", "--stdin", git_dir=git_dir, isolated=True).line
    lines = b"".join(f"100644 {blob}\t".encode() + path + b"\0" for path in asked)
    words = ("update-index", "-z", "--index-info")
    run(*words, git_dir=git_dir, index=index, stdin=lines, isolated=True)
    whole = run("write-tree", git_dir=git_dir, index=index, isolated=True).line
    index.unlink()
    config = [(key, repo.config[key]) for key in _SETTINGS if key in repo.config]
    run(
        *("read-tree", "-m", "-u", whole),
        git_dir=git_dir,
        work_tree=tree,
        index=index,
        isolated=True,
        config=(("core.bare", "false"), ("core.sparseCheckout", "true"), *config),
    )
    listed = run("ls-files", "-t", "-z", git_dir=git_dir, index=index, isolated=True).stdout
    return frozenset(entry[2:] for entry in split(listed) if entry.startswith(b"S "))


def _on(repo: Repository) -> bool:
    value = repo.config.get("core.sparsecheckout", "")
    return value.lower() in ("true", "yes", "on", "1")

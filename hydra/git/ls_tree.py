"""What stands in a commit's tree, by name."""

from __future__ import annotations

from collections.abc import Sequence

from hydra.git.repository import Repository
from hydra.git.runner import run, split


def regular_files(repo: Repository, oid: str, names: Sequence[str]) -> tuple[str, ...]:
    """Those of `names` that are regular files at `oid`, in their own order; no symlinks."""
    if not names:
        return ()
    output = run("ls-tree", "-z", oid, "--", *names, cwd=repo.root, check=False).stdout
    texts = {
        path.decode("utf-8", "surrogateescape")
        for mode, path in (_entry(line) for line in split(output))
        if mode.startswith(b"100")
    }
    return tuple(name for name in names if name in texts)


def _entry(line: bytes) -> tuple[bytes, bytes]:
    facts, _, path = line.partition(b"\t")
    return facts.split(b" ")[0], path

"""Patch releases as a repository: what a registry gives of each is a commit, in their order."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hydra.paths import NO_FILE

_MADE = ("PKG-INFO", "*.egg-info", "*/*.egg-info")
"""What building an sdist adds; no repository has it."""

_AUTHOR = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (
        ("NAME", "Ada"),
        ("EMAIL", "ada@example.com"),
        ("DATE", "2026-01-01T00:00:00Z"),
    )
}
"""Always the same, so that the same archives make the same names of commits."""


def lay(package: str, versions: Sequence[str], top: Path) -> None:
    """A commit for each version; `top` may not be there. Raises `SubprocessError`, `OSError`, and
    pytest's `Skipped` where the registry is out of reach."""
    from tests.real.projects import unpack

    with tempfile.TemporaryDirectory(dir=top.parent) as scratch:
        repository = Path(scratch, "repository")
        _git(repository, "init", "-q", "-b", "main", str(repository))
        for version in versions:
            tree = Path(scratch, version)
            unpack(f"{package}=={version}", tree)
            _strip(tree)
            (repository / ".git").rename(tree / ".git")
            _git(tree, "add", "-A", "-f")
            _git(tree, "commit", "-q", "-m", f"{package} {version}")
            repository = tree
        repository.rename(top)


def _strip(tree: Path) -> None:
    for pattern in _MADE:
        for path in tree.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _git(top: Path, *args: str) -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": NO_FILE,
        **_AUTHOR,
    }
    where = ["-C", str(top)] if top.is_dir() else []
    subprocess.run(["git", *where, *args], env=environ, check=True)

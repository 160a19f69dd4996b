"""What stands in a user's repository, to see that it is as it was; and what agents type."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import git


def agent(cwd: Path, script: str, check: bool = True) -> None:
    """Runs what an agent would type, with plain git and its own configuration."""
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["sh", "-ec", script], cwd=cwd, env=env, check=False, capture_output=True)
    assert not check or done.returncode == 0, done.stderr.decode("utf-8", "replace")


def fingerprint(root: Path, *, without: str = "refs/hydra") -> dict[str, object]:
    """Everything of a user's repository and tree that a race must leave as it was.

    Content, mode and link target of every file; mtimes too, but not of objects: git itself
    touches a pack whose objects it is given again.
    """
    seen: dict[str, object] = {}
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in [*folders, *names]:
            path = Path(folder, name)
            key = str(path.relative_to(root))
            result = path.lstat()
            if key.startswith(f".git/{without}"):
                continue
            if path.is_symlink():
                seen[key] = ("link", str(path.readlink()))
            elif not path.is_file():
                seen[key] = ("no file", result.st_mode)
            else:
                when = 0 if key.startswith(".git/") and "/objects/" in key else result.st_mtime_ns
                data = hashlib.sha256(path.read_bytes()).hexdigest()
                seen[key] = ("file", result.st_mode, when, data)
    return seen


def everything(repo: Path) -> dict[str, tuple[int, bytes]]:
    """Every file of the work tree: its mode and its bytes (a link's target). Without .git."""
    pairs: dict[str, tuple[int, bytes]] = {}
    for top, folders, files in os.walk(repo):
        if ".git" in folders:
            folders.remove(".git")
        for name in (*files, *(n for n in folders if Path(top, n).is_symlink())):
            path = Path(top, name)
            mode = path.lstat().st_mode
            link = stat.S_ISLNK(mode)
            data = os.fsencode(path.readlink()) if link else path.read_bytes()
            pairs[os.path.relpath(path, repo)] = (mode, data)
    return pairs


@dataclass(frozen=True)
class Whole:
    """All of a repository that a landing may not change by accident."""

    files: dict[str, tuple[int, bytes]]
    index: str
    head: str
    refs: str
    stash: str

    @classmethod
    def of(cls, repo: Path) -> Whole:
        """As it stands."""
        return cls(
            files=everything(repo),
            index=git(repo, "ls-files", "--stage", "-v"),
            head=(repo / ".git/HEAD").read_text() if (repo / ".git").is_dir() else "",
            refs=git(repo, "for-each-ref", "refs/heads", "refs/tags"),
            stash=git(repo, "stash", "list"),
        )


def leftovers(repo: Path) -> list[str]:
    """What a landing must not leave in a git dir."""
    folder = Path(git(repo, "rev-parse", "--absolute-git-dir"))
    names = [*folder.glob(".hydra-landing-*"), *folder.glob("*.lock")]
    return [name.name for name in (*names, *repo.glob(".hydra-landing-*"))]

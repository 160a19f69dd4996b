"""A patch that is the first in its repository to ask for Git LFS."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra

pytestmark = pytest.mark.slow

BIG = b"\0" * 2_000_000
POINTER = "version https://git-lfs.github.com/spec/v1"
RULE = "*.bin filter=lfs diff=lfs merge=lfs -text"
HOOK = "Git LFS is new here"


def raced(hydra: Hydra, work: str) -> None:
    """A race whose one lane does that beside a large file, which a check then reads."""
    (hydra.repo / "old.bin").write_bytes(b"old" * 1000)
    git(hydra.repo, "add", "-A")
    git(hydra.repo, "commit", "-qm", "A raw file")
    whole = f"{work}; head -c {len(BIG)} /dev/zero > big.bin; git add -A; git commit -qm large"
    hydra.agent("claude", [fakes.shell("sh", "-c", whole), fakes.finish("done")])
    check = "large=test -n \"$(find . -name '.?*' -prune -o -size +1000k -print)\""
    race = hydra.run("race", "Do it", "-a", "claude", "--check", check)
    assert race.returncode == 0, race.stdout + race.stderr


@pytest.mark.parametrize("hooked", [False, True])
def test_its_files_land_as_pointers_and_what_lfs_keeps_comes_along(
    hydra: Hydra, hooked: bool
) -> None:
    if shutil.which("git-lfs") is None:
        pytest.skip("git-lfs is not here")
    repo = hydra.repo
    git(repo, "lfs", "install", "--local", *(() if hooked else ("--skip-repo",)))
    raced(hydra, "git lfs track '*.bin'")
    assert git(repo, "status", "--porcelain") == ""
    landed = hydra.run("merge", "claude")
    assert landed.returncode == 0, landed.stdout + landed.stderr
    assert (HOOK in landed.stdout + landed.stderr) != hooked
    for name, data in (("big.bin", BIG), ("old.bin", b"old" * 1000)):
        assert git(repo, "show", f"HEAD:{name}").startswith(POINTER)
        assert (repo / name).read_bytes() == data
        os.utime(repo / name)  # git reads it again
    assert git(repo, "status", "--porcelain") == ""
    git(repo, "lfs", "fsck")
    assert hydra.run("merge", "--undo").returncode == 0
    assert git(repo, "show", "HEAD:old.bin") == "old" * 1000
    assert (repo / "old.bin").read_bytes() == b"old" * 1000
    assert not (repo / "big.bin").exists()
    assert git(repo, "status", "--porcelain") == ""


def test_without_git_lfs_its_files_come_as_they_are_and_it_is_said(hydra: Hydra) -> None:
    hydra.agent("claude", [])
    hydra.without("git-lfs")
    raced(hydra, f"echo '{RULE}' > .gitattributes")
    landed = hydra.run("merge", "claude")
    assert landed.returncode == 0, landed.stdout + landed.stderr
    assert "asks for Git LFS, which was not set up for the race" in landed.stdout + landed.stderr
    assert git(hydra.repo, "cat-file", "-s", "HEAD:big.bin") == str(len(BIG))

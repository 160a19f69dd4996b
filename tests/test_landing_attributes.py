"""What a file bears besides its content: it has it after a landing, and after its undo."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.conftest import git
from tests.support.landings import Shelf
from tests.support.shelf import shelf

__all__ = ["shelf"]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("commit", [True, False], ids=["commit", "no-commit"])
def test_a_private_file_stays_private_through_landing_and_undo(shelf: Shelf, commit: bool) -> None:
    changed, gone = shelf.repo / "src/pager.py", shelf.repo / "old/gone.txt"
    for path in (changed, gone):
        path.chmod(0o600)
    shelf.merge("claude", commit=commit)
    assert mode(changed) == 0o600
    assert not gone.exists()
    shelf.undo()
    assert (mode(changed), mode(gone)) == (0o600, 0o600)


def test_the_x_bit_of_a_patch_opens_a_private_file_to_nobody_else(
    shelf: Shelf, scratch: Path
) -> None:
    (shelf.repo / "src/pager.py").chmod(0o600)
    shelf.lane("codex", lambda tree: (tree / "src/pager.py").chmod(0o755))
    shelf.merge("codex")
    assert mode(shelf.repo / "src/pager.py") == 0o700
    shelf.undo()
    assert mode(shelf.repo / "src/pager.py") == 0o600


def test_extended_attributes_stay(shelf: Shelf) -> None:
    changed, gone = shelf.repo / "src/pager.py", shelf.repo / "old/gone.txt"
    for path in (changed, gone):
        try:
            os.setxattr(path, "user.note", b"mine\xff")
        except OSError:
            pytest.skip("a file system without extended attributes")
    shelf.merge("claude")
    assert os.getxattr(changed, "user.note") == b"mine\xff"
    shelf.undo()
    for path in (changed, gone):
        assert os.getxattr(path, "user.note") == b"mine\xff"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_root_leaves_a_file_to_its_owner(shelf: Shelf) -> None:
    changed = shelf.repo / "src/pager.py"
    os.chown(changed, 65534, 65534)
    shelf.merge("claude")
    assert (changed.stat().st_uid, changed.stat().st_gid) == (65534, 65534)


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_what_git_was_told_of_a_path_it_is_told_again(shelf: Shelf, flag: str) -> None:
    git(shelf.repo, "update-index", flag, "src/pager.py", "old/gone.txt")
    before = git(shelf.repo, "ls-files", "-v")
    shelf.merge("claude")
    now = git(shelf.repo, "ls-files", "-v").splitlines()
    assert next(row for row in now if row.endswith("src/pager.py"))[0] in "hS"
    shelf.undo()
    assert git(shelf.repo, "ls-files", "-v") == before

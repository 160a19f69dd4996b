"""What `--dry-run` must look for, as it refuses the landing: locks, and what cannot be moved."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hydra.errors import LandingRefused
from hydra.landing import transaction
from tests.support import landing_kinds as kinds
from tests.support.landing_kinds import Stand
from tests.support.landings import Shelf
from tests.support.shelf import shelf
from tests.support.surroundings import mounts

__all__ = ["shelf"]

root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may do that to a file")


def refused(shelf: Shelf, match: str, **options: object) -> LandingRefused:
    """The dry run is refused, and so is the landing, before anything was moved."""
    before = Stand.of(shelf.repo)
    with pytest.raises(LandingRefused, match=match) as caught:
        shelf.merge("claude", dry_run=True, **options)
    moments: list[str] = []
    transaction.moment = moments.append
    try:
        with pytest.raises(LandingRefused, match=match):
            shelf.merge("claude", **options)
    finally:
        kinds.quiet()
    assert "give" not in moments
    assert "take" not in moments
    assert Stand.of(shelf.repo) == before
    return caught.value


@pytest.mark.parametrize("lock", ["index.lock", "HEAD.lock", "refs/heads/main.lock"])
def test_a_lock_of_gits(shelf: Shelf, lock: str) -> None:
    (shelf.repo / ".git" / lock).touch()
    error = refused(shelf, "another git is at work")
    assert str(shelf.repo / ".git" / lock) in error.hint
    if lock != "index.lock":  # a landing without a commit moves no branch
        shelf.merge("claude", commit=False)


def test_a_lock_of_the_new_branch(shelf: Shelf) -> None:
    (shelf.repo / ".git/refs/heads/try.lock").touch()
    refused(shelf, "another git is at work on try", branch="try")


@pytest.fixture
def chattr() -> Iterator[list[tuple[str, Path]]]:
    """What was set, to be taken off again."""
    rows: list[tuple[str, Path]] = []
    yield rows
    for flag, path in rows:
        subprocess.run(["chattr", f"-{flag}", path], check=True)


@root
@pytest.mark.parametrize("flag", ["i", "a"])
@pytest.mark.parametrize("path", ["src/pager.py", "old/gone.txt", "src", "."])
def test_a_file_or_a_folder_that_cannot_be_changed(
    shelf: Shelf, chattr: list[tuple[str, Path]], flag: str, path: str
) -> None:
    if subprocess.run(["chattr", f"+{flag}", shelf.repo / path], capture_output=True).returncode:
        pytest.skip("a file system without attributes")
    chattr.append((flag, shelf.repo / path))
    error = refused(shelf, "in the way")
    assert any(f"chattr -{flag}" in why for _, why in error.paths)


@root
@pytest.mark.parametrize("path", ["index", ".", "objects", "refs/heads", "logs/HEAD"])
def test_a_part_of_gits_that_cannot_be_changed(
    shelf: Shelf, chattr: list[tuple[str, Path]], path: str
) -> None:
    place = shelf.repo / ".git" / path
    if subprocess.run(["chattr", "+i", place], capture_output=True).returncode:
        pytest.skip("a file system without attributes")
    chattr.append(("i", place))
    refused(shelf, r"is immutable \(until chattr -i\)")


@root
def test_a_log_that_only_grows_is_grown(shelf: Shelf, chattr: list[tuple[str, Path]]) -> None:
    log = shelf.repo / ".git/logs/HEAD"
    if subprocess.run(["chattr", "+a", log], capture_output=True).returncode:
        pytest.skip("a file system without attributes")
    chattr.append(("a", log))
    shelf.merge("claude")


@pytest.mark.slow
@pytest.mark.parametrize("path", ["src/pager.py", "src", ".git"])
def test_a_mount_in_the_tree(shelf: Shelf, path: str) -> None:
    """As containers have them: of the same file system, and yet nothing can be renamed over it."""
    with mounts() as namespace:
        place = str(shelf.repo / path)
        namespace.run("mount", "--bind", place, place)

        def hydra(*options: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [*namespace.wrap(shelf.repo), sys.executable, "-m", "hydra", "merge", *options],
                env=shelf.environ,
                capture_output=True,
                text=True,
                check=False,
            )

        tried = hydra("claude", "--dry-run", "--no-check")
        landed = hydra("claude", "--no-check")
    if path == ".git":  # the files change places in the tree itself
        assert (tried.returncode, landed.returncode) == (0, 0), landed.stderr
        assert list(shelf.repo.glob(".hydra*")) == []
    else:
        assert (tried.returncode, landed.returncode) == (5, 5)
        assert "is a mount of its own" in tried.stderr
        assert "is a mount of its own" in landed.stderr

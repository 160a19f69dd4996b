"""The times of files in an index, put in without reading the files: as git itself would have."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from hydra.git.index import Stamps
from tests.conftest import git

NAMES = ("a", *("n" * length for length in range(2, 18)), "deep/er/é", "deep/l" + "o" * 240, "x.sh")
AN_HOUR = 3600


def made(top: Path, *args: str) -> Path:
    """A repository of an hour ago, whose index knows nothing of its files' times."""
    git(top, "init", "-q", *args, "repo")
    repo = top / "repo"
    for name in NAMES:
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(name)
    (repo / "x.sh").chmod(0o755)
    (repo / "empty").touch()
    git(repo, "add", ".")
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    git(repo, *who, "commit", "-q", "-m", "first")
    then = time.time() - AN_HOUR
    for name in (*NAMES, "empty"):
        os.utime(repo / name, (then, then))
    git(repo, "read-tree", "HEAD")
    assert len(dirty(repo)) == len(NAMES) + 1
    return repo


def dirty(repo: Path) -> list[str]:
    """What git would have to read, told by the index alone."""
    return git(repo, "diff-files", "--name-only", "-z").split("\0")[:-1]


def names() -> list[bytes]:
    return [os.fsencode(name) for name in NAMES]


def read(repo: Path, *more: bytes) -> Stamps | None:
    return Stamps.read(
        repo / ".git" / "index", [*names(), *more], len(git(repo, "rev-parse", "HEAD"))
    )


@pytest.mark.parametrize("terms", [(), ("--object-format=sha256",)], ids=["sha1", "sha256"])
def test_every_file_is_then_known_to_git_and_the_index_is_whole(
    scratch: Path, terms: tuple[str, ...]
) -> None:
    repo = made(scratch, *terms)
    stamps = read(repo)
    assert stamps is not None
    before = git(repo, "ls-files", "--stage")
    stamps.begin()
    stamps.write(lambda path: os.lstat(os.fsencode(repo) + b"/" + path))
    assert dirty(repo) == ["empty"]  # it was not asked for
    assert git(repo, "ls-files", "--stage") == before
    git(repo, "fsck", "--strict")  # the index's own checksum too
    mine = git(repo, "ls-files", "--debug", *NAMES)
    (repo / ".git" / "index").unlink()
    git(repo, "reset", "-q")
    assert git(repo, "ls-files", "--debug", *NAMES) == mine


def test_entries_with_longer_flags_are_understood(scratch: Path) -> None:
    repo = made(scratch)
    git(repo, "update-index", "--skip-worktree", "nn", "empty")
    stamps = read(repo)
    assert stamps is not None
    stamps.begin()
    stamps.write(lambda path: os.lstat(os.fsencode(repo) + b"/" + path))
    assert dirty(repo) == []
    assert git(repo, "ls-files", "-v", "nn", "empty").split() == ["S", "empty", "S", "nn"]


def test_a_file_of_which_nothing_is_known_is_left_to_git(scratch: Path) -> None:
    repo = made(scratch)
    stamps = read(repo)
    assert stamps is not None
    stamps.begin()
    stamps.write(lambda path: None if path == b"nnn" else os.lstat(repo / os.fsdecode(path)))
    assert dirty(repo) == ["empty", "nnn"]


def test_the_index_is_as_old_as_the_first_look(scratch: Path) -> None:
    """So git reads what was written to at any time after it, in the same tick too."""
    repo = made(scratch)
    stamps, saved = read(repo), repo / "saved"
    assert stamps is not None

    def found(path: bytes) -> os.stat_result:
        if not saved.exists():
            saved.touch()
        return os.lstat(repo / os.fsdecode(path))

    stamps.begin()
    stamps.write(found)
    assert (repo / ".git" / "index").stat().st_mtime_ns <= saved.stat().st_mtime_ns


def test_what_would_make_another_entry_pass_for_older_is_not_done(scratch: Path) -> None:
    """One saved in the index's own second: git reads it as long as the index is no younger."""
    repo = made(scratch)
    (repo / "empty").write_text("")
    git(repo, "update-index", "--refresh", "-q")
    when = (repo / "empty").stat().st_mtime_ns
    os.utime(repo / ".git" / "index", ns=(when, when))
    assert read(repo) is None


def test_an_index_that_is_not_understood_is_left_to_git(scratch: Path) -> None:
    repo = made(scratch)
    assert read(repo, b"not-there") is None
    git(repo, "update-index", "--index-version", "4")
    assert read(repo) is None

"""What a landing leaves in the index and among the objects: all that git asks for, and no more."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.conftest import git
from tests.support import landing_kinds as kinds
from tests.support.landings import Shelf, laid

AN_HOUR = 3600


def empty_run(scratch: Path) -> Shelf:
    """The project, and an empty run over it."""
    return Shelf.of(kinds.shop(scratch), scratch)


@pytest.fixture
def shelf(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """That; the test stands in its repository."""
    shelf = laid(scratch, empty_run)
    monkeypatch.chdir(shelf.repo)
    return shelf


def aged(repo: Path) -> None:
    """As if all had been checked out an hour ago, which git knows."""
    then = time.time() - AN_HOUR
    for path in git(repo, "ls-files", "-z").split("\0")[:-1]:
        os.utime(repo / path, (then, then), follow_symlinks=False)
    git(repo, "update-index", "-q", "--refresh")


def unknown(repo: Path) -> str:
    """What git would have to read to know that it is unchanged."""
    return git(repo, "diff-files", "--name-only")


def test_git_knows_what_was_landed_without_reading_it(shelf: Shelf) -> None:
    shelf.lane("claude", kinds.work)
    aged(shelf.repo)
    shelf.merge("claude")
    assert unknown(shelf.repo) == ""
    assert kinds.unlike_git(shelf.repo) == []
    aged(shelf.repo)
    shelf.undo()
    assert unknown(shelf.repo) == ""
    assert git(shelf.repo, "status", "--porcelain") == ""


def test_a_file_saved_after_its_exchange_is_the_users_change(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same size; in the same moment, as far as a clock can tell."""
    shelf.lane("claude", kinds.work)
    aged(shelf.repo)
    saved = shelf.repo / "src" / "pager.py"

    def save(name: str) -> None:
        if name == "refresh":
            saved.write_text(saved.read_text().swapcase())

    monkeypatch.setattr("hydra.landing.transaction.moment", save)
    shelf.merge("claude")
    assert git(shelf.repo, "status", "--porcelain") == " M src/pager.py"


def test_a_file_saved_with_its_time_put_back_is_still_seen(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.lane("claude", kinds.work)
    aged(shelf.repo)
    saved = shelf.repo / "src" / "pager.py"

    def save(name: str) -> None:
        if name == "refresh":
            was = saved.stat()
            began = time.monotonic()
            while saved.stat().st_ctime_ns == was.st_ctime_ns:  # the clock's next tick
                assert time.monotonic() - began < 20
                saved.write_text(saved.read_text().swapcase())
            saved.write_text(saved.read_text().lower().upper())
            os.utime(saved, ns=(was.st_atime_ns, was.st_mtime_ns))

    monkeypatch.setattr("hydra.landing.transaction.moment", save)
    shelf.merge("claude")
    assert git(shelf.repo, "status", "--porcelain") == " M src/pager.py"


def test_a_split_index_keeps_what_it_knows_of_a_file_just_saved(shelf: Shelf) -> None:
    """Saved in the second of its entry, at the same size: git reads such a file again."""
    git(shelf.repo, "config", "core.splitIndex", "true")
    shelf.lane("claude", kinds.work)
    beside = shelf.repo / "beside.txt"
    beside.write_text("one\n")
    then = int(time.time()) - AN_HOUR  # no clock can tell the index from the file
    os.utime(beside, (then, then))
    git(shelf.repo, "config", "core.trustctime", "false")
    git(shelf.repo, "add", "beside.txt")
    git(shelf.repo, "commit", "-q", "-m", "beside")
    for index in (shelf.repo / ".git").glob("*index*"):
        os.utime(index, (then, then))
    was = beside.stat()
    beside.write_text("two\n")
    os.utime(beside, ns=(was.st_atime_ns, was.st_mtime_ns))
    seen = git(shelf.repo, "--no-optional-locks", "status", "--porcelain")
    assert seen == " M beside.txt"
    shelf.merge("claude")
    assert git(shelf.repo, "status", "--porcelain") == " M beside.txt"


@pytest.mark.slow
@pytest.mark.parametrize("files", [3, 150], ids=["loose", "packed"])
@pytest.mark.parametrize("commit", [True, False], ids=["commit", "no-commit"])
def test_all_objects_come_and_none_names_one_that_did_not(
    shelf: Shelf, files: int, commit: bool
) -> None:
    def edits(tree: Path) -> None:
        kinds.work(tree)
        for number in range(files):
            folder = tree / "new" / str(number % 7) / "deep"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number}.txt").write_text(f"{number}\n")

    shelf.lane("claude", edits)
    shelf.merge("claude", commit=commit)
    path = shelf.race.patches.rename(shelf.race.patches.with_name("away"))
    text = git(shelf.repo, "fsck", "--full", "--strict", "--no-dangling")
    path.rename(shelf.race.patches)
    assert text == ""
    git(shelf.repo, "write-tree")  # checks that every entry's object is there

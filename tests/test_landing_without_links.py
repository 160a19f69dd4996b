"""Landing on a file system without hard links: FAT, exFAT, most shares of a VM."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from hydra.landing import swap, transaction
from hydra.race.recovery.startup import recover
from tests.support import landing_kinds as kinds
from tests.support import without_calls
from tests.support.forks import forked
from tests.support.landing_kinds import Stand
from tests.support.landings import Shelf, leftovers
from tests.support.shelf import is_old_or_new_wherever_killed, shelf

__all__ = ["shelf"]

WITHOUT = ["links", "links-renames"]


def command(shelf: Shelf, what: str, *args: str) -> None:
    """A `hydra` of whose calls some are refused; it must succeed."""
    line = [sys.executable, without_calls.__file__, what, sys.executable, "-m", "hydra", *args]
    process = subprocess.run(
        line, cwd=shelf.repo, env=shelf.environ, capture_output=True, text=True, timeout=60
    )
    assert process.returncode == 0, process.stderr


@pytest.mark.parametrize("what", WITHOUT)
def test_without_hard_links_it_lands_and_goes_back(shelf: Shelf, what: str) -> None:
    kinds.users_own(shelf.repo)
    before = Stand.of(shelf.repo)
    command(shelf, what, "merge", "claude", "--no-check")
    assert kinds.unlike_git(shelf.repo) == []
    assert leftovers(shelf.repo) == []
    command(shelf, what, "merge", "--undo")
    assert Stand.of(shelf.repo) == before
    assert leftovers(shelf.repo) == []


@pytest.mark.slow
def test_without_hard_links_a_landing_killed_at_any_moment_is_old_or_new(shelf: Shelf) -> None:
    kinds.users_own(shelf.repo)
    refuse = partial(without_calls.refuse, WITHOUT[-1])
    is_old_or_new_wherever_killed(shelf, partial(shelf.merge, "claude"), refuse)


def test_a_kill_between_taking_a_name_and_filling_it_leaves_nothing_behind(shelf: Shelf) -> None:
    """Git's lock of the index first, then each file's own name and the one it is moved aside to."""
    kinds.users_own(shelf.repo)
    before = Stand.of(shelf.repo)
    number = 1
    while killed_at_name(shelf, number):
        assert leftovers(shelf.repo) != []
        ended = shelf.command("runs")
        assert ended.returncode == 0, ended.stderr
        assert Stand.of(shelf.repo) == before, number
        assert leftovers(shelf.repo) == [], number
        number += 1
    assert number > 3
    assert kinds.unlike_git(shelf.repo) == []


def killed_at_name(shelf: Shelf, number: int) -> bool:
    """Lands in a child that is killed as it has taken its `number`th free name; whether it was."""
    left, take = number, swap._reserve

    def taken(fresh: bytes, target: bytes) -> None:
        nonlocal left
        take(fresh, target)
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def lands() -> None:
        swap._reserve = taken
        without_calls.refuse(WITHOUT[-1])
        shelf.merge("claude")

    return forked(lands) < 0


def kill_at(moment: str, shelf: Shelf) -> None:
    """A landing that is killed where the like of it came to this moment first."""
    seen: list[str] = []
    transaction.moment = seen.append
    shelf.merge("claude")
    kinds.quiet()
    shelf.undo()
    assert kinds.killed_at(lambda: shelf.merge("claude"), seen.index(moment) + 1)


@pytest.mark.parametrize(
    "make",
    [
        Path.mkdir,
        os.mkfifo,
        partial(Path.symlink_to, target="/dev/zero"),
        partial(Path.touch, mode=0),
    ],
)
def test_what_stands_where_another_git_has_its_lock_stays(
    shelf: Shelf, make: Callable[[Path], None]
) -> None:
    """Laid as a landing was killed that had no lock yet."""
    before = Stand.of(shelf.repo)
    kill_at("lock", shelf)
    lock = shelf.repo / ".git" / "index.lock"
    make(lock)
    recover(shelf.environ, lambda line: None)
    assert leftovers(shelf.repo) == [lock.name]
    assert Stand.of(shelf.repo) == before


def test_an_empty_file_that_nobody_may_open_is_the_users_own(shelf: Shelf) -> None:
    """Made as a landing was killed that wanted its name."""
    before = Stand.of(shelf.repo)
    kill_at("give", shelf)
    mine = shelf.repo / "new" / "file.txt"
    mine.touch(mode=0)
    recover(shelf.environ, lambda line: None)
    assert mine.lstat().st_mode & 0o7777 == 0
    mine.unlink()
    mine.parent.rmdir()
    assert Stand.of(shelf.repo) == before
    assert leftovers(shelf.repo) == []

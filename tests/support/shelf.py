"""The shelf of most landings' tests, as a fixture; a landing that is killed at any of its calls."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.support import landing_kinds as kinds
from tests.support import without_calls
from tests.support.driver import EXIT_BUG
from tests.support.faults import Faults
from tests.support.landing_kinds import Stand
from tests.support.landings import Shelf, laid, leftovers

LAND = ("merge", "claude", "--no-check")
UNDO = ("merge", "--undo")

# Calls of a landing (tests/support/faults.py).
LOCK = "py* rename * */index.lock"
JOURNAL = "py* rename * */journal.json"
INDEX = "py* rename */index */index"
MOVED = "git rename */refs/heads/*.lock *"


def takes(path: str) -> str:
    """A file of the tree goes aside."""
    return f"py* rename */{path} */.hydra-landing-*"


def gives(path: str) -> str:
    """The new one comes to its place."""
    return f"py* rename */fresh/{path} *"


def empty_run(scratch: Path) -> Shelf:
    """The project, and an empty run over it."""
    return Shelf.of(kinds.shop(scratch), scratch)


def of_claude(scratch: Path) -> Shelf:
    """One lane's work on the project."""
    shelf = Shelf.of(kinds.shop(scratch), scratch)
    shelf.lane("claude", kinds.work)
    return shelf


def fixture_of(make: Callable[[Path], Shelf]) -> Any:
    """A fixture: what that makes of a scratch folder; the test stands in its repository."""

    @pytest.fixture
    def standing(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
        shelf = laid(scratch, make)
        monkeypatch.chdir(shelf.repo)
        return shelf

    return standing


shelf = fixture_of(of_claude)
"""One lane's work on the project."""


def is_old_or_new_wherever_killed(
    shelf: Shelf, *acts: Sequence[str], without: str = "", some: slice = slice(0, None, 9)
) -> None:
    """Asserts it of the last of these commands, at some of the calls of Hydra and of its git, and
    at the last ones. `without` is what the kernel refuses it (without_calls.py)."""
    wrap = (sys.executable, without_calls.__file__, without) if without else ()
    *before, act = acts
    for command in before:
        assert shelf.command(*command).returncode == 0
    repo, faults = shelf.repo, Faults(shelf.state.parent / "calls")
    old, again = Stand.of(repo), restored(shelf.state.parent)
    done = shelf.command(*act, wrap=wrap, **faults.environ({}))
    assert done.returncode == 0, done.stderr
    new, calls = Stand.of(repo), faults.calls
    count, answers = len(calls) + 1, set()
    names = [n for n, call in enumerate(calls, 2) if _TAKES_A_NAME.match(call)]
    for number in sorted({*range(1, count)[some], *names[::3], *range(max(1, count - 6), count)}):
        again()
        git(repo, "update-index", "-q", "--refresh")
        done = shelf.command(*act, wrap=wrap, **faults.environ({f"{number}": "kill"}))
        if not faults.came:
            continue  # a call fewer than before: no file was too young to be told apart
        assert done.returncode != EXIT_BUG, (calls[number - 1], done.stderr)
        text = shelf.command("runs").stderr
        now = Stand.of(repo)
        assert now in (old, new), (calls[number - 1], done, text)
        git(repo, "fsck", "--strict", "--no-dangling")
        # A git that is killed alone leaves its own locks, and nobody can tell whose they are.
        of_git = any(call.startswith("git ") for call in calls[number - 2 : number + 1])
        assert [name for name in leftovers(repo) if not (of_git and name.endswith(".lock"))] == []
        assert text.count("\n") <= 1, text
        assert not [*shelf.state.glob("*/landing/journal.json")], text
        answers.add(now == new)
    assert False in answers


_TAKES_A_NAME = re.compile(r"py\S* open \S*/shop/(?!\.git/)")
"""Hydra makes a file for nothing but its name; what fills it comes next."""


def restored(top: Path) -> Callable[[], None]:
    """What brings all back in there as it is now."""
    saved = top / "saved"
    names = [path.name for path in top.iterdir() if path.is_dir()]
    for name in names:
        shutil.copytree(top / name, saved / name, symlinks=True)

    def again() -> None:
        for name in names:
            shutil.rmtree(top / name)
            shutil.copytree(saved / name, top / name, symlinks=True)

    return again

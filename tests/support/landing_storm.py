"""Kills landings at every moment, over a tree full of the user's own work.

A child lands (a lane, picks, without a commit) or takes a landing back, and is killed by SIGKILL at
the n-th seam before or after a write (`transaction.moment`). Then the next command's recovery runs,
and the repository must stand exactly as before or exactly as after: every byte, mode and link of
the tree, the index, the branches; with no lock, no staging folder and no journal left.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from hydra.commands.merge_landing import desk_of
from hydra.landing import transaction
from hydra.landing.picks import Pick
from hydra.race.recovery.startup import recover
from tests.conftest import git, make_repository
from tests.support.forks import forked
from tests.support.landings import Shelf, Whole, leftovers

DATES = {"GIT_AUTHOR_DATE": "1790000000 +0000", "GIT_COMMITTER_DATE": "1790000000 +0000"}
"""A landing's commit is then the same one each time, so that two states can be compared."""

KINDS = ("lane", "picks", "no-commit", "undo")


@dataclass
class Fort:
    """A repository full of the user's own work, a shelf of patches, and what it may look like."""

    shelf: Shelf
    old: Whole
    landed: dict[str, Whole] = field(default_factory=dict)
    moments: dict[str, int] = field(default_factory=dict)

    @classmethod
    def build(cls, scratch: Path) -> Fort:
        """Two lanes whose patches add, change, remove, rename, swap a file and a folder."""
        repo = make_repository(scratch / "shop")
        os.chdir(repo)
        for n in range(12):
            (repo / "src" / f"m{n}.py").write_text(f"x = {n}\n" * 40)
        (repo / "d").mkdir()
        (repo / "d" / "f").write_text("in a folder\n")
        (repo / "e").write_text("a file\n")
        git(repo, "add", "-A")
        git(repo, "commit", "-qm", "Second commit")
        shelf = Shelf.of(repo, scratch)
        shelf.lane("claude", _claude)
        shelf.lane("codex", _codex)
        _users_own(repo)
        fort = cls(shelf, Whole.of(repo))
        for kind in KINDS:
            fort.learn(kind)
        return fort

    def learn(self, kind: str) -> None:
        """What the repository looks like after `kind`, and how many moments that has."""
        self.prepare(kind)
        seen: list[str] = []
        with _at_each(seen.append):
            self.act(kind)
        self.moments[kind] = len(seen)
        self.landed[kind] = Whole.of(self.shelf.repo)
        self.reset()

    def prepare(self, kind: str) -> None:
        """Before `undo`, something must have landed."""
        if kind == "undo":
            self.shelf.merge("claude")

    def act(self, kind: str) -> None:
        """What is killed."""
        match kind:
            case "lane":
                self.shelf.merge("claude")
            case "picks":
                self.shelf.merge(picks=(Pick("claude", path="src"), Pick("codex", path="c.txt")))
            case "no-commit":
                self.shelf.merge("claude", commit=False)
            case "undo":
                self.shelf.undo()

    def before(self, kind: str) -> Whole:
        """How it stood when `kind` began."""
        return self.landed["lane"] if kind == "undo" else self.old

    def reset(self) -> None:
        """Back to the beginning, by Hydra's own undo where something has landed."""
        if Whole.of(self.shelf.repo) != self.old:
            self.shelf.undo()
        assert Whole.of(self.shelf.repo) == self.old

    def faults(self, kind: str) -> list[str]:
        """What is wrong after a kill and the next command's recovery."""
        lines: list[str] = []
        recover(self.shelf.environ, lines.append)
        repo, names = self.shelf.repo, []
        now = Whole.of(repo)
        if now not in (self.before(kind), self.landed[kind]):
            names.append(f"neither old nor new ({lines}): {_differences(self.before(kind), now)}")
        names += (f"left behind: {name}" for name in leftovers(repo))
        if desk_of(self.shelf.state, repo).file.exists():
            names.append(f"the journal is still there ({lines})")
        if len(lines) > 1:
            names.append(f"more than one line: {lines}")
        git(repo, "fsck", "--strict", "--no-dangling")
        return names


def _claude(tree: Path) -> None:
    for n in range(0, 12, 2):
        (tree / "src" / f"m{n}.py").write_text(f"y = {n}\n" * 50)
    (tree / "src" / "m1.py").unlink()
    (tree / "src" / "m3.py").rename(tree / "src" / "moved.py")
    (tree / "src" / "pager.py").chmod(0o755)
    shutil.rmtree(tree / "d")
    (tree / "d").write_text("now a file\n")
    (tree / "e").unlink()
    (tree / "e" / "deep").mkdir(parents=True)
    (tree / "e" / "deep" / "g").write_text("now in a folder\n")
    (tree / "link").symlink_to("README.md")


def _codex(tree: Path) -> None:
    (tree / "c.txt").write_bytes(b"crlf\r\nno newline")


def _users_own(repo: Path) -> None:
    """Dirty, staged, both, untracked and ignored files, and a stash."""
    (repo / "README.md").write_text("stashed\n")
    git(repo, "stash", "-q")
    (repo / "README.md").write_text("dirty\n")
    (repo / "src" / "m5.py").write_text("staged\n")
    git(repo, "add", "src/m5.py")
    (repo / "src" / "m5.py").write_text("staged and dirty\n")
    (repo / "src" / "mine.py").write_text("untracked\n")
    (repo / ".env").write_text("SECRET=1\n")
    (repo / "debug.log").write_bytes(os.urandom(4096))


class _at_each:
    """Calls `act` at each moment of a landing."""

    def __init__(self, act: Callable[[str], None]) -> None:
        self._act = act

    def __enter__(self) -> None:
        transaction.moment = self._act

    def __exit__(self, *_: object) -> None:
        transaction.moment = lambda name: None


def killed_at(fort: Fort, kind: str, number: int) -> bool:
    """Forks a child that acts and is killed at moment `number`; whether it was killed."""
    left = number

    def count(name: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def landing() -> None:
        transaction.moment = count
        fort.act(kind)

    return forked(landing) < 0


def _differences(old: Whole, now: Whole) -> list[str]:
    names = [
        name for name in old.files.keys() | now.files if old.files.get(name) != now.files.get(name)
    ]
    terms = ("index", "head", "refs", "stash")
    return [*sorted(names), *(term for term in terms if getattr(old, term) != getattr(now, term))]

"""Landings that are killed: old or new, never between, and nothing of the user's is lost."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hydra.commands.merge_undo import abort
from hydra.landing import transaction
from hydra.race.recovery.startup import recover
from tests.conftest import git
from tests.support.landing_storm import DATES, KINDS, Fort, killed_at
from tests.support.landings import Shelf, Whole, leftovers


@pytest.fixture
def fort(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Fort:
    """A repository full of the user's own work; the test stands in it."""
    for name, value in DATES.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(scratch)  # brings the test back out of the repository at its end
    return Fort.build(scratch)


@pytest.mark.parametrize(
    "kind",
    [pytest.param(k, marks=pytest.mark.slow if k == "lane" else pytest.mark.full) for k in KINDS],
)
def test_killed_at_any_moment_it_stands_or_is_undone(fort: Fort, kind: str) -> None:
    """Every third moment: before and after each write; the whole is the storm's own command."""
    seen = set()
    for number in range(1, fort.moments[kind] + 1, 3):
        fort.prepare(kind)
        assert killed_at(fort, kind, number)
        assert fort.faults(kind) == []
        seen.add(Whole.of(fort.shelf.repo) == fort.landed[kind])
        fort.reset()
    assert False in seen


@pytest.mark.slow
def test_a_file_changed_after_the_kill_is_not_touched_until_somebody_decides(fort: Fort) -> None:
    moved = _number(fort, "index")
    assert killed_at(fort, "lane", moved)
    mine = fort.shelf.repo / "src" / "m2.py"
    assert mine.read_text().startswith("y")  # landed already, and then edited by the user
    mine.write_text("edited since\n")
    half = Whole.of(fort.shelf.repo)
    lines: list[str] = []
    recover(fort.shelf.environ, lines.append)
    assert len(lines) == 1
    assert "src/m2.py: changed since it was landed" in lines[0]
    assert "hydra merge --abort" in lines[0]
    assert Whole.of(fort.shelf.repo) == half
    folder, rest = abort(fort.shelf.environ)
    assert rest == ("src/m2.py",)
    assert folder is not None
    assert next(folder.iterdir()).read_text().startswith("x = 2")
    assert mine.read_text() == "edited since\n"
    assert leftovers(fort.shelf.repo) == []
    mine.write_text("x = 2\n" * 40)
    assert Whole.of(fort.shelf.repo) == fort.old


def _number(fort: Fort, name: str) -> int:
    """Which moment of landing a lane has this name."""
    seen: list[str] = []
    transaction.moment = seen.append
    fort.act("lane")
    transaction.moment = lambda _: None
    fort.reset()
    return seen.index(name) + 1


def _theirs(tree: Path) -> None:
    (tree / "src/pager.py").write_text("theirs\n")


def test_a_file_saved_in_the_very_moment_of_its_exchange_is_put_back_whole(
    repo: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo)
    shelf = Shelf.of(repo, scratch)
    shelf.lane("claude", _theirs)

    def save(name: str) -> None:
        if name == "give":  # looked at already, not yet exchanged
            (repo / "src/pager.py").write_text("saved just now\n")

    monkeypatch.setattr(transaction, "moment", save)
    with pytest.raises(transaction.RolledBack, match=r"src/pager\.py was changed meanwhile"):
        shelf.merge("claude")
    assert (repo / "src/pager.py").read_text() == "saved just now\n"
    assert git(repo, "rev-parse", "HEAD") == shelf.race.base
    assert leftovers(repo) == []


def test_a_branch_that_moves_in_the_last_moment_puts_all_back(
    repo: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo)
    shelf = Shelf.of(repo, scratch)
    shelf.lane("claude", _theirs)
    before = Whole.of(repo)
    other = git(repo, "commit-tree", "-p", "HEAD", "-m", "elsewhere", "HEAD^{tree}")

    def move(name: str) -> None:
        if name == "ref":
            git(repo, "update-ref", "refs/heads/main", other)

    monkeypatch.setattr(transaction, "moment", move)
    with pytest.raises(transaction.RolledBack, match="the branch has moved meanwhile"):
        shelf.merge("claude")
    assert Whole.of(repo).files == before.files
    assert git(repo, "rev-parse", "main") == other
    assert git(repo, "status", "--porcelain") == ""
    assert leftovers(repo) == []


def test_two_landings_at_once_are_one_after_the_other(
    repo: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo)
    shelf = Shelf.of(repo, scratch)
    shelf.lane("claude", _theirs)
    processes: list[subprocess.CompletedProcess[str]] = []

    def beside(name: str) -> None:
        if name == "give":
            processes.append(shelf.command("merge", "claude"))

    monkeypatch.setattr(transaction, "moment", beside)
    shelf.merge("claude")
    assert processes[0].returncode == 5
    assert "another landing is under way" in processes[0].stderr
    assert git(repo, "log", "--oneline").count("\n") == 1

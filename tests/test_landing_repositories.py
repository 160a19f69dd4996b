"""Landing in every kind of repository: the rows of the table of faults, kind by kind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hydra.errors import LandingRefused
from hydra.landing import transaction
from hydra.race.recovery.startup import recover
from tests.conftest import git
from tests.support import landing_kinds as kinds
from tests.support.landing_kinds import KINDS, OWN, Stand
from tests.support.landings import Shelf


@dataclass
class Ground:
    """One kind of repository with an empty run over it."""

    kind: str
    shelf: Shelf
    scratch: Path

    @property
    def repo(self) -> Path:
        return self.shelf.repo

    def land(self, lane: str = "claude", **document: object) -> object:
        return self.shelf.merge(lane, **document)


QUICK = ("linked-worktree", "sparse-cone", "sha256", "autocrlf")
"""The kinds of the default run; `pytest -m full` has the others."""


@pytest.fixture(
    params=[pytest.param(k, marks=() if k in QUICK else pytest.mark.full) for k in KINDS]
)
def ground(
    request: pytest.FixtureRequest, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Ground]:
    """Every kind in turn; the test stands in its work tree."""
    yield from made(request.param, scratch, monkeypatch)


def made(kind: str, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    monkeypatch.chdir(scratch)
    repo = KINDS[kind](scratch)
    monkeypatch.chdir(repo)
    allow = ("rot",) if kind == "allowed-filter" else ()
    try:
        yield Ground(kind, Shelf.of(repo, scratch, allow), scratch)
    finally:
        kinds.quiet()


def test_a_landing_on_a_tree_with_other_changes_and_its_undo(ground: Ground) -> None:
    """Row 5, and back again."""
    ground.shelf.lane("claude", kinds.work)
    kinds.users_own(ground.repo)
    before = Stand.of(ground.repo)
    (ground.scratch / "ran").unlink(missing_ok=True)  # what plain git ran until now
    ground.land()
    after = Stand.of(ground.repo)
    if "sparse" in ground.kind or ground.kind == "partial-clone":
        assert ("new/file.txt" in after.files) == (ground.kind == "sparse-patterns")
        git(ground.repo, "sparse-checkout", "reapply")
        assert Stand.of(ground.repo) == after
    assert kinds.unlike_git(ground.repo) == []
    assert {name: after.files[name] for name in OWN} == {name: before.files[name] for name in OWN}
    assert after.stash == before.stash
    assert _status(ground.repo) == OTHERS
    assert kinds.clean(ground.repo)
    ground.shelf.undo()
    assert Stand.of(ground.repo) == before
    assert _status(ground.repo) == OTHERS
    assert kinds.clean(ground.repo)
    assert not (ground.scratch / "ran").exists()


def _status(repo: Path) -> list[str]:
    return sorted(git(repo, "status", "--porcelain").splitlines())


OTHERS = [" M README.md", "?? untracked.txt", "MM staged.txt"]


@pytest.mark.slow
def test_a_landing_killed_is_old_or_new(ground: Ground) -> None:
    """Row 19: at a few moments here; the storm has them all."""
    repo = ground.repo
    ground.shelf.lane("claude", kinds.work)
    kinds.users_own(repo)
    before = Stand.of(repo)
    seen: list[str] = []
    transaction.moment = seen.append
    ground.land()
    after = Stand.of(repo)
    kinds.quiet()
    ground.shelf.undo()
    answers = set()
    for name in ("locked", "taken", "given", "index", "index set", "ref set"):
        assert kinds.killed_at(ground.land, seen.index(name) + 1)
        lines: list[str] = []
        recover(ground.shelf.environ, lines.append)
        now = Stand.of(repo)
        assert now in (before, after), (name, lines)
        assert kinds.clean(repo)
        answers.add(now == after)
        if now == after:
            ground.shelf.undo()
    assert answers == {True, False}


@pytest.mark.slow
def test_a_branch_that_moves_is_merged_with_or_puts_all_back(ground: Ground) -> None:
    """Row 37: in the last moment; and before the landing."""
    repo = ground.repo
    ground.shelf.lane("claude", kinds.work)
    kinds.users_own(repo)
    before = Stand.of(repo)
    other = git(repo, "commit-tree", "-p", "HEAD", "-m", "elsewhere", "HEAD^{tree}")

    def move(name: str) -> None:
        if name == "ref":
            hooks = ("-c", f"core.hooksPath={os.devnull}")
            git(repo, *hooks, "update-ref", "HEAD", other)

    transaction.moment = move
    with pytest.raises(transaction.RolledBack, match="the branch has moved meanwhile"):
        ground.land()
    kinds.quiet()
    assert git(repo, "rev-parse", "HEAD") == other
    assert Stand.of(repo) == before
    assert kinds.clean(repo)
    lines = (repo / "lines.txt").read_bytes()
    (repo / "lines.txt").write_bytes(lines.replace(b"line 25", b"mine", 1))
    _commit_only(repo, "lines.txt")
    landing = ground.shelf.merge("claude")
    assert landing.record.moved
    assert kinds.unlike_git(repo) == []
    output = (repo / "lines.txt").read_bytes()
    assert b"mine" in output
    assert b"three" in output
    assert kinds.clean(repo)


def _commit_only(repo: Path, path: str) -> None:
    git(repo, "-c", f"core.hooksPath={os.devnull}", "commit", "-q", "-m", "Mine", "--only", path)


SPARSE = ("sparse-cone", "sparse-patterns", "sparse-index")


@pytest.mark.parametrize("kind", SPARSE)
@pytest.mark.parametrize("what", ["changed and added", "removed"])
def test_paths_outside_of_a_sparse_checkout_change_in_the_index_alone(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, kind: str, what: str
) -> None:
    monkeypatch.chdir(scratch)
    repo = KINDS[kind](scratch)
    monkeypatch.chdir(repo)
    shelf = Shelf.of(repo, scratch)

    def edits(tree: Path) -> None:
        docs = tree / "docs" / "deep"
        docs.mkdir(parents=True, exist_ok=True)
        if what == "removed":
            (docs / "a.md").write_text("so that git looks at it\n")
            (tree / "src" / "pager.py").write_text("theirs\n")
        else:
            (docs / "a.md").write_text("theirs\n")
            (docs / "b.md").write_text("theirs\n")

    shelf.lane("claude", edits)
    lane = "claude"
    if what == "removed":  # no agent removes what its own sparse worktree has not
        lane = "codex"
        kinds.lane_of_entries(shelf, lane, f"0 {'0' * 40}\tdocs/deep/a.md\n")
    before = Stand.of(repo)
    shelf.merge(lane)
    assert not (repo / "docs").exists()
    assert git(repo, "status", "--porcelain") == ""
    listed = git(repo, "ls-files", "-t", "docs").splitlines()
    assert listed == ([] if what == "removed" else ["S docs/deep/a.md", "S docs/deep/b.md"])
    shelf.undo()
    assert Stand.of(repo) == before
    assert not (repo / "docs").exists()
    if what != "removed":  # one that stands there all the same is the user's
        (repo / "docs" / "deep").mkdir(parents=True)
        (repo / "docs" / "deep" / "b.md").write_text("mine\n")
        with pytest.raises(LandingRefused, match="in the way"):
            shelf.merge(lane)
        assert (repo / "docs" / "deep" / "b.md").read_text() == "mine\n"


@pytest.mark.parametrize("fold", ["true", "false"])
def test_a_sparse_checkout_of_a_folder_deep_down(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, fold: str
) -> None:
    """In a cone, the files beside the way belong to it, the folders beside the way do not."""
    repo = kinds.shop(scratch)
    (repo / "src" / "deep").mkdir()
    (repo / "src" / "deep" / "x").write_text("x\n")
    kinds.commit(repo)
    git(repo, "config", "core.ignoreCase", fold)
    git(repo, "sparse-checkout", "set", "--cone", "src/deep")
    monkeypatch.chdir(repo)
    shelf = Shelf.of(repo, scratch)
    names = {
        "src/beside.py": True,
        "src/deep/er/y": True,
        "src/other/z": False,
        "top.txt": True,
        "elsewhere/w": False,
    }

    def edits(tree: Path) -> None:
        for name in names:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text("new\n")

    shelf.lane("claude", edits)
    shelf.merge("claude")
    assert {name: (repo / name).exists() for name in names} == names
    after = Stand.of(repo)
    git(repo, "sparse-checkout", "reapply")
    assert Stand.of(repo) == after
    assert git(repo, "status", "--porcelain") == ""

"""Landing in every kind of repository: the rows of the table of faults, kind by kind."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hydra.commands.merge import desk_of
from hydra.errors import LandingRefused
from hydra.landing import transaction
from hydra.race.recovery.startup import recover
from tests.conftest import git
from tests.support import landing_kinds as kinds
from tests.support.landing_kinds import KINDS, OWN, Stand
from tests.support.landings import Shelf, everything

NEEDS = {"signed-by-gpg": "gpg", "signed-by-ssh": "ssh-keygen"}


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
    needed = NEEDS.get(kind)
    if needed and shutil.which(needed) is None:
        pytest.skip(f"{needed} is not here")
    monkeypatch.chdir(scratch)
    repo = KINDS[kind](scratch)
    monkeypatch.chdir(repo)
    allow = ("rot",) if kind == "allowed-filter" else ()
    try:
        yield Ground(kind, Shelf.of(repo, scratch, allow), scratch)
    finally:
        kinds.quiet()
        if kind == "signed-by-gpg":
            kinds.end_gpg(scratch)


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
    assert _status(ground.repo) == _others(ground.kind)
    assert kinds.clean(ground.repo)
    if ground.kind.startswith("signed"):
        git(ground.repo, "verify-commit", "HEAD")
    ground.shelf.undo()
    assert Stand.of(ground.repo) == before
    assert _status(ground.repo) == _others(ground.kind)
    assert kinds.clean(ground.repo)
    assert not (ground.scratch / "ran").exists()


def _status(repo: Path) -> list[str]:
    return sorted(git(repo, "status", "--porcelain").splitlines())


def _others(kind: str) -> list[str]:
    more = [" A intended"] if kind == "flags" else []
    return sorted([" M README.md", "MM staged.txt", "?? untracked.txt", *more])


@pytest.mark.full
def test_a_landing_without_a_commit_and_its_undo(ground: Ground) -> None:
    ground.shelf.lane("claude", kinds.work)
    kinds.users_own(ground.repo)
    before = Stand.of(ground.repo)
    ground.land(commit=False)
    after = everything(ground.repo)
    assert {name: after[name] for name in OWN} == {name: before.files[name] for name in OWN}
    staged = git(ground.repo, "diff", "--cached", "--name-only", "--no-renames").splitlines()
    assert set(staged) - {"intended"} == {*kinds.TOUCHED, "staged.txt"}
    assert git(ground.repo, "rev-parse", "HEAD^{tree}") == before.tree
    ground.shelf.undo()
    assert Stand.of(ground.repo) == before
    assert kinds.clean(ground.repo)


OVERLAPS = {
    "changed": ("src/pager.py", "changed in your tree"),
    "staged": ("lines.txt", "changed in your index (staged)"),
    "deleted": ("old/gone.txt", "deleted in your tree"),
    "untracked": ("new/file.txt", "there already"),
    "ignored": ("moved.sh", "there already"),
    "case": ("NEW/other.txt", "the same name to some file systems"),
}


@pytest.mark.full
def test_a_landing_on_changes_in_the_same_files_is_refused_before_any_write(
    ground: Ground,
) -> None:
    """Row 6: every overlap is named, the other files' too."""
    repo = ground.repo
    ground.shelf.lane("claude", kinds.work)
    kinds.users_own(repo)
    (repo / "src" / "pager.py").write_bytes(b"m\0i\0n\0e\0" if ground.kind == "utf16" else b"mine")
    (repo / "lines.txt").write_text("mine\n")
    git(repo, "add", "lines.txt")
    (repo / "old" / "gone.txt").unlink()
    (repo / "new").mkdir()
    (repo / "new" / "file.txt").write_text("mine\n")
    exclude = Path(git(repo, "rev-parse", "--path-format=absolute", "--git-path", "info/exclude"))
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("/moved.sh\n")
    (repo / "moved.sh").write_text("mine\n")
    before = Stand.of(repo)
    with pytest.raises(LandingRefused) as caught:
        ground.land()
    values = dict(caught.value.paths)
    for what in ("changed", "staged", "deleted", "untracked", "ignored"):
        path, why = OVERLAPS[what]
        assert why in values[path], values
    assert Stand.of(repo) == before
    assert kinds.clean(repo)
    assert not desk_of(ground.shelf.state, repo).file.exists()


@pytest.mark.full
def test_a_landing_in_conflict_is_refused_and_its_lane_kept(ground: Ground) -> None:
    """Row 8."""
    repo = ground.repo
    patch = ground.shelf.lane("claude", kinds.work)
    lines = (repo / "lines.txt").read_bytes()
    (repo / "lines.txt").write_bytes(lines.replace(b"line 3", b"mine", 1))
    git(repo, "add", "lines.txt")
    git(repo, "commit", "-qm", "Mine", "--no-verify")
    kinds.users_own(repo)
    before = Stand.of(repo)
    with pytest.raises(LandingRefused, match="both changed the same place") as caught:
        ground.land()
    assert [path for path, _ in caught.value.paths] == ["lines.txt"]
    assert Stand.of(repo) == before
    assert kinds.clean(repo)
    assert git(ground.shelf.race.patches, "rev-parse", "claude") == patch


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


@pytest.mark.full
def test_a_patch_with_a_file_that_the_user_ignores_is_refused_by_name(ground: Ground) -> None:
    """Row 20: an agent takes `.env` out of .gitignore."""
    ground.shelf.lane("claude", _with_env)
    kinds.users_own(ground.repo)
    before = Stand.of(ground.repo)
    with pytest.raises(LandingRefused) as caught:
        ground.land()
    assert [path for path, _ in caught.value.paths] == [".env"]
    assert "git does not track, or ignores" in caught.value.paths[0][1]
    assert Stand.of(ground.repo) == before


def _with_env(tree: Path) -> None:
    kinds.work(tree)
    (tree / ".gitignore").write_text("*.log\n")
    (tree / ".env").write_text("THEIRS=1\n")


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


@pytest.mark.full
def test_a_hook_that_a_patch_brings_into_the_tree_is_not_run_and_named(ground: Ground) -> None:
    """Row 46: the user's core.hooksPath lies in the tree."""
    git(ground.repo, "config", "core.hooksPath", ".githooks")
    ran = ground.scratch / "ran"

    def arm(tree: Path) -> None:
        kinds.work(tree)
        for name in kinds.HOOKS:
            kinds.hook(tree / ".githooks" / name, ran)

    ground.shelf.lane("claude", arm)
    landing = ground.shelf.merge("claude")
    # Where modes are not kept, the patch has no executable and git would not run it either.
    assert set(landing.hooks) == (set() if ground.kind == "no-file-modes" else set(kinds.HOOKS))
    assert (ground.repo / ".githooks" / "post-merge").exists()
    assert not ran.exists()
    undone = ground.shelf.undo()
    assert undone.files
    assert not ran.exists()


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

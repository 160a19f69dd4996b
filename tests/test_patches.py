"""patches.git holds each patch whatever becomes of the user's other branches, and of one git."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hydra.errors import Refused
from hydra.git import base_commit
from hydra.git import patches as patch_git
from tests.conftest import git, make_repository
from tests.support.grounds import Race, agent, changes, race_on, take
from tests.support.killed_git import kill_git

EDIT = {b"src/pager.py": b"fixed\n"}


@pytest.fixture
def race(repo: Path, scratch: Path) -> Race:
    return pinned(repo, scratch / "state")


def pinned(root: Path, state: Path, base: str = "HEAD") -> Race:
    race = race_on(root, state, base)
    base_commit.pin(race.repo, "r1", race.base)
    return race


def forget_all(root: Path) -> None:
    """What a person does who cleans up: nothing that no ref names is there afterwards."""
    git(root, "reflog", "expire", "--expire=now", "--all")
    git(root, "gc", "-q", "--prune=now")


def on_a_branch(root: Path) -> None:
    git(root, "checkout", "-qb", "side")
    write(root)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "side")
    git(root, "checkout", "-q", "main")


def forget_branch(root: Path) -> None:
    git(root, "branch", "-qD", "side")


def in_a_stash(root: Path) -> None:
    write(root)
    git(root, "stash", "-qu")


def forget_stash(root: Path) -> None:
    git(root, "stash", "clear")


def dangling(root: Path) -> None:
    on_a_branch(root)
    forget_branch(root)


def only_added(root: Path) -> None:
    write(root)
    git(root, "add", "-A")


def forget_added(root: Path) -> None:
    git(root, "reset", "-q", "--hard")


def in_a_pack(root: Path) -> None:
    on_a_branch(root)
    git(root, "gc", "-q")


def in_a_tag(root: Path) -> None:
    on_a_branch(root)
    git(root, "tag", "v1", "side")
    forget_branch(root)


def forget_tag(root: Path) -> None:
    git(root, "tag", "-d", "v1")


def write(root: Path) -> None:
    """Two files, one of them in a new folder: blobs and trees that a patch may share."""
    (root / "src" / "pager.py").write_text("fixed\n")
    (root / "new" / "deep").mkdir(parents=True)
    (root / "new" / "deep" / "shared.txt").write_text("shared\n" * 50)


SHARED = {**EDIT, b"new/deep/shared.txt": b"shared\n" * 50}


@pytest.mark.parametrize(
    ("share", "forget"),
    [
        (on_a_branch, forget_branch),
        (in_a_stash, forget_stash),
        (dangling, lambda root: None),
        (only_added, forget_added),
        (in_a_pack, forget_branch),
        (in_a_tag, forget_tag),
    ],
)
def test_what_a_patch_shares_with_the_users_other_work_outlives_that(
    repo: Path, scratch: Path, share: Callable[[Path], None], forget: Callable[[Path], None]
) -> None:
    share(repo)
    race = pinned(repo, scratch / "state")
    ground = race.opened()
    write(ground.worktree)
    patch = take(ground)
    ground.remove()
    forget(repo)
    forget_all(repo)
    assert changes(race, patch) == SHARED
    git(race.patches, "fsck", "--full", "--strict", patch.commit)
    git(repo, "fetch", "-q", str(race.patches), "claude")


def test_an_alternate_of_the_users_may_forget_too(repo: Path, scratch: Path) -> None:
    on_a_branch(repo)
    git(scratch, "clone", "-q", "--shared", "--branch", "main", str(repo), "clone")
    clone = scratch / "clone"
    race = pinned(clone, scratch / "state")
    ground = race.opened()
    write(ground.worktree)
    patch = take(ground)
    ground.remove()
    forget_branch(repo)
    forget_all(repo)
    assert changes(race, patch) == SHARED


def test_a_repository_of_sha256_is_no_other(scratch: Path) -> None:
    root = scratch / "shop"
    root.mkdir()
    git(root, "init", "-q", "-b", "main", "--object-format=sha256")
    make_repository(root)
    on_a_branch(root)
    race = pinned(root, scratch / "state")
    ground = race.opened()
    write(ground.worktree)
    patch = take(ground)
    ground.remove()
    forget_branch(root)
    forget_all(root)
    assert changes(race, patch) == SHARED


def test_uncommitted_changes_that_a_race_began_from_are_held_too(repo: Path, scratch: Path) -> None:
    only_added(repo)
    race = race_on(repo, scratch / "state")
    base_commit.pin(race.repo, "r1", race.base)
    dirty = base_commit.dirty_base(race.repo, race.patches, race.base, race.limits)
    ground = race.ground(base=dirty)
    ground.open()
    forget_added(repo)
    forget_all(repo)
    agent(ground.worktree, "git diff --quiet; git stash list; git log -p -1 > /dev/null")
    (ground.worktree / "README.md").write_text("changed\n")
    patch = take(ground)
    ground.remove()
    assert changes(race, patch) == {b"README.md": b"changed\n"}
    git(race.patches, "fsck", "--full", "--strict", patch.commit)


def test_what_was_only_moved_is_not_written_twice(race: Race) -> None:
    ground = race.opened()
    agent(ground.worktree, "mkdir moved; mv src README.md moved")
    patch = take(ground)
    ground.remove()
    assert len(changes(race, patch)) == 4
    assert packed(race.patches) == ["commit", "tree", "tree"]  # by which they were named


def packed(patches: Path) -> list[str]:
    """The kind of each object in the packs of patches.git."""
    kinds = []
    for pack in (patches / "objects" / "pack").glob("*.idx"):
        lines = git(patches, "verify-pack", "-v", str(pack)).splitlines()
        kinds += [line.split()[1] for line in lines if line[:40].isalnum() and len(line) > 45]
    return kinds


def test_a_gc_between_two_steps_of_taking_a_patch_costs_nothing(
    repo: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dangling(repo)
    race = pinned(repo, scratch / "state")
    ground = race.opened()
    write(ground.worktree)
    # The blobs were seen in the user's repository when this begins, and are gone when it ends.
    tools = scratch / "tools"
    then = f'git -C "{repo}" reflog expire --expire=now --all && git -C "{repo}" gc -q --prune=now'
    kill_git(tools, "write-tree", times=1, at="never", then=then)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    patch = take(ground)
    ground.remove()
    assert not patch.incomplete
    assert changes(race, patch) == SHARED


STEPS = [
    "diff-files",
    "ls-files",
    "update-index",
    "write-tree",
    "diff-tree",
    "pack-objects",
    "rev-parse",
    "commit-tree",
    "update-ref",
    "cat-file",
]


@pytest.mark.slow
@pytest.mark.parametrize("at", ["begin", "end", "short"])
@pytest.mark.parametrize("verb", STEPS)
def test_a_git_that_is_killed_once_costs_nothing(
    race: Race, scratch: Path, monkeypatch: pytest.MonkeyPatch, verb: str, at: str
) -> None:
    ground = race.opened()
    write(ground.worktree)
    patch_git._tree.cache_clear()
    flags = kill_git(scratch / "tools", verb, times=1, at=at)
    monkeypatch.setenv("PATH", f"{scratch / 'tools'}:{os.environ['PATH']}")
    patch = take(ground)
    assert [*flags.iterdir()], "nothing was killed"
    assert not patch.incomplete
    assert not patch.left_behind
    assert changes(race, patch) == SHARED
    assert patch_git.branches(race.patches) == {"claude": patch.commit}
    assert not [*race.patches.glob("**/*.lock")]


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["update-index", "write-tree", "pack-objects", "update-ref"])
def test_a_git_that_is_killed_each_time_is_said_and_the_worktree_named(
    race: Race, scratch: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    ground = race.opened()
    write(ground.worktree)
    kill_git(scratch / "tools", verb, times=99)
    with monkeypatch.context() as patched:
        patched.setenv("PATH", f"{scratch / 'tools'}:{os.environ['PATH']}")
        patch = take(ground)
    assert f"git {verb} was killed by signal 9" in patch.incomplete
    assert f"its worktree is kept: {ground.worktree}" in patch.notes
    # Nothing there says to a recovery that nothing was done.
    assert patch_git.tries(race.patches, "claude") == {}
    assert changes(race, take(ground)) == SHARED


def test_a_base_that_goes_as_the_race_begins_is_said_to_have_gone(race: Race) -> None:
    git(race.repo.root, "commit", "-q", "--amend", "-m", "another")
    git(race.repo.root, "update-ref", "-d", "refs/hydra/r1/base")
    forget_all(race.repo.root)
    with pytest.raises(Refused, match="went away as the race began"):
        base_commit.pin(race.repo, "r1", race.base)


@pytest.mark.slow
def test_a_patch_stands_where_git_is_killed_over_the_work_beside_it(
    race: Race, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground = race.opened()
    agent(ground.worktree, "echo work >> README.md; git stash -q")
    write(ground.worktree)
    kill_git(scratch / "tools", "index-pack", times=99)
    with monkeypatch.context() as patched:
        patched.setenv("PATH", f"{scratch / 'tools'}:{os.environ['PATH']}")
        patch = take(ground)
    assert changes(race, patch) == SHARED
    assert patch.left_behind == 1
    assert patch_git.is_behind(race.patches, "claude", 1)
    assert any("git index-pack was killed by signal 9" in note for note in patch.notes)
    assert f"its worktree is kept: {ground.worktree}" in patch.notes

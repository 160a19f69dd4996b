"""patches.git holds each patch whatever becomes of the user's other branches, and of one git."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hydra.errors import Refused
from hydra.git import base_commit
from hydra.git import patches as patch_git
from hydra.records.outcome import Patch
from tests.conftest import git
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


WRITE = """
echo fixed > src/pager.py
mkdir -p new/deep; for n in $(seq 50); do echo shared; done > new/deep/shared.txt
"""
"""Two files, one of them in a new folder: blobs and trees that a patch may share."""

SHARED = {**EDIT, b"new/deep/shared.txt": b"shared\n" * 50}
SIDE = f"git checkout -qb side; {WRITE} git add -A; git commit -qm side; git checkout -q main"
FORGET = "git branch -qD side"
FORGET_ALL = "git reflog expire --expire=now --all; git gc -q --prune=now"
"""What a person does who cleans up: nothing that no ref names is there afterwards."""

ANEW = (
    "rm -r .git; git init -q -b main --object-format=sha256; git config user.name A;"
    " git config user.email a@example.com; git add -A; git commit -qm one"
)
SHARES = {
    "on a branch": (SIDE, FORGET),
    "in a stash": (f"{WRITE} git stash -qu", "git stash clear"),
    "dangling": (f"{SIDE}; {FORGET}", ":"),
    "only added": (f"{WRITE} git add -A", "git reset -q --hard"),
    "in a pack": (f"{SIDE}; git gc -q", FORGET),
    "in a tag": (f"{SIDE}; git tag v1 side; {FORGET}", "git tag -d v1"),
    "in an alternate": (SIDE, FORGET),
    "of sha256": (f"{ANEW}; {SIDE}", FORGET),
}
"""How the user's repository has what a patch will have, too, and how it goes from there."""


def taken(race: Race, script: str = WRITE) -> Patch:
    ground = race.opened()
    agent(ground.worktree, script)
    patch = take(ground)
    ground.remove()
    return patch


@pytest.mark.parametrize("where", SHARES)
def test_what_a_patch_shares_with_the_users_other_work_outlives_that(
    repo: Path, scratch: Path, where: str
) -> None:
    share, forget = SHARES[where]
    agent(repo, share)
    root = repo
    if where == "in an alternate":
        root = scratch / "clone"
        git(scratch, "clone", "-q", "--shared", "--branch", "main", str(repo), "clone")
    race = pinned(root, scratch / "state")
    patch = taken(race)
    agent(repo, f"{forget}; {FORGET_ALL}")
    assert changes(race, patch) == SHARED
    git(race.patches, "fsck", "--full", "--strict", patch.commit)
    if root == repo:  # a clone that borrows has lost its own `origin/side`
        git(root, "fetch", "-q", str(race.patches), "claude")


def test_uncommitted_changes_that_a_race_began_from_are_held_too(repo: Path, scratch: Path) -> None:
    agent(repo, SHARES["only added"][0])
    race = pinned(repo, scratch / "state")
    dirty = base_commit.dirty_base(race.repo, race.patches, race.base, race.limits)
    ground = race.ground(base=dirty)
    ground.open()
    agent(repo, f"git reset -q --hard; {FORGET_ALL}")
    agent(ground.worktree, "git diff --quiet; git stash list; git log -p -1 > /dev/null")
    (ground.worktree / "README.md").write_text("changed\n")
    patch = take(ground)
    ground.remove()
    assert changes(race, patch) == {b"README.md": b"changed\n"}
    git(race.patches, "fsck", "--full", "--strict", patch.commit)


def test_what_was_only_moved_is_not_written_twice(race: Race) -> None:
    patch = taken(race, "mkdir moved; mv src README.md moved")
    assert len(changes(race, patch)) == 4
    assert packed(race.patches) == ["commit", "tree", "tree"]  # by which they were named


def test_a_message_of_any_text_is_one_that_git_takes_and_nobody_signs_but_hydra(
    race: Race, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ada")
    ground = race.opened()
    agent(ground.worktree, WRITE)
    commit = ground.snapshot(attempt=1, message="a\udcff b\0c").commit
    shown = git(race.patches, "log", "-1", "--format=%an, %cn: %s", commit)
    assert shown == r"Hydra, Hydra: a\udcff bc"


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
    agent(repo, SHARES["dangling"][0])
    race = pinned(repo, scratch / "state")
    ground = race.opened()
    agent(ground.worktree, WRITE)
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
    agent(ground.worktree, WRITE)
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
    agent(ground.worktree, WRITE)
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
    agent(race.repo.root, FORGET_ALL)
    with pytest.raises(Refused, match="went away as the race began"):
        base_commit.pin(race.repo, "r1", race.base)


@pytest.mark.slow
def test_a_patch_stands_where_git_is_killed_over_the_work_beside_it(
    race: Race, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ground = race.opened()
    agent(ground.worktree, "echo work >> README.md; git stash -q")
    agent(ground.worktree, WRITE)
    kill_git(scratch / "tools", "index-pack", times=99)
    with monkeypatch.context() as patched:
        patched.setenv("PATH", f"{scratch / 'tools'}:{os.environ['PATH']}")
        patch = take(ground)
    assert changes(race, patch) == SHARED
    assert patch.left_behind == 1
    assert patch_git.is_behind(race.patches, "claude", 1)
    assert any("git index-pack was killed by signal 9" in note for note in patch.notes)
    assert f"its worktree is kept: {ground.worktree}" in patch.notes

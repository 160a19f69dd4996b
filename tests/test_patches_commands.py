"""What `hydra` says and does once the user has tidied up their repository, or a git was killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra
from tests.support.killed_git import kill_git
from tests.support.trees import agent
from tests.test_patches import FORGET, FORGET_ALL, SIDE

SHARED = "shared\n" * 50


STEPS = (
    fakes.edit("src/pager.py", "fixed\n"),
    fakes.edit("new/deep/shared.txt", SHARED),
    fakes.finish("done"),
)

READS = (
    ("runs", "show"),
    ("diff", "claude"),
    ("diff", "claude", "--stat"),
    ("diff", "claude", "--mbox"),
    ("diff", "claude", "--bundle", "-o", "out.bundle"),
    ("compare",),
    ("check", "--check", "test -e new/deep/shared.txt"),
    ("merge", "claude", "--dry-run"),
    ("merge", "claude"),
)


@pytest.mark.slow
def test_every_command_works_after_a_branch_that_had_it_too_is_gone(hydra: Hydra) -> None:
    agent(hydra.repo, SIDE)
    hydra.agent("claude", [*STEPS])
    assert hydra.race("-a", "claude").lane("claude")["usable"]
    agent(hydra.repo, f"{FORGET}; {FORGET_ALL}")
    for arguments in READS:
        done = hydra.run(*arguments)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    assert (hydra.repo / "new" / "deep" / "shared.txt").read_text() == SHARED
    agent(hydra.repo, FORGET_ALL)
    assert hydra.run("merge", "--undo").returncode == 0


@pytest.mark.full
def test_a_patch_that_an_older_hydra_did_not_hold_is_said_to_be_gone(hydra: Hydra) -> None:
    hydra.agent("claude", [*STEPS])
    folder = Path(hydra.race("-a", "claude").document["folder"])
    for pack in (folder / "patches.git" / "objects" / "pack").iterdir():
        pack.unlink()
    for arguments in READS:
        done = hydra.run(*arguments)
        assert done.returncode == 6, (arguments, done.stdout, done.stderr)
        assert "a git gc has taken it away" in done.stderr, (arguments, done.stderr)
        assert "partial clone" not in done.stderr
        assert "Traceback" not in done.stderr
    assert "claude" in hydra.run("runs", "show").stdout


@pytest.mark.slow
def test_a_base_that_is_gone_is_said_to_be(hydra: Hydra) -> None:
    hydra.agent("claude", [*STEPS])
    hydra.race("-a", "claude")
    for ref in git(hydra.repo, "for-each-ref", "--format=%(refname)", "refs/hydra").split():
        git(hydra.repo, "update-ref", "-d", ref)
    git(hydra.repo, "commit", "-q", "--amend", "-m", "another")
    agent(hydra.repo, FORGET_ALL)
    for arguments in READS:
        done = hydra.run(*arguments)
        assert done.returncode == 6, (arguments, done.stdout, done.stderr)
        assert "is not in" in done.stderr, (arguments, done.stderr)


@pytest.mark.slow
def test_work_that_is_in_no_file_is_not_called_no_changes(hydra: Hydra) -> None:
    who = "git config user.name a; git config user.email b"
    stash = f"{who}; echo work >> README.md; git stash -q"
    hydra.agent("claude", [fakes.shell("sh", "-c", stash), fakes.finish("done")])
    race = hydra.race("-a", "claude")
    lane = race.lane("claude")
    assert (lane["status"], lane["error"]["reason"]) == ("failed", "stranded_work")
    (ref,) = lane["patch"]["stranded"]
    fetch = f'git fetch "$(hydra runs path {race.document["run"]})/patches.git" {ref}'
    assert lane["error"]["hint"] == f"`{fetch}` brings it"
    shown = hydra.run("runs", "show").stdout
    assert ref in shown
    assert "no changes" not in shown
    git(hydra.repo, "fetch", "-q", f"{race.document['folder']}/patches.git", ref)
    assert "work" in git(hydra.repo, "show", "FETCH_HEAD:README.md")


@pytest.mark.slow
def test_the_only_copy_is_kept_and_named_where_git_is_killed_each_time(hydra: Hydra) -> None:
    hydra.agent("claude", [*STEPS])
    tools = hydra.scratch / "tools"
    kill_git(tools, "update-index", times=99)
    hydra.path.insert(0, tools)
    race = hydra.race("-a", "claude", "--keep", "none")
    lane = race.lane("claude")
    assert "was killed by signal 9" in lane["error"]["message"]
    assert lane["status"] == "failed"
    worktree = Path(lane["worktree"])
    assert f"its worktree is kept: {worktree}" in lane["patch"]["notes"]
    assert (worktree / "new" / "deep" / "shared.txt").read_text() == SHARED
    assert str(worktree) in hydra.run("runs", "show").stdout.replace("\n", "")

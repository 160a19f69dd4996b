"""A repository whose index is in two files (`git update-index --split-index`)."""

from __future__ import annotations

from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra


def test_include_dirty_keeps_to_what_a_split_index_says_and_its_patch_lands(hydra: Hydra) -> None:
    """A file that the user has told git to leave alone is no part of their uncommitted work."""
    repo = hydra.repo
    (repo / "own.ini").write_text("ours\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Settings")
    git(repo, "update-index", "--skip-worktree", "own.ini")
    (repo / "own.ini").write_text("mine\n")
    git(repo, "update-index", "--split-index")
    (repo / "staged.txt").write_text("staged\n")
    git(repo, "add", "staged.txt")
    (repo / "README.md").write_text("changed\n")
    assert list((repo / ".git").glob("sharedindex.*"))
    before = git(repo, "status", "--porcelain"), git(repo, "ls-files", "--stage", "-v")
    work = "cat own.ini staged.txt README.md > seen.txt; echo more >> README.md"
    hydra.agent("claude", [fakes.shell("sh", "-c", work), fakes.finish("done")])
    race = hydra.run("race", "Do it", "-a", "claude", "--include-dirty", "--no-check")
    assert race.returncode == 0, race.stdout + race.stderr
    landed = hydra.run("merge", "claude", "--no-commit")
    assert landed.returncode == 0, landed.stdout + landed.stderr
    assert (repo / "seen.txt").read_text() == "ours\nstaged\nchanged\n"
    assert (repo / "README.md").read_text() == "changed\nmore\n"
    assert (repo / "own.ini").read_text() == "mine\n"
    assert git(repo, "ls-files", "-v", "own.ini") == "S own.ini"
    undone = hydra.run("merge", "--undo")
    assert undone.returncode == 0, undone.stderr
    assert (git(repo, "status", "--porcelain"), git(repo, "ls-files", "--stage", "-v")) == before

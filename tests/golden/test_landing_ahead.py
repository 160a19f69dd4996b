"""Landing a patch that was made on commits which the branch does not have yet."""

from __future__ import annotations

import pytest

from tests.conftest import commit, git
from tests.support import fakes
from tests.support.command import Hydra

pytestmark = pytest.mark.slow


def raced_ahead(hydra: Hydra) -> str:
    """A race from the branch `feature`, one commit ahead of main; that commit."""
    repo = hydra.repo
    git(repo, "checkout", "-qb", "feature")
    (repo / "feature.txt").write_text("feature\n")
    commit(repo, "Ahead")
    git(repo, "checkout", "-q", "main")
    hydra.agent("claude", [fakes.edit("new.txt", "new\n"), fakes.finish("done")])
    race = hydra.run("race", "Do it", "-a", "claude", "--base", "feature", "--no-check")
    assert race.returncode == 0, race.stdout + race.stderr
    return git(repo, "rev-parse", "feature")


def test_each_line_that_is_offered_lands_it(hydra: Hydra) -> None:
    repo, start = hydra.repo, git(hydra.repo, "rev-parse", "HEAD")
    ahead = raced_ahead(hydra)
    refused = hydra.run("merge", "claude")
    assert (refused.returncode, git(repo, "rev-parse", "HEAD")) == (5, start)
    line = refused.stderr.partition("take that first: ")[2].partition(";")[0]
    git(repo, *line.split()[1:])
    assert git(repo, "rev-parse", "HEAD") == ahead
    landed = hydra.run("merge", "claude")
    assert landed.returncode == 0, landed.stdout + landed.stderr
    assert git(repo, "rev-parse", "HEAD^") == ahead
    assert (repo / "new.txt").read_text() == "new\n"
    assert hydra.run("merge", "--undo").returncode == 0
    git(repo, "reset", "-q", "--hard", start)
    assert "--branch NAME" in refused.stderr
    landed = hydra.run("merge", "claude", "--branch", "both")
    assert landed.returncode == 0, landed.stdout + landed.stderr
    assert git(repo, "rev-parse", "HEAD", "both^") == f"{start}\n{ahead}"
    assert git(repo, "diff", "--name-only", "feature", "both") == "new.txt"
    undone = hydra.run("merge", "--undo")
    assert undone.returncode == 0, undone.stderr


@pytest.mark.parametrize("has", [False, True], ids=["lacks", "squashed"])
def test_a_branch_that_went_another_way_is_told_what_it_lacks(hydra: Hydra, has: bool) -> None:
    raced_ahead(hydra)
    repo = hydra.repo
    git(repo, "commit", "-q", "--allow-empty", "-m", "Another way")
    if has:
        git(repo, "merge", "-q", "--squash", "feature")
        git(repo, "commit", "-q", "-m", "Squashed")
    landed = hydra.run("merge", "claude")
    assert landed.returncode == 0, landed.stdout + landed.stderr
    assert ("main lacks: the patch lands without them" in landed.stdout + landed.stderr) != has
    assert (repo / "feature.txt").exists() == has
    assert (repo / "new.txt").read_text() == "new\n"

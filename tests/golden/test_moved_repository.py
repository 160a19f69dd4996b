"""A lane's own repository that its agent has moved, or copied, into the tree."""

from __future__ import annotations

import json

import pytest

from tests.conftest import git
from tests.support import fakes
from tests.support.command import Hydra

pytestmark = pytest.mark.slow

WORK = "echo b > b; git add b; git commit -qm work; git rm -q b; echo new > new.txt; mkdir -p sub"


@pytest.mark.parametrize(
    ("shell", "says"),
    [
        (f"{WORK}; mv .git sub/.git-old", "being the lane's repository: sub/.git-old/"),
        (
            f"{WORK}; mv .git sub/store; echo 'gitdir: sub/store' > .git",
            "being the lane's repository: sub/store/",
        ),
        (f"{WORK}; cp -r .git backup", "being a copy of the lane's repository: backup/"),
    ],
    ids=["moved", "linked", "copied"],
)
def test_it_is_named_and_no_part_of_the_patch(hydra: Hydra, shell: str, says: str) -> None:
    hydra.agent("claude", [fakes.shell("sh", "-c", shell), fakes.finish("done")])
    race = hydra.race("-a", "claude", "--no-check")
    patches = f"{race.document['folder']}/patches.git"
    assert git(hydra.repo, "-C", patches, "diff", "--name-only", "claude^", "claude") == "new.txt"
    patch = race.lane("claude")["patch"]
    assert any(says in note for note in patch["notes"]), json.dumps(patch, indent=1)
    assert bool(patch["left_behind"]) == ("copy" in says)
    refs = git(hydra.repo, "-C", patches, "for-each-ref", "--format=%(refname)", "refs/left")
    assert refs  # its commit is kept all the same


def test_a_repository_that_the_task_asked_for_is(hydra: Hydra) -> None:
    shell = "git init -q --bare fixtures/repo.git; echo new > new.txt"
    hydra.agent("claude", [fakes.shell("sh", "-c", shell), fakes.finish("done")])
    race = hydra.race("-a", "claude", "--no-check")
    patches = f"{race.document['folder']}/patches.git"
    named = git(hydra.repo, "-C", patches, "diff", "--name-only", "claude^", "claude")
    assert "fixtures/repo.git/HEAD" in named.splitlines()

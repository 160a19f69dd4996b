"""What an agent lays in its lane to be looked at holds nothing up, and leads nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import git
from tests.support.grounds import Race, agent, race_on, take


@pytest.fixture
def race(repo: Path, scratch: Path) -> Race:
    return race_on(repo, scratch / "state")


def test_of_many_that_may_be_its_repository_the_first_are_looked_at(race: Race) -> None:
    ground = race.opened()
    agent(
        ground.worktree,
        "mv .git ../tmp/own; for n in $(seq 60); do cp -r ../tmp/own ../tmp/$n; done",
    )
    patch = take(ground)
    assert patch.left_behind == 1
    assert any("more that may be its repository were not looked at" in n for n in patch.notes)


def test_what_costs_an_agent_nothing_to_lay_is_not_read_for_ever(race: Race) -> None:
    ground = race.opened()
    logs = "logs=.git/logs/x; mkdir -p $logs; truncate -s 60M $logs/0"
    agent(ground.worktree, f"{logs}; for n in $(seq 4000); do ln $logs/0 $logs/$n; done")
    patch = take(ground)
    assert patch.left_behind == 1
    assert "not all reflogs of its repository were read" in patch.notes


def test_a_repository_that_was_moved_where_nobody_finds_it_keeps_the_lane(
    race: Race, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hydra.git.lane_folder._FOLDERS", 40)
    ground = race.opened()
    deep = "d=../tmp; for n in $(seq 50); do d=$d/d; done; mkdir -p $d"
    agent(ground.worktree, f"{deep}; mv .git $d/own")
    patch = take(ground)
    assert patch.left_behind == 1
    assert any("not all folders could be searched for it" in note for note in patch.notes)


def test_a_worktree_that_is_said_to_lie_where_the_sign_in_is_is_not_taken(race: Race) -> None:
    ground = race.opened()
    (ground.worktree.parent / "home" / "credentials.json").write_text("made up\n")
    name = "echo ../../../../home/.git > .git/worktrees/w/gitdir"
    agent(ground.worktree, f"git worktree add -q --detach ../tmp/w; {name}")
    patch = take(ground)
    assert patch.left_behind == 1
    assert not patch.stranded
    listed = git(race.patches, "rev-list", "--objects", "--all")
    assert "credentials.json" not in listed

"""What an agent closes in its lane (`chmod 0`), moves or hides there costs none of its work: root
reads all of it anyway, an ordinary user has to open it first."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import git
from tests.support import fakes
from tests.support.command import Race
from tests.support.tables import table
from tests.support.trust import Place, by_account, by_ordinary, by_user, place

__all__ = ["place"]

pytestmark = pytest.mark.slow

WHO = "git config user.name a; git config user.email b"
STASH = f"{WHO}; echo work > x; git stash -qu"
ANEW = f"git init -q; {WHO}; git add -A; git commit -qm anew"
LANES = table("closed_lanes")


ALIKE = ("tags/v9", "v9", "stash/x", "Fix", "fix", "commit-1/x")
"""Branches (and a tag) whose short names are one, or a folder of another's."""


@by_ordinary
def test_what_an_agent_has_closed_is_opened_and_its_work_kept(place: Place) -> None:
    race, patches = raced(place, scripts("closed"))
    for lane, row in LANES["closed"].items():
        patch = race.lane(lane)["patch"]
        assert not patch["incomplete"], lane
        assert not patch["left_behind"], patch["notes"]
        assert place.git("show", f"{lane}:src/pager.py", cwd=patches) == "fixed"
        assert place.git("show", f"refs/left/{lane}/1/{row['where']}", cwd=patches) == "work"
        assert any("made readable" in note for note in patch["notes"]) == (lane != "claude-5")


@by_account
def test_work_in_a_worktree_that_an_agent_has_hidden_is_kept(place: Place) -> None:
    race, patches = raced(place, scripts("hidden"))
    for lane, row in LANES["hidden"].items():
        patch = race.lane(lane)["patch"]
        assert not patch["left_behind"], patch["notes"]
        (ref,) = patch["stranded"]
        assert f"refs/left/{lane}/1/{row['where']}".startswith(ref)
        assert place.git("show", f"refs/left/{lane}/1/{row['where']}", cwd=patches) == "work"


@by_account
def test_two_pieces_of_work_with_one_name_are_both_kept(place: Place) -> None:
    branch = "git checkout -q -b {0} $base; echo {0} > x; git add x; git commit -qm x"
    script = "; ".join(
        (
            *(WHO, "base=$(git rev-parse HEAD)", *(branch.format(name) for name in ALIKE)),
            *("git checkout -q --detach $base", "git tag v9 v9", "git branch -qD v9"),
            *("echo lost > x", "git add x", "git commit -qm x", "git checkout -q $base"),
            *("echo stash > x", "git stash -qu"),
        )
    )
    race, patches = raced(place, {"claude": script})
    patch = race.lane("claude")["patch"]
    assert not patch["left_behind"], patch["notes"]
    refs = [ref + "^3" * ref.endswith("stash") for ref in patch["stranded"]]
    shown = sorted(place.git("show", f"{ref}:x", cwd=patches) for ref in refs)
    assert shown == sorted((*ALIKE, "lost", "stash")), patch["stranded"]


@by_account
def test_a_repository_that_an_agent_has_moved_away_is_looked_at(place: Place) -> None:
    race, patches = raced(place, scripts("moved"))
    for lane in LANES["moved"]:
        patch = race.lane(lane)["patch"]
        assert place.git("show", f"{lane}:src/pager.py", cwd=patches) == "fixed"
        assert patch["stranded"] == [f"refs/left/{lane}/1/moved/stash"], patch["notes"]
        assert place.git("show", f"{patch['stranded'][0]}^3:x", cwd=patches) == "work"
        assert "took its git repository away" not in str(patch["notes"])


@by_user
def test_a_repository_that_an_agent_took_out_of_its_lane_is_missed(place: Place) -> None:
    race, _ = raced(place, {"claude": f"{STASH}; rm -rf .git; {ANEW}"})
    patch = race.lane("claude")["patch"]
    assert (patch["stranded"], patch["left_behind"]) == ([], 0)
    assert "took its git repository away" in str(patch["notes"])


@by_user
def test_a_thousand_other_stores_are_looked_into_and_then_no_more(place: Place) -> None:
    script = (
        f'{STASH}; for i in $(seq 1500) last; do echo "$TMPDIR/s/$i"; done > "$TMPDIR/l";'
        ' xargs mkdir -p < "$TMPDIR/l"; mv .git/objects/?? "$TMPDIR/s/last";'
        ' cat "$TMPDIR/l" >> .git/objects/info/alternates; git stash show --include-untracked'
    )
    race, patches = raced(place, {"claude": script})
    patch = race.lane("claude")["patch"]
    assert place.git("show", "claude:src/pager.py", cwd=patches) == "fixed"
    assert "stash holds work that could not be kept" in str(patch["notes"])
    assert (patch["stranded"], patch["left_behind"]) == ([], 1)


@by_account
def test_what_leads_out_of_a_lane_is_not_followed(place: Place) -> None:
    git(place.repo, "worktree", "add", "-q", "--detach", str(place.scratch / "own"))
    (place.scratch / "own" / "README.md").write_text("the user's\n")
    git(place.scratch / "own", "commit", "-qam", "the user's")
    for number in range(3):
        (place.repo / "secret").write_text(f"{number}\n")
        git(place.repo, "stash", "-qu")
    private = place.repo.parent / "private"
    private.mkdir()
    private.chmod(0)
    race, _ = raced(place, scripts("out"))
    for lane in LANES["out"]:
        patch = race.lane(lane)["patch"]
        assert (patch["stranded"], patch["left_behind"]) == ([], 0), patch["notes"]
    assert private.stat().st_mode & 0o777 == 0


@by_ordinary
def test_a_race_from_uncommitted_changes_opens_nothing_of_the_users(place: Place) -> None:
    """Neither a repository inside the tree, of which nothing is taken, nor a closed folder."""
    repo = place.repo
    git(repo, "init", "-q", "n")
    (repo / ".gitignore").write_text("n/\n")
    place.agent("claude", [fakes.edit("src/pager.py", "fixed\n"), fakes.finish("done")])
    place.hand_over()
    store, folder = repo / "n" / ".git" / "objects", repo / "closed"
    store.chmod(0)
    options = ("-a", "claude", "--include-dirty", "--no-check")
    assert place.race(*options).lane("claude")["status"] == "completed"
    assert store.stat().st_mode & 0o777 == 0
    folder.mkdir(mode=0)
    os.chown(folder, place.uid, place.uid)
    refused = place.run("race", "Do it", *options)
    assert (refused.returncode, "could not be read: closed/" in refused.stderr) == (3, True)
    assert folder.stat().st_mode & 0o777 == 0


def scripts(kind: str) -> dict[str, str]:
    return {lane: row["script"] for lane, row in LANES[kind].items()}


def raced(place: Place, scripts: Mapping[str, str]) -> tuple[Race, Path]:
    """A race in which each lane's agent does that, and its patches.git."""
    cases = (f"{lane}) {script} ;;" for lane, script in scripts.items())
    script = "\n".join(("set -e", "case $HYDRA_LANE in", *cases, "esac"))
    shell = fakes.shell("sh", "-c", script)
    place.agent("claude", [shell, fakes.edit("src/pager.py", "fixed\n"), fakes.finish("done")])
    place.hand_over()
    race = place.race("-a", f"{len(scripts)}xclaude", "--no-check")
    return race, Path(race.document["folder"], "patches.git")

"""A repository that was moved: its races are recorded under its old path, and that is said."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.conftest import git
from tests.support import landing_kinds as kinds
from tests.support.landings import RUN, Shelf


@pytest.fixture
def shelf(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """One lane's work on the project, pinned as a race pins its base."""
    monkeypatch.chdir(scratch)
    shelf = Shelf.of(kinds.shop(scratch), scratch)
    shelf.lane("claude", kinds.work)
    git(shelf.repo, "update-ref", f"refs/hydra/{RUN}/base", shelf.race.base)
    return shelf


@pytest.mark.slow
def test_a_moved_repository_is_told_of_its_races_and_how_to_look_at_them(
    shelf: Shelf, scratch: Path
) -> None:
    old, shelf.repo = shelf.repo, scratch / "a new place"
    old.rename(shelf.repo)
    for terms in (["merge", "claude"], ["diff", "claude"], ["runs"], ["runs", "show", "-r", "2"]):
        done = shelf.command(*terms)
        assert done.returncode == 2
        assert f"1 race of it began at {old}, where it is no more" in done.stderr
    line = done.stderr.partition("the latest: ")[2].strip().replace("LANE", "claude")
    shown = subprocess.run(
        ["/bin/sh", "-c", line], cwd=shelf.repo, capture_output=True, text=True, check=True
    )
    assert "The task" in shown.stdout
    assert shlex.split(line)[2] == str(shelf.repo)
    process = shelf.command("merge", "claude", "--json")
    assert json.loads(process.stdout)["error"]["kind"] == "UsageError"


def test_a_link_at_the_old_path_is_told_too(shelf: Shelf, scratch: Path) -> None:
    old, shelf.repo = shelf.repo, scratch / "elsewhere"
    old.rename(shelf.repo)
    old.symlink_to(shelf.repo)
    done = shelf.command("runs")
    assert done.returncode == 2
    assert f"1 race of it began at {old}, which is a link to it now" in done.stderr
    line = done.stderr.partition("the latest: ")[2].strip().replace("LANE", "claude")
    git_show = ["/bin/sh", "-c", line]
    shown = subprocess.run(git_show, cwd=shelf.repo, capture_output=True, text=True, check=True)
    assert "The task" in shown.stdout


def test_a_copy_has_no_races_of_its_own(shelf: Shelf, scratch: Path) -> None:
    copy = scratch / "copy"
    subprocess.run(["cp", "-r", shelf.repo, copy], check=True)
    shelf.repo = copy
    assert "no races yet" in shelf.command("diff", "claude").stderr
    assert shelf.command("runs").returncode == 0

"""Upstream's fixes as the registry has them, two patch releases each, and a commit of our own:
raced by lanes made from the fix by rule, and held against upstream's tests."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.fixes.checkout import GATING, OWN, Checkout
from benchmarks.fixes.mining import files_of, prove
from benchmarks.fixes.races import race
from benchmarks.fixes.roles import LINEUPS
from benchmarks.fixes.scores import Judged, judged
from benchmarks.fixes.task import GATING as LIST
from benchmarks.fixes.task import Task, read
from tests.real.projects import CACHE
from tests.support import fakes
from tests.support.trust import ACCOUNTS, needs_bwrap

pytestmark = [pytest.mark.real, pytest.mark.full]

TASKS = read(LIST)
ROLES = LINEUPS[0]
"""All of them, always: a fix that does not give them is not on the list."""


@pytest.fixture
def checkout(task: Task, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Checkout]:
    """The project, installed; skips where it cannot be had."""
    needs_bwrap(ACCOUNTS[0])
    if GATING[task.repository].get("own"):
        needs_history(task)
    monkeypatch.setenv("PIP_CACHE_DIR", str(CACHE / f"of-{ACCOUNTS[0]}" / "pip"))
    monkeypatch.delenv("PIP_CONSTRAINT", raising=False)  # they pin a pytest of their own
    checkout = Checkout(scratch / "clones", scratch / "work", task.repository)
    checkout.make()
    yield checkout
    assert fakes.left(str(scratch)) == []


def needs_history(task: Task) -> None:
    """Skips where a commit of ours, or its parent, is not here."""
    argv = ["git", "-C", str(OWN), "cat-file", "-e", f"{task.commit}^^{{tree}}"]
    if subprocess.run(argv, capture_output=True, check=False).returncode:
        pytest.skip(f"no commit {task.commit[:10]} here: no history, or a shallow clone's")


def test_there_are_releases_and_a_commit_of_our_own() -> None:
    """Each project has a fix, and no list is empty."""
    own = [task for task in TASKS if GATING[task.repository].get("own")]
    assert len(own) >= 1
    assert len(TASKS) - len(own) >= 3
    assert {task.repository for task in TASKS} == {*GATING}


@pytest.mark.parametrize("task", TASKS, ids=[task.name for task in TASKS])
def test_a_right_patch_is_first_and_no_right_one_refused(
    task: Task, checkout: Checkout, scratch: Path
) -> None:
    """First the fix itself: its tests fail on the base, as they did when it was mined."""
    files = files_of(checkout, task.commit)
    assert files
    proved = prove(checkout, task.commit, files)
    assert proved
    assert dataclasses.replace(proved, seconds=task.seconds) == task
    race(task, scratch / "clones", scratch / "work", scratch / "runs", ROLES, needs=ROLES)
    (ended,) = judged(scratch / "runs")  # none, where a lane could not be made
    assert_right(ended)


def assert_right(race: Judged) -> None:
    """All that was raced is judged, and nothing falsely."""
    lanes = {race.role(lane.lane): lane for lane in race.verdict.lanes}
    print(
        *(f"{lane.rank} {role} {lane.state}: {lane.why}" for role, lane in lanes.items()), sep="\n"
    )
    assert sorted(race.role(lane.lane) for lane in race.verdict.lanes) == sorted(ROLES)
    assert race.first
    assert race.share(lane.lane for lane in race.first) == 1
    assert not lanes["tampering"].passes_gates
    assert not lanes["breaking"].passes_gates
    assert [race.role(lane.lane) for lane in race.sound if not lane.passes_gates] == []
    assert "whole" in {race.role(lane.lane) for lane in race.sound}

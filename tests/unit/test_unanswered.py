"""A git that could not be started has said nothing: nobody is told that there is no work, no patch,
no submodule, no landing that stands."""

from __future__ import annotations

import errno
import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from hydra.commands.runs import loss_of
from hydra.errors import Exhausted
from hydra.git.worktree import _submodule
from hydra.race.recovery import runs, startup
from hydra.race.recovery.lane import NotNow, _readable
from hydra.race.recovery.retention import remove_run
from hydra.race.verdict import judgement_to_land
from hydra.records.store.reader import RunRecord
from tests.conftest import git
from tests.support.faults import HYDRA_DIES
from tests.support.landings import RUN, Shelf, everything, leftovers
from tests.support.shelf import LAND, MOVED
from tests.support.shelf import shelf as plain_shelf

__all__ = ["plain_shelf"]

Shortage = Callable[[str], None]
"""No git that has this word among its arguments can be started; "" ends it."""


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Shortage:
    """Shut off at first."""
    monkeypatch.setattr("hydra.git.runner.WAITS", (0.001,))
    popen, terms = subprocess.Popen, [""]

    def start(argv: list[str], *args: Any, **options: Any) -> Any:
        if terms[0] in argv[1:]:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return popen(argv, *args, **options)

    monkeypatch.setattr(subprocess, "Popen", start)
    return lambda term: terms.__setitem__(0, term)


@pytest.fixture
def shelf(plain_shelf: Shelf) -> Shelf:
    """In a race that has a place for its verdict."""
    result = record_of(plain_shelf).folder / "result.json"
    result.write_text(json.dumps({**json.loads(result.read_text()), "verdict": None}))
    return plain_shelf


def record_of(shelf: Shelf) -> RunRecord:
    return runs.find(runs.repository_runs(shelf.environ), RUN)


def test_a_submodule_is_not_taken_for_one_that_is_not_there(shelf: Shelf, short: Shortage) -> None:
    head = git(shelf.repo, "rev-parse", "HEAD")
    for term in ("rev-parse", "cat-file"):
        short(term)
        with pytest.raises(Exhausted):
            _submodule(shelf.repo, head)
    short("")
    assert _submodule(shelf.repo, head) is not None


def test_a_landing_that_stands_is_not_undone(shelf: Shelf, short: Shortage) -> None:
    terms = ("--override", "its record was made by hand, and says that it is empty")
    assert shelf.hit(*LAND, *terms, at={MOVED: HYDRA_DIES}).returncode == -9
    landed = everything(shelf.repo)
    lines: list[str] = []
    short("merge-base")
    startup.recover(shelf.environ, lines.append)
    assert everything(shelf.repo) == landed
    assert "no more processes" in lines[0]
    short("")
    startup.recover(shelf.environ, lines.append)
    assert "after it had landed: finished" in lines[1]
    assert everything(shelf.repo) == landed
    assert leftovers(shelf.repo) == []


def test_no_lane_lands_as_one_that_nothing_speaks_against(shelf: Shelf, short: Shortage) -> None:
    record = record_of(shelf)
    for term in ("for-each-ref", "diff-tree"):
        short(term)
        with pytest.raises(Exhausted):
            judgement_to_land(runs.read(record), shelf.environ)
    short("")
    assert judgement_to_land(runs.read(record), shelf.environ) is not None


def test_a_race_that_was_broken_off_is_judged_before_a_lane_of_it_lands(shelf: Shelf) -> None:
    """Its recovery may have to wait, for room on a disk say."""
    record = record_of(shelf)
    (record.folder / "result.json").unlink()
    (record.folder / "events.jsonl").touch()
    verdict = judgement_to_land(runs.read(record), shelf.environ)
    assert verdict is not None
    assert {row.status for row in verdict.lanes} == {"broken off"}
    assert not any(map(verdict.lands, verdict.lanes))


def test_no_record_is_called_damaged(shelf: Shelf, short: Shortage) -> None:
    record = record_of(shelf)
    short("for-each-ref")
    with pytest.raises(Exhausted):
        runs.commit_of(record, "claude")
    with pytest.raises(Exhausted):
        runs.check_patches(record)


def test_what_a_removal_takes_is_not_told_too_small(shelf: Shelf, short: Shortage) -> None:
    place = runs.repository_runs(shelf.environ)
    record = runs.find(place, RUN)
    assert loss_of(place, record)["patches"] == ["claude"]
    short("for-each-ref")
    with pytest.raises(Exhausted):
        loss_of(place, record)


def test_a_removal_leaves_no_pin_behind(shelf: Shelf, short: Shortage) -> None:
    record, base = record_of(shelf), shelf.race.base
    git(shelf.repo, "update-ref", f"refs/hydra/{RUN}/base", base)
    short("update-ref")
    with pytest.raises(Exhausted):
        remove_run(shelf.state, record.folder)
    short("")
    startup.recover(shelf.environ, lambda _: None)
    assert git(shelf.repo, "for-each-ref", "refs/hydra") == ""
    assert list(record.folder.parent.iterdir()) == []


def test_no_base_is_called_gone(shelf: Shelf, short: Shortage) -> None:
    short("cat-file")
    with pytest.raises(NotNow):
        _readable(shelf.race.patches, shelf.race.base)

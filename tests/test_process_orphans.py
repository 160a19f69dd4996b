"""Hydra killed by SIGKILL, at a moment of the test's choosing or of chance: nothing is left."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.support.processes import MODES, running, token, wait_until, wrap_of

ROOT = Path(__file__).parent.parent


def hydra(mode: str, mark: str) -> subprocess.Popen[str]:
    wrap_of(mode)  # skips here rather than in there
    line = (sys.executable, "-m", "tests.support.killable_hydra", mode, mark)
    return subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def left(mark: str) -> list[int]:
    """Whatever of it still runs after a while, keepers and confinement too."""
    numbers: list[int] = []

    def gone() -> bool:
        numbers[:] = running(mark, keepers=True)
        return not numbers

    return [] if wait_until(gone) else numbers


def kill_after(process: subprocess.Popen[str], term: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(term):
            break
    kill(process)


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("term", ["began", "started", "ready"])
def test_nothing_outlives_a_killed_hydra(mode: str, term: str) -> None:
    mark = token()
    kill_after(hydra(mode, mark), term)
    assert left(mark) == []


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_nothing_outlives_it_killed_at_any_moment(mode: str) -> None:
    orphans = []
    chance = random.Random(mode)  # the same moments in every run
    for _ in range(12):
        mark = token()
        process = hydra(mode, mark)
        assert process.stdout is not None
        process.stdout.readline()  # began: from here to a while after "ready"
        threading.Event().wait(chance.uniform(0, 0.12))
        kill(process)
        orphans += left(mark)
    assert orphans == []

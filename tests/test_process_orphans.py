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
    found: list[int] = []

    def gone() -> bool:
        found[:] = running(mark, keepers=True)
        return not found

    return [] if wait_until(gone) else found


def kill_after(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(word):
            break
    kill(process)


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("word", ["began", "started", "ready"])
def test_nothing_outlives_a_killed_hydra(mode: str, word: str) -> None:
    mark = token()
    kill_after(hydra(mode, mark), word)
    assert left(mark) == []


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_nothing_outlives_it_killed_at_any_moment(mode: str) -> None:
    orphans = []
    for _ in range(12):
        mark = token()
        process = hydra(mode, mark)
        assert process.stdout is not None
        process.stdout.readline()  # began: from here to a while after "ready"
        threading.Event().wait(random.uniform(0, 0.12))
        kill(process)
        orphans += left(mark)
    assert orphans == []

"""A test's failure tells all that its programs said."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.command import Race, completed

SUITE = """
import subprocess
from tests.support.command import completed

def test_one():
    done = completed(["sh", "-c", "seq 2000; echo why >&2; exit 4"])
    assert done.returncode == 0

def test_two():
    subprocess.run(["sh", "-c", "echo because >&2; exit 5"], check=True, capture_output=True)

def test_three():
    pass
"""


@pytest.mark.slow
def test_a_failure_shows_the_whole_of_what_ran(scratch: Path) -> None:
    (scratch / "test_it.py").write_text(SUITE)
    root = Path(__file__).parents[1]
    terms = ("-q", "-p", "tests.conftest", "-p", "no:cacheprovider", "--rootdir", str(scratch))
    suite = str(scratch / "test_it.py")
    argv = [sys.executable, "-m", "pytest", *terms, "-c", "/dev/null", suite]
    shown = completed(argv, cwd=root).stdout
    assert "2 failed, 1 passed" in shown
    assert "\n".join(map(str, range(1, 2001))) in shown
    assert "exit 4\n--- stdout\n" in shown
    assert "--- stderr\nwhy\n" in shown
    assert "--- stderr\nbecause\n" in shown
    assert shown.count("because\n") == 1


def test_a_lane_that_is_not_there_shows_the_race() -> None:
    error = {"kind": "NoAgentReady", "message": "x" * 1000, "stderr": "bwrap: no"}
    race = Race(4, {"error": error}, "the end")
    with pytest.raises(AssertionError) as raised:
        race.lane("talker")
    text = str(raised.value)
    assert text.startswith("no lane talker: exit 4\n")
    assert all(part in text for part in ("x" * 1000, "bwrap: no", "the end"))

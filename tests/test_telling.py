"""Of what a failing check printed, the two lines that say why: tests/data/failure_lines.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from hydra.checks.failure_lines import lines
from tests.check_recordings import FIXTURES
from tests.conftest import commit
from tests.support import fakes
from tests.support.command import Hydra

CASES = tomllib.loads((Path(__file__).parent / "data" / "failure_lines.toml").read_text())


@pytest.mark.parametrize("case", CASES["printed"], ids=lambda case: " ".join(case["says"])[:40])
def test_two_lines_say_why(case: dict[str, Any]) -> None:
    assert lines(case["printed"]) == tuple(case["says"])


@pytest.mark.parametrize("case", CASES["recorded"], ids=lambda case: case["recording"])
def test_what_a_tool_says_of_what_went_well_is_no_reason(case: dict[str, Any]) -> None:
    assert lines((FIXTURES / f"{case['recording']}.txt").read_text()) == tuple(case["says"])


def test_a_failure_far_from_the_end_is_seen_and_what_is_to_do_is_none() -> None:
    more = "ok 3 throws error when it fails to parse\n" * 5000
    output = f"TAP version 13\nnot ok 1 error is told # TODO\nnot ok 2 adds up\n{more}# fail  1\n"
    assert lines(output) == ("not ok 2 adds up",)


@pytest.mark.slow
def test_the_error_is_what_a_race_says_of_a_failing_check(hydra: Hydra) -> None:
    (hydra.repo / "printed.txt").write_text(next(r["printed"] for r in CASES["printed"]))
    commit(hydra.repo, "What it prints")
    hydra.agent("claude", [fakes.edit("a.py", "x = 1\n"), fakes.finish("done")])
    race = hydra.run("race", "Do it", "-a", "claude", "--check", "cat printed.txt; exit 1")
    base = next(line for line in race.stderr.splitlines() if " base " in line and " failed" in line)
    assert "assert 2 == 3" in base, race.stderr

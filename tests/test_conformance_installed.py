"""What is said of an installed CLI before any situation: its problem, and what did not answer."""

from __future__ import annotations

import tomllib
from pathlib import Path

from msgspec.structs import replace

from hydra.conformance import recorded
from hydra.conformance.live.installed import InstalledAgent
from hydra.records.agent import ProbeOutput

ARGV = ("agent", "auth", "status")
ASKED = ProbeOutput(name="sign_in", argv=ARGV, exit_code=0, stdout="", stderr="")
CLI = InstalledAgent(program=Path("/opt/agent"), answers={"sign_in": ASKED})


def test_a_probe_that_had_to_be_ended_is_named_even_where_the_agent_can_be_raced() -> None:
    late = replace(ASKED, exit_code=None, timed_out=True, seconds=10.0)
    assert CLI.differences == ()
    assert replace(CLI, answers={"sign_in": late}).differences == (
        "`agent auth status` did not answer in 10 s",
    )


def test_the_wheel_has_the_recordings_of_agents_alone() -> None:
    """Those of test runners are read by tests, and by nothing that is installed."""
    document = tomllib.loads((recorded.root().parents[1] / "pyproject.toml").read_text())
    included = document["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included == {"fixtures/adapters": "hydra/fixtures/adapters"}


def test_a_problem_is_all_that_is_said() -> None:
    late = replace(ASKED, timed_out=True, seconds=10.0)
    refused = replace(CLI, problem="its --print is gone", answers={"sign_in": late})
    assert refused.differences == ("its --print is gone",)

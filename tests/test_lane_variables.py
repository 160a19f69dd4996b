"""Agents and set-up know their run and lane; checks know nothing that tells lanes apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import fakes
from tests.support.command import Hydra

SHOWN = "env | grep -E '^HYDRA_(RUN|LANE)=' | sort"


@pytest.mark.slow
def test_an_agent_and_its_set_up_know_their_run_and_lane(scratch: Path, repo: Path) -> None:
    hydra = Hydra(scratch, repo)
    agents = fakes.shell("sh", "-c", f"{SHOWN} > agents.txt")
    hydra.agent("claude", [agents, fakes.finish("done")])
    race = hydra.race(
        *("-a", "2xclaude", "--setup", f"{SHOWN} > set-up.txt"),
        *(
            "--check",
            f"a={SHOWN}; env | grep -E 'claude|base|HYDRA_LANE' | grep -v PATH=; echo none",
        ),
    )
    for lane in ("claude", "claude-2"):
        expected = f"HYDRA_LANE={lane}\nHYDRA_RUN={race.document['run']}\n"
        for name in ("agents.txt", "set-up.txt"):
            patches = Path(race.document["folder"], "patches.git")
            shown = hydra.execute("git", f"--git-dir={patches}", "show", f"{lane}:{name}")
            assert shown.stdout == expected
        (check,) = race.lane(lane)["checks"]
        assert Path(race.document["folder"], check["output"]).read_text() == "none\n"
    (base,) = race.document["baseline"]
    assert Path(race.document["folder"], base["output"]).read_text() == "none\n"

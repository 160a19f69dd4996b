"""Where nothing was tested there is no first; each line that is offered works as it is pasted."""

from __future__ import annotations

import re
import shlex
from subprocess import CompletedProcess

import pytest

from tests.support.command import Hydra
from tests.support.verdict_races import RIGHT, UP, Judged, edited, shop

EXIT_NO_USABLE_LANE, EXIT_LANDING = 1, 5


def typed(hydra: Hydra, line: str) -> CompletedProcess[str]:
    """A line as it is pasted into a shell."""
    program, *words = shlex.split(line)
    assert program == "hydra"
    return hydra.run(*words)


@pytest.mark.slow
def test_of_several_lanes_without_a_check_none_is_first_and_the_lines_work(hydra: Hydra) -> None:
    shop(hydra.repo)
    lanes = {
        "bends": {"tests/test_pages.py": edited(UP, UP.replace("3, 2), 2", "3, 2), 1"))},
        "right": {"src/pager.py": RIGHT},
    }
    item = Judged(hydra, lanes).run("--no-check", checks=())
    assert item.race is not None
    assert item.race.returncode == EXIT_NO_USABLE_LANE
    first, *rows = item.race.stdout.splitlines()
    assert first == "Nothing was tested: there is no first."
    assert [row.split()[:3] for row in rows[:2]] == [
        ["-", "claude-right", "untested"],
        ["-", "claude-bends", "untested"],
    ]
    lines = dict(row.split(": ")[::-1] for row in rows[3:6])
    assert [*lines.values()] == ["look", "look", "test them now"], item.race.stdout
    assert (item.top(), item.document["exit_code"]) == (None, EXIT_NO_USABLE_LANE)

    shown = hydra.run("compare", "--markdown")
    assert (shown.returncode, shown.stdout.partition("\n")[0]) == (
        EXIT_NO_USABLE_LANE,
        "### Hydra: nothing was tested",
    )
    refused = hydra.run("merge")
    assert refused.returncode == EXIT_LANDING
    assert "nothing was tested, and there is no first" in refused.stderr
    offered = re.findall(r"hydra merge [\w-]+", refused.stderr)
    assert offered == ["hydra merge claude-right", "hydra merge claude-bends"]
    for line in offered:
        assert typed(hydra, f"{line} --dry-run").returncode == 0
    for line in lines:
        done = typed(hydra, line)
        assert done.returncode == 0, done.stderr
    item.again()
    assert (item.top(), item.of("bends")["state"]) == ("right", "held_back")
    assert hydra.run("merge").returncode == 0

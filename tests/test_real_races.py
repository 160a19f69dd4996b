"""Real races in which each lane does one thing, and the true sentences that the verdict has for it.

They are data in tests/data/real_races, and what is said of each is in tests/data/golden/real_races.
"""

from __future__ import annotations

from difflib import unified_diff

import pytest

from tests.support.command import Hydra
from tests.support.real_races import Row, golden, lacks, rows, run


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=golden(row).stem, marks=getattr(pytest.mark, row["mark"]))
        for row in rows()
    ],
)
def test_what_is_said_of_each_lane(row: Row, hydra: Hydra) -> None:
    if missing := lacks(row):
        pytest.skip(f"not here: {', '.join(missing)}")
    before, now = golden(row).read_text(), run(row, hydra)
    lines = (before.splitlines(), now.splitlines())
    assert list(unified_diff(*lines, "kept", "now", lineterm="", n=1)) == []
    if lane := row.get("lands"):
        named = [] if hydra.run("merge", "--dry-run").returncode == 0 else [f"claude-{lane}"]
        landed = hydra.run("merge", *named)
        assert landed.stdout.startswith(f"landed claude-{lane} on main as "), landed.stderr

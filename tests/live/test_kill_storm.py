"""Hydra killed at random moments over the real CLIs: nothing is left, what was seen is kept.

The long form is `python -m tests.support.storm --real BIN_FOLDER --kills 20`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.support import BIN
from tests.support.storm import summary
from tests.support.storm_real import storm_real

pytestmark = [pytest.mark.live, pytest.mark.full]

SEED = 88


def test_a_short_kill_storm_over_the_real_agents(scratch: Path) -> None:
    if not BIN.is_dir():
        pytest.skip("HYDRA_LIVE_BIN names no folder with the real CLIs")
    lines: list[str] = []
    # Its four moments: 0.2, 0.5, 0.8 and 1.2 of the time until both tools run.
    rounds = storm_real(scratch, BIN, kills=4, seed=SEED, say=lines.append)
    assert [done for done in rounds if done.faults] == [], "\n".join([*lines, summary(rounds)])
    assert any(done.phase != "no run" for done in rounds), lines

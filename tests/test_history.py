"""The cost of a race, and its line in `hydra runs`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hydra.reporters.history import Spending, runs_table, spending
from hydra.reporters.text import width
from tests.support.sample_agents import RUNS


def attempt(stated: float | None, reckoned: float | None = None) -> dict[str, object]:
    return {"usage": {"cost_usd": stated}, "usage_estimate": {"cost_usd": reckoned}}


@pytest.mark.parametrize(
    ("lanes", "total"),
    [
        ([], Spending(None, whole=True)),
        ([attempt(None)], Spending(None, whole=False)),
        ([attempt(0.5), attempt(0.25)], Spending(0.75, whole=True)),
        ([attempt(0.5), attempt(None)], Spending(0.5, whole=False)),
        ([attempt(0.5), attempt(None, 1.0)], Spending(1.5, whole=True, reckoned=True)),
        ([{"attempts": [attempt(0.5), attempt(0.5)]}], Spending(1.0, whole=True)),
        ([{"usage": "x", "attempts": 3}], Spending(None, whole=False)),
    ],
)
def test_every_try_of_every_lane_counts(lanes: list[object], total: Spending) -> None:
    assert spending({"lanes": lanes}) == total


@pytest.mark.parametrize(
    ("row", "end"),
    [
        ({"landed": ("claude",), "spending": Spending(1, whole=True)}, "claude  yes  $1.00"),
        (
            {"landed": ("codex",), "spending": Spending(1, reckoned=True)},
            "claude  codex  over ~$1.00",
        ),
        ({"landed": (), "undone": True, "spending": Spending()}, "claude  undone  unknown"),
        ({"landed": (), "state": "running", "spending": Spending()}, "[running]  no  unknown"),
    ],
)
def test_a_race_is_a_line(row: dict[str, object], end: str) -> None:
    (_, line) = runs_table([replace(RUNS[0], size=None, **row)], width=None).splitlines()  # type: ignore[arg-type]
    start = "20261121t203415-k3f 2 h ago Fix the off-by-one in pager.py"
    assert line.split() == f"{start} {end} ?".split()


@pytest.mark.parametrize("columns", [80, 120])
def test_a_long_row_stays_one_line(columns: int) -> None:
    long = replace(
        *RUNS[:1],
        run="20261121t203415-k3fx",
        age=35 * 60,
        title="a task " * 40,
        winner="a-profile-of-a-long-name",
        landed=("codex", "a-profile-of-a-long-name"),
        spending=Spending(12.34, reckoned=True),
    )
    lines = runs_table([long, long], width=columns).splitlines()
    assert len(lines) == 3
    assert max(map(width, lines)) <= columns
    assert all("over ~$12.34" in line and long.run in line for line in lines[1:])

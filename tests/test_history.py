"""The cost of a race, and its line in `hydra runs`."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hydra.report.runs import RaceCost, runs_table, spending
from hydra.report.text import width
from tests.support.rendering import Document, as_race
from tests.support.sample_agents import RUNS


def attempt(stated: float | None, reckoned: float | None = None) -> Document:
    estimate = reckoned and {"cost_usd": reckoned, "prices_of": None, "source": ""}
    usage = {"cost_usd": stated}
    return {"attempt": 1, "status": "failed", "usage": usage, "usage_estimate": estimate}


@pytest.mark.parametrize(
    ("lanes", "total"),
    [
        ([], RaceCost(None, whole=True)),
        ([attempt(None)], RaceCost(None, whole=False)),
        ([attempt(0.5), attempt(0.25)], RaceCost(0.75, whole=True)),
        ([attempt(0.5), attempt(None)], RaceCost(0.5, whole=False)),
        ([attempt(0.5), attempt(None, 1.0)], RaceCost(1.5, whole=True, reckoned=True)),
        ([{"attempts": [attempt(0.5), attempt(0.5)]}], RaceCost(1.0, whole=True)),
    ],
)
def test_every_try_of_every_lane_counts(lanes: list[Document], total: RaceCost) -> None:
    race = {"lanes": [{"lane": "a", "status": "failed", **lane} for lane in lanes]}
    assert spending(as_race(race)) == total


@pytest.mark.parametrize(
    ("row", "end"),
    [
        ({"landed": ("claude",), "spending": RaceCost(1, whole=True)}, "claude  yes  $1.00"),
        (
            {"landed": ("codex",), "spending": RaceCost(1, reckoned=True)},
            "claude  codex  ~$1.00+",
        ),
        ({"landed": (), "undone": True, "spending": RaceCost()}, "claude  undone  ?"),
        ({"landed": (), "state": "running", "spending": RaceCost()}, "[running]  no  ?"),
    ],
)
def test_a_race_is_a_line(row: dict[str, object], end: str) -> None:
    (_, line) = runs_table([replace(RUNS[0], size=None, **row)], width=None).splitlines()
    start = "20261121t203415-k3f 2 h Fix the off-by-one in pager.py"
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
        spending=RaceCost(12.34, reckoned=True),
    )
    lines = runs_table([long, long], width=columns).splitlines()
    assert len(lines) == 3
    assert max(map(width, lines)) <= columns
    assert all("~$12.34+" in line and long.run in line for line in lines[1:])

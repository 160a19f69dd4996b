from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from hydra.records.events import Event
from hydra.report.board import Board, BoardRow, step
from tests.support.sample_race import Tape, events

LANES = ("claude", "codex", "codex-2")


def fold(facts: Iterable[Event]) -> Board:
    return reduce(step, facts, Board())


def one_lane(*steps: tuple[str, str, dict[str, object]]) -> BoardRow:
    e = Tape()
    facts = [e(float(i), kind, "x", sub, **data) for i, (kind, sub, data) in enumerate(steps)]
    return fold(facts).rows["x"]


@given(st.randoms(use_true_random=False))
def test_lanes_do_not_depend_on_each_others_order(random: object) -> None:
    first, *rest = events()
    queues = {lane: [event for event in rest if event.lane == lane] for lane in LANES}
    mixed = [first]
    while any(queues.values()):
        able = [lane for lane in LANES if queues[lane]]
        mixed.append(queues[random.choice(able)].pop(0))  # type: ignore[attr-defined]
    assert fold(mixed) == fold([first, *rest])


def test_what_shows_nothing_gives_the_same_board() -> None:
    e = Tape()
    board = fold([e(0, "lane_opening", "x")])
    assert step(board, e(1, "progress", "x", "unknown", type="z")) is board
    assert step(board, e(1, "run_warning", text="z")) is board


def test_what_a_lane_waited_for_does_not_stay_when_it_has_ended() -> None:
    row = one_lane(
        ("check_ended", "", {"check": "unit", "says": "4 passed"}),
        ("check_waiting", "", {"for": "baseline"}),
        (
            "lane_ended",
            "",
            {"status": "completed", "checks": [{"check": "unit", "says": "4 passed"}]},
        ),
    )
    assert row.last == "unit: 4 passed"

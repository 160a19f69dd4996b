from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra.records.events import Event
from hydra.records.outcome import Status
from hydra.report.board import Board, BoardRow, step, tool_word
from tests.support.sample_race import Tape, events

LANES = ("claude", "codex", "codex-2")


def fold(facts: Iterable[Event]) -> Board:
    return reduce(step, facts, Board())


def one_lane(*steps: tuple[str, str, dict[str, object]]) -> BoardRow:
    e = Tape()
    facts = [e(float(i), kind, "x", sub, **data) for i, (kind, sub, data) in enumerate(steps)]
    return fold(facts).rows["x"]


def test_the_sample_race_at_its_last_moment() -> None:
    board = fold(events())
    rows = board.rows
    seen = {name: row.view(93.0, board.limits) for name, row in rows.items()}
    assert list(seen.items()) == [
        ("claude", ("editing", "Edit src/pager.py")),
        ("codex", ("testing", "$ pytest -q")),
        ("codex-2", ("waiting", "no progress for 1:12 (limit 10:00)")),
    ]
    assert rows["claude"].cost == 0.11
    assert rows["codex"].cost is None
    assert rows["codex"].tokens == 22_900
    assert rows["codex"].files is None


@given(st.randoms(use_true_random=False))
def test_lanes_do_not_depend_on_each_others_order(random: object) -> None:
    first, *rest = events()
    queues = {lane: [event for event in rest if event.lane == lane] for lane in LANES}
    mixed = [first]
    while any(queues.values()):
        able = [lane for lane in LANES if queues[lane]]
        mixed.append(queues[random.choice(able)].pop(0))  # type: ignore[attr-defined]
    assert fold(mixed) == fold([first, *rest])


def test_a_lane_goes_through_its_states() -> None:
    steps: list[tuple[str, str, dict[str, object], str]] = [
        ("lane_waiting", "", {"position": 4}, "waiting"),
        ("lane_opening", "", {}, "preparing"),
        ("setup_started", "", {"command": "npm ci"}, "set-up"),
        ("agent_started", "", {"pid": 1}, "starting"),
        ("progress", "session", {"session": "s"}, "thinking"),
        ("tool_call", "", {"id": "1", "name": "Read", "summary": "Read a.py"}, "reading"),
        ("tool_call", "", {"id": "2", "name": "Bash", "summary": "$ ls"}, "running"),
        ("tool_result", "", {"id": "2", "ok": True}, "reading"),
        ("tool_result", "", {"id": "1", "ok": True}, "thinking"),
        ("progress", "retry", {"attempt": 2, "of": 10, "status": 529}, "retrying"),
        ("completed", "", {"text": "done"}, "finishing"),
        ("stopping", "", {"reason": "idle", "signal": "SIGINT"}, "stopping"),
        ("agent_exited", "", {"code": 0}, "collecting"),
        ("patch_taken", "", {"files": 2}, "collecting"),
        ("lane_ended", "", {"status": "no_changes", "seconds": 9.0}, "no changes"),
    ]
    e, board = Tape(), Board()
    for kind, sub, data, state in steps:
        board = step(board, e(1.0, kind, "x", sub, **data))
        assert board.rows["x"].state == state, kind
    assert board.rows["x"].files == 2
    assert board.rows["x"].elapsed(500.0) == 9.0


@pytest.mark.parametrize("status", list(Status))
def test_every_status_has_its_word(status: Status) -> None:
    row = one_lane(("lane_ended", "", {"status": status.value, "seconds": 1}))
    ended = "finished" if status is Status.COMPLETED else status.value.replace("_", " ")
    assert row.state == ended
    assert row.ended


@pytest.mark.parametrize(
    ("name", "summary", "term"),
    [
        ("Bash", "$ python -m pytest tests", "testing"),
        ("command_execution", "$ cargo test --all", "testing"),
        ("Bash", "$ npm run test", "testing"),
        ("Bash", "$ cat contest.py", "running"),
        ("Edit", "Edit a.py", "editing"),
        ("file_change", "update a.py", "editing"),
        ("Grep", "Grep x", "reading"),
        ("mcp__jira", "look", "using tool"),
    ],
)
def test_what_a_tool_call_amounts_to(name: str, summary: str, term: str) -> None:
    assert tool_word(name, summary) == term


def test_a_lane_that_has_finished_says_what_it_waits_for() -> None:
    waiting = {"limit": "background", "seconds": 0, "of": 120, "for": ["npm run dev"]}
    row = one_lane(
        ("agent_started", "", {}),
        ("tool_call", "", {"id": "b", "name": "Background", "summary": "$ npm run dev"}),
        ("progress", "closing", {"ok": True, "text": "done"}),
        ("limit_warning", "waiting", waiting),
    )
    told = ("waiting", "has finished; waits for npm run dev (at most 2:00)")
    assert row.view(100.0) == told


def test_a_half_limit_warning_shows_until_there_is_progress() -> None:
    e = Tape()
    start = [
        e(0, "lane_opening", "x"),
        e(1, "tool_call", "x", id="1", name="Bash", summary="$ make"),
    ]
    warned = fold([*start, e(601, "limit_warning", "x", limit="tool", seconds=600, of=1200)])
    shown = ("waiting", "no progress for 10:00 (limit 20:00); $ make")
    assert warned.rows["x"].view(601) == shown
    again = step(warned, e(602, "message", "x", text="on it"))
    assert again.rows["x"].view(602)[0] == "running"


def test_a_lane_that_waits_for_its_next_try_says_so() -> None:
    e = Tape()
    start = [e(0, "lane_opening", "x"), e(1, "failed", "x", message="429", terminal=True)]
    event = e(2, "lane_retrying", "x", attempt=2, after="rate_limit", seconds=70)
    waits = fold([*start, event])
    assert waits.rows["x"].view(900) == ("retrying", "try 2 begins in 1:10, after rate limit")
    assert step(waits, e(72, "lane_opening", "x")).rows["x"].view(72) == ("preparing", "")


def test_unknown_is_not_zero() -> None:
    row = one_lane(("usage", "", {"input_tokens": 5}), ("usage", "", {"cost_usd": float("nan")}))
    assert (row.tokens, row.cost, row.files) == (None, None, None)


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


def test_tests_that_the_base_skips_are_counted() -> None:
    e = Tape()
    counts = {"check": "unit", "says": "4 passed", "skipped": 23, "seconds": 2.0}
    board = fold([e(1.0, "check_ended", "", "", **counts)])
    assert board.baseline == (("unit", "4 passed, 23 skipped  0:02"),)


def test_a_lane_s_time_is_its_agent_s_and_never_goes_back() -> None:
    tape = Tape()
    board = fold(
        [
            tape(0.0, "lane_opening", lane="a"),
            tape(1.0, "agent_started", lane="a"),
            tape(9.0, "agent_exited", lane="a", code=0),
            tape(10.0, "check_started", lane="a", check="t", command="pytest"),
        ]
    )
    assert board.rows["a"].elapsed(30.0) == 9.0
    again = step(board, tape(31.0, "agent_started", lane="a"))
    assert again.rows["a"].elapsed(32.0) == 32.0


def test_a_command_that_is_over_does_not_stand_beside_thinking() -> None:
    row = one_lane(
        ("tool_call", "", {"id": "1", "name": "Bash", "summary": "$ ls"}),
        ("tool_result", "", {"id": "1", "ok": True}),
    )
    assert (row.state, row.last) == ("thinking", "")

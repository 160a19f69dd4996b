"""Checks on the screen: lines, the live board, the summary's columns, and hostile words."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from hydra.records.events import Event
from hydra.report.board import Board, step
from hydra.report.checks import line
from hydra.report.document import result_document
from hydra.report.live import LiveTable
from hydra.report.stream import PlainLines
from tests.support.rendering import baseline, summary, table_text
from tests.support.sample_race import PLAN, RESULT, Tape


def check(name: str, status: str = "passed", says: str = "3 passed", **more: Any) -> dict[str, Any]:
    return {"check": name, "status": status, "says": says, "seconds": 3.14, **more}


def document(*checks: dict[str, Any], held_back: tuple[str, ...] = ()) -> dict[str, Any]:
    first = replace(RESULT.outcomes[0], checks=checks, held_back=held_back)
    result = replace(
        RESULT,
        outcomes=(first, *RESULT.outcomes[1:]),
        baseline=(check("unit", says="2 passed, 1 failed", status="failed"),),
    )
    return result_document(PLAN, result)


def events() -> list[Event]:
    e = Tape()
    return [
        e(0.0, "run_started", lanes=["claude", "codex"]),
        e(1.0, "agent_started", "claude", pid=1, argv=["x"]),
        e(1.1, "check_started", check="unit", command="pytest -q", again=False),
        e(2.0, "check_waiting", "claude", **{"for": "place"}),
        e(3.0, "check_ended", check="unit", status="failed", says="1 failed", seconds=2.0),
        e(4.0, "check_started", "claude", check="unit", command="pytest -q", again=False),
        e(
            *(5.0, "check_ended", "claude"),
            check="unit",
            status="timed_out",
            says="timed out",
            reason="it took over 1 s and was ended",
            seconds=1.0,
        ),
        e(
            *(6.0, "lane_ended", "claude"),
            status="completed",
            seconds=6.0,
            error=None,
            held_back=["unit: it took over 1 s and was ended"],
        ),
    ]


def test_a_line_an_event() -> None:
    out: list[str] = []
    lines = PlainLines(out.append)
    for event in events():
        lines.event(event)
    text = "".join(out)
    assert "0:01 base       check $ pytest -q" in text
    assert "0:02 claude     waits for another lane's checks" in text
    assert "0:03 base       check unit: 1 failed, 0:02" in text
    assert "check unit: timed out, 0:01 (it took over 1 s and was ended)" in text
    assert "finished in 0:06; against it: unit: it took over 1 s and was ended" in text


def test_of_a_long_name_in_a_line_the_end_stays() -> None:
    name = "tests/integration/test_the_whole.py::TestEverything::test_of_a_long_name[case-7]"
    failed = check("unit", "failed", "1 failed", telling=[f"FAILED {name} - assert 1 == 2"])
    shown = line("claude", "check_ended", failed)
    assert shown.endswith("long_name[case-7] - assert 1 == 2"), shown
    assert "FAILED tests/" in shown


def test_the_board_follows_a_lane_into_its_checks() -> None:
    board = Board()
    seen = []
    for event in events():
        board = step(board, event)
        seen.append((board.rows["claude"].state, board.rows["claude"].last))
    assert ("waiting", "for another lane's checks") in seen
    assert ("testing", "$ pytest -q") in seen
    assert ("testing", "unit: timed out") in seen
    assert seen[-1] == ("finished", "unit: it took over 1 s and was ended")
    assert board.baseline == (("unit", "1 failed  0:02"),)


def test_the_live_table_has_a_line_for_the_baseline() -> None:
    out: list[str] = []
    table = LiveTable(out.append, lambda: (100, 24), color=False)
    for event in events():
        table.event(event)
    table.close()
    assert "  base  unit  1 failed  0:02" in "".join(out)


def test_the_summary_has_a_column_a_check_and_says_why() -> None:
    why = ("unit: 1 test passed on the base and fails now: a::b",)
    broken = check("unit", "failed", "1 broken", held_back=why[0], remarks=["it was cut"])
    text = summary(document(broken, check("lint", says="passed"), held_back=why), width=None)
    lines = text.splitlines()
    head = next(line for line in lines if line.lstrip().startswith("lane "))
    assert head.split()[:4] == ["lane", "outcome", "unit", "lint"]
    claude = next(line for line in lines if line.lstrip().startswith("claude"))
    assert "1 broken" in claude
    assert why[0] in claude
    codex = next(line for line in lines if line.lstrip().startswith("codex "))
    assert codex.split()[3:5] == ["-", "-"]
    assert "base  unit  2 passed, 1 failed  3.1s" in text
    assert "- claude: unit: it was cut" in text
    assert "0 of 3 lanes usable" in text


def test_the_base_says_how_many_tests_it_skips() -> None:
    (line,) = baseline({"baseline": [check("unit") | {"tests": {"skipped": 1200}}]})
    assert line == "base  unit  3 passed, 1,200 skipped  3.1s"


def test_many_checks_share_a_column() -> None:
    checks = [check(name) for name in ("a", "b", "c")] + [check("d", "failed", "failed")]
    text = summary(document(*checks), width=None)
    assert "3 of 4 passed" in text
    assert " checks " in text


def test_a_race_without_checks_looks_as_before() -> None:
    text = summary(result_document(PLAN, RESULT), width=None)
    assert "baseline" not in text
    assert "checks" not in text


@pytest.mark.parametrize("width", [None, 80, 40])
def test_what_a_check_says_is_made_harmless(width: int | None) -> None:
    evil = "\x1b]52;c;x\x07\u202eevil\n"
    data = {
        **check("unit", "failed", "1 broken"),
        "held_back": evil,
        "remarks": [evil],
        "comparison": {"broken": [evil], "counts": {"broken": 1}},
        "reason": evil,
    }
    rows = {
        "run": "r",
        "folder": "/f",
        "baseline": [data],
        "lanes": [{"lane": "claude", "checks": [data], "held_back": [evil]}],
    }
    for text in (
        table_text(rows, width=width, color=False),
        summary(document(data, held_back=(evil,)), width=width),
    ):
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "\x07" not in text

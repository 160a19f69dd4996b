from __future__ import annotations

from hydra.report.live import LiveTable
from tests.support.sample_race import Tape, events
from tests.support.screen import Screen

AT_80 = """\
race 20261121t203415-k3f  base 4be1c02 (main)  3 lanes  confined
warning: 3 changed files stay out (--include-dirty)

  lane     state      last                                tokens    cost   time
  claude   editing    Edit src/pager.py                    18.2k   $0.11   1:32
  codex    testing    $ pytest -q                          22.9k       ?   1:32
  codex-2  waiting    no progress for 1:12 (limit 10:00)    3.1k       ?   1:32"""


def play(screen: Screen, color: bool = False) -> LiveTable:
    table = LiveTable(screen.write, lambda: (screen.columns, screen.lines), color)
    for event in events():
        table.event(event)
        table.tick(event.mono)
    table.tick(93.1)
    return table


def test_nothing_is_written_when_nothing_changed() -> None:
    screen = Screen(80, 30)
    table = play(screen)
    before = screen.writes
    for _ in range(20):
        table.tick(93.2)
    assert screen.writes == before
    table.tick(94.1)
    assert screen.writes == before + 1


def test_a_burst_of_events_is_painted_once() -> None:
    screen = Screen(80, 30)
    table = play(screen)
    before = screen.writes
    e = Tape()
    for i in range(1000):
        table.event(e(93.2 + i / 1e5, "message", "claude", text=f"word {i}"))
    assert screen.writes - before <= 1
    table.tick(93.4)
    assert "word 999" in screen.picture()


def test_warnings_scroll_above_and_are_printed_once() -> None:
    screen = Screen(80, 30)
    table = play(screen)
    e = Tape()
    table.event(e(94.0, "lane_warning", "codex", text="asked for a, but \x1b[2Jb"))
    for second in range(95, 99):
        table.tick(float(second))
    picture = screen.picture()
    assert picture.count("codex: warning: asked for a, but ^[[2Jb") == 1
    assert picture.index("asked for a") < picture.index("lane ")


def test_more_lanes_than_lines_are_summed_up() -> None:
    screen = Screen(80, 8)
    table = LiveTable(screen.write, lambda: (80, 8), False)
    e = Tape()
    names = [f"lane-{i}" for i in range(10)]
    table.event(e(0.0, "run_started", lanes=names))
    table.event(e(0.1, "lane_ended", "lane-0", status="completed", seconds=1.0))
    table.event(e(0.2, "lane_opening", "lane-9"))
    table.tick(1.0)
    picture = screen.picture()
    assert "lane-9" in picture, "a lane at work is shown before those that wait"
    assert "lane-0" not in picture
    assert picture.endswith("and 7 more lanes: 1 finished, 6 queued")
    assert screen.history == ["race 20261121t203415-k3f  10 lanes"]


def test_a_resized_terminal_gets_a_fresh_table() -> None:
    screen = Screen(120, 30)
    table = play(screen)
    screen.columns = 80
    screen.rows = [row[:80] for row in screen.rows]
    table.tick(93.3)
    table.tick(94.5)
    assert screen.picture().split("\n")[-3:] == [
        line.replace("1:32", "1:34").replace("for 1:12", "for 1:13")
        for line in AT_80.split("\n")[-3:]
    ]


def test_closing_paints_the_last_state() -> None:
    screen = Screen(80, 30)
    table = play(screen)
    e = Tape()
    table.event(e(93.15, "lane_ended", "codex", status="completed", seconds=93.0))
    table.close()
    assert "codex    finished" in screen.picture()
    table.close()
    assert screen.picture().count("codex    finished") == 1

"""The measure of a tool's CPU, without any process. The ladder: tests/test_process_supervise.py."""

from __future__ import annotations

import signal

from hydra.process.control import Ladder, ProcessControl
from hydra.process.limits import Busy


def test_a_second_stop_shortens_and_never_lengthens() -> None:
    ladder = Ladder()
    ladder.stop(100, (10, 5))
    assert ladder.step(100) is signal.SIGINT
    ladder.stop(102, (1, 1))
    assert ladder.next_due == 103
    ladder.stop(102, (60, 60))
    assert [ladder.step(at) for at in (103, 104)] == [signal.SIGTERM, signal.SIGKILL]


def test_the_first_reason_stands() -> None:
    control = ProcessControl()
    control.stop("idle")
    control.kill("interrupt")
    assert control.reason == "idle"


def busy(readings: list[float]) -> list[bool]:
    """What `Busy` says of CPU seconds read every two seconds over a window of ten."""
    source = iter(readings)
    watch = Busy(lambda: next(source), window=10)
    return [watch.look(2.0 * number) for number in range(1, len(readings))]


def test_a_spinner_is_not_busy_and_a_compiler_is() -> None:
    assert not any(busy([0.004 * number for number in range(30)]))
    assert busy([1.0 * number for number in range(5)]) == [False, True, True, True]


def test_work_long_ago_no_longer_counts() -> None:
    answers = busy([0.0, 0.0, 3.0] + [3.0] * 10)
    assert answers[1]
    assert not answers[-1]


def test_time_that_a_vanished_tool_takes_along_is_no_work() -> None:
    assert not any(busy([50.0, 50.0, 20.0, 20.0, 20.01]))


def test_a_burst_counts_as_progress_when_it_was_and_not_for_its_whole_window() -> None:
    readings = iter([0.0, 0.0, 5.0, 5.0, 5.0])
    watch = Busy(lambda: next(readings), window=10)
    assert [watch.look(now) for now in (2.0, 4.0, 6.0, 8.0)] == [False, True, True, True]
    assert watch.worked == 4.0

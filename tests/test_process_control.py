"""The measure of a tool's CPU, without any process. The ladder: tests/test_process_supervise.py."""

from __future__ import annotations

from hydra.process.limits import Busy


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

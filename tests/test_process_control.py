"""The ladder's schedule and the measure of CPU, without any process."""

from __future__ import annotations

import math
import os
import signal

from hydra.process import procfs
from hydra.process.control import Ladder, ProcessControl
from hydra.process.limits import Busy


def climb(ladder: Ladder, times: list[float]) -> list[signal.Signals | None]:
    return [ladder.step(at) for at in times]


def test_a_ladder_nobody_asked_for_is_never_due() -> None:
    ladder = Ladder()
    assert ladder.next_due == math.inf
    assert ladder.step(10**9) is None


def test_int_then_term_then_kill() -> None:
    ladder = Ladder()
    ladder.stop(100, (10, 5))
    steps = climb(ladder, [100, 109.9, 110, 114.9, 115, 999])
    assert steps == [signal.SIGINT, None, signal.SIGTERM, None, signal.SIGKILL, None]


def test_a_second_stop_shortens_and_never_lengthens() -> None:
    ladder = Ladder()
    ladder.stop(100, (10, 5))
    assert ladder.step(100) is signal.SIGINT
    ladder.stop(102, (1, 1))
    assert ladder.next_due == 103
    ladder.stop(102, (60, 60))
    assert climb(ladder, [103, 104]) == [signal.SIGTERM, signal.SIGKILL]


def test_kill_passes_over_what_is_weaker() -> None:
    ladder = Ladder()
    ladder.stop(100, (0, 0))
    assert climb(ladder, [100, 101]) == [signal.SIGKILL, None]


def test_the_first_reason_stands() -> None:
    control = ProcessControl()
    control.stop("idle")
    control.kill("interrupt")
    assert control.reason == "idle"


def test_tools_open_and_close_as_progress() -> None:
    control = ProcessControl()
    before = control.last
    seen = [control.tool_open]
    for change in (control.tool_opened, control.tool_opened, control.tool_closed):
        change("a")
        seen.append(control.tool_open)
    control.tool_closed("never opened")
    assert seen == [False, True, True, False]
    assert control.last > before


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


def test_a_process_and_its_parent_are_found() -> None:
    me = os.getpid()
    assert me in procfs.descendants(os.getppid())
    assert procfs.parent(me) == os.getppid()
    assert procfs.session(me) == os.getsid(0)
    assert procfs.parent(2**22 + 1) is None
    assert procfs.has_ended(2**22 + 1)


def test_a_burst_counts_as_progress_when_it_was_and_not_for_its_whole_window() -> None:
    readings = iter([0.0, 0.0, 5.0, 5.0, 5.0])
    watch = Busy(lambda: next(readings), window=10)
    assert [watch.look(now) for now in (2.0, 4.0, 6.0, 8.0)] == [False, True, True, True]
    assert watch.worked == 4.0

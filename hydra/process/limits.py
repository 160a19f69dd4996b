"""The limits: no progress for too long, too long in all, stdout closed but alive."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Awaitable, Callable

import trio

from hydra.log import get_logger
from hydra.process import procfs
from hydra.process.child import Child
from hydra.process.control import BACKGROUND, FINISHED, FINISHED_GRACES, Graces, ProcessControl
from hydra.process.records import Notice
from hydra.records.request import Limits

_log = get_logger(__name__)

BUSY = 0.02
"""Share of a core above which the tools' CPU counts as progress; a spinner uses 0.002."""

_LOOK = 2.0
_WINDOW = 30.0
_CLOSED_FOR = 2.0
_NAMED = 5
_SET = 1.0
"""Seconds that the wall clock must differ from the monotonic one to count as set by somebody."""
SETTLE = 10.0
"""Seconds of silence after its closing line that an agent has to end by itself."""
START = 60.0
"""Seconds for a confinement to stand and the agent to be executed; ordinarily it takes 0.02."""

ChangedSince = Callable[[float], Awaitable[float | None]]
OnNotice = Callable[[Notice], None]


class Busy:
    """CPU of the agent's tools over a sliding window. `read` gives their CPU seconds so far."""

    def __init__(self, read: Callable[[], float], window: float) -> None:
        self._read = read
        self._window = window
        self._last = read()
        self._used = 0.0
        self._looked = 0.0
        self.worked = 0.0
        """When they were last seen at work."""
        self._samples: deque[tuple[float, float]] = deque()

    def look(self, now: float) -> bool:
        """Whether they used more than `BUSY` of a core since the window began."""
        seen = self._read()
        # A tool that ended unreaped takes its time along: the sum may fall, work never does.
        used = max(0.0, seen - self._last)
        self._used += used
        self._last = seen
        if used > BUSY * (now - self._looked if self._looked else self._window):
            self.worked = now
        self._looked = now
        self._samples.append((now, self._used))
        while len(self._samples) > 2 and self._samples[1][0] <= now - self._window:
            self._samples.popleft()
        began, before = self._samples[0]
        return self._used - before > BUSY * max(now - began, self._window)


class Silence:
    """When an agent without progress is to be warned of, and when it is idle."""

    def __init__(self, control: ProcessControl, limits: Limits) -> None:
        self._control = control
        self._limits = limits
        self._noticed: float | None = None

    @property
    def limit(self) -> tuple[str, float]:
        """The limit that holds now, by name: an open tool call has its own, and after its closing
        line one without any has to go."""
        if self._control.tool_open:
            return "tool", self._limits.tool
        if self._control.closed_at is not None:
            return FINISHED, settle(self._limits)
        return "idle", self._limits.idle

    def overdue(self, now: float) -> float:
        """Seconds, negative before, since what an agent has left at work was waited for enough."""
        if self._control.closed_at is None:
            return -math.inf
        # A CLI that keeps the same ceiling has its time to go by itself.
        ceiling = self._limits.background + settle(self._limits)
        return now - self._control.closed_at - ceiling

    def lasted(self, now: float) -> float:
        """Seconds since the last progress."""
        return max(0.0, now - self._control.last)

    def waited_for(self, now: float, child: Child) -> tuple[str, ...]:
        """What one that has finished waits for: its open tool calls; where there is none and it
        does not come to rest all the same, its tools' processes."""
        if self._control.tool_open:
            return self._control.open_tools[:_NAMED] or ("a tool",)
        since, rest = now - (self._control.closed_at or now), settle(self._limits)
        keeper = _keeper(child)
        if child.pid is None or keeper is None or not self.lasted(now) < rest < since:
            return ()
        return procfs.tools(keeper, child.pid)[:_NAMED]

    def notice(self, now: float) -> Notice | None:
        """That half of the limit has passed; once for each silence, and not of a finished one."""
        name, limit = self.limit
        if self.lasted(now) < limit / 2 or self._noticed == self._control.last:
            return None
        if self._control.closed_at is not None:
            return None
        self._noticed = self._control.last
        return _half(name, self.lasted(now), limit)

    def next_look(self, now: float) -> float:
        """Seconds until there may be something to say or do."""
        _, limit = self.limit
        lasted = self.lasted(now)
        half = limit / 2 - lasted
        return half if half > 0 else max(0.0, limit - lasted)


def finished_graces(limits: Limits) -> Graces:
    """The graces of an agent whose work is done."""
    after_int, after_term = FINISHED_GRACES
    return min(after_int, limits.grace_int), min(after_term, limits.grace_term)


def settle(limits: Limits) -> float:
    """Seconds of silence in which an agent that has finished is to end by itself."""
    return min(SETTLE, limits.idle)


async def idle(
    child: Child,
    control: ProcessControl,
    limits: Limits,
    changed_since: ChangedSince,
    on_notice: OnNotice,
) -> None:
    """Stops the agent after a silence: no progress told, no CPU used by tools, no file changed.

    One that has said its closing line has only to settle; what it left at work it may wait for as
    long as `Limits.background` allows.
    """
    await child.started.wait()
    control.progress()  # what its start took is no silence of the agent's
    silence = Silence(control, limits)
    told_of: float | None = None
    busy = Busy(lambda: _cpu(child), min(_WINDOW, limits.idle))
    interval = min(_LOOK, limits.idle / 5)
    while True:
        now = time.monotonic()
        if busy.look(now):
            # Progress when they worked, not now: a busy start would else count for a whole window.
            control.progress(busy.worked)
        if (notice := silence.notice(now)) is not None:
            on_notice(notice)  # first, too, where this look comes late and the limit has passed
        if control.closed_at not in (None, told_of) and (names := silence.waited_for(now, child)):
            told_of = control.closed_at
            control.waited_for = names
            on_notice(_waiting(names, limits))
        if silence.overdue(now) >= 0:
            _log.info("limit met", limit=BACKGROUND, seconds=limits.background)
            control.stop(BACKGROUND, graces=finished_graces(limits))
            return
        if silence.lasted(now) >= silence.limit[1] and not await _found_change(
            control, changed_since
        ):
            name, seconds = silence.limit
            _log.info("limit met", limit=name, seconds=seconds)
            done = control.closed_at is not None
            control.stop(name, graces=finished_graces(limits) if done else None)
            return
        await trio.sleep(min(interval, silence.next_look(now)))


async def _found_change(control: ProcessControl, changed_since: ChangedSince) -> bool:
    # One walk of the tree, only now. While it walks the agent may speak up, too.
    last = control.last
    position = time.time() - (time.monotonic() - last)
    # The clock on the wall may have been set: `last` then has another time on it than it had.
    was_set = abs(position - control.last_wall) > _SET
    changed = await changed_since(min(position, control.last_wall))
    if changed is not None:
        # Progress when it was: a change just before the last event would else count once more.
        ago = 0.0 if was_set else max(0.0, time.time() - changed)
        control.progress(time.monotonic() - ago)
    return control.last != last


async def start(child: Child, control: ProcessControl) -> None:
    """Gives up on an agent that is never executed: a mount that hangs, say."""
    with trio.move_on_after(START):
        await child.started.wait()
        return
    _log.info("limit met", limit="start", seconds=START)
    control.kill("not_started")


async def total(control: ProcessControl, limits: Limits, on_notice: OnNotice) -> None:
    """Stops the agent at the total limit, which nothing extends."""
    await trio.sleep(limits.total / 2)
    on_notice(_half("total", limits.total / 2, limits.total))
    await trio.sleep(limits.total / 2)
    _log.info("limit met", limit="total", seconds=limits.total)
    control.stop("total")


async def closed(ended: trio.Event, control: ProcessControl) -> None:
    """Stops an agent that has closed its stdout and lives on: nothing more can come of it."""
    await ended.wait()
    await trio.sleep(_CLOSED_FOR)
    _log.info("it closed its stdout and lives on", seconds=_CLOSED_FOR)
    control.stop("stdout_closed")


def _half(limit: str, seconds: float, of: float) -> Notice:
    return Notice("half", {"limit": limit, "seconds": seconds, "of": of})


def _waiting(names: tuple[str, ...], limits: Limits) -> Notice:
    data = {"limit": BACKGROUND, "seconds": 0.0, "of": limits.background, "for": list(names)}
    return Notice("waiting", data)


def _keeper(child: Child) -> int | None:
    return None if child.pid is None else procfs.parent(child.pid)


def _cpu(child: Child) -> float:
    keeper = _keeper(child)
    if child.pid is None or keeper is None:
        return 0.0
    return procfs.cpu_of_tools(keeper, child.pid)


# ---- A limit that a busy machine does not shorten: what a program waits for a core does not count.
#
# A CLI that needs 2 s of a quiet machine needs 40 s of one on which twenty others want to run. It
# is not hung, and by the clock nobody could tell. So its time is counted as what it slept (as one
# does that waits for an answer that never comes) and what it computed (as one does that spins).

STEP = 0.5
"""Seconds from one look to the next."""

MOST = 10.0
"""So many times its limit it gets by the clock, whatever it waits for: a disk may never answer."""


class CpuClock:
    """The seconds of one program that count. `look` is given what was seen of it since."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._cpu = 0.0

    def look(self, passed: float, cpu: float, wants: bool) -> None:
        """`passed` seconds later it has used `cpu` seconds in all; it `wants` a core, or a disk."""
        used = max(0.0, cpu - self._cpu)  # what is reaped unseen takes its time along
        self._cpu = max(self._cpu, cpu)
        self.seconds += min(passed, used) if wants else passed


async def outlasts(child: Child, seconds: float) -> bool:
    """Waits for the child's end; True where it has had its `seconds` and has not ended."""
    counted = CpuClock()
    last = began = time.monotonic()
    while counted.seconds < seconds and last - began < seconds * MOST:
        with trio.move_on_after(min(STEP, seconds - counted.seconds + 0.001)):
            await child.finished.wait()
            return False
        now = time.monotonic()
        # Where Hydra itself has come late to look, nothing is known of the time in between.
        counted.look(min(now - last, 2 * STEP), *procfs.work(child.process.pid))
        last = now
    return True

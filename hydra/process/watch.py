"""The limits: no progress for too long, too long in all, stdout closed but alive."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable

import trio

from hydra.model import Limits
from hydra.process import proc
from hydra.process.child import Child
from hydra.process.control import Control
from hydra.process.records import Notice

BUSY = 0.02
"""Share of a core above which the tools' CPU counts as progress; a spinner uses 0.002."""

_LOOK = 2.0
_WINDOW = 30.0
_CLOSED_FOR = 2.0
_SET = 1.0
"""Seconds that the wall clock must differ from the monotonic one to count as set by somebody."""
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

    def __init__(self, control: Control, limits: Limits) -> None:
        self._control = control
        self._limits = limits
        self._noticed: float | None = None

    @property
    def limit(self) -> tuple[str, float]:
        """The limit that holds now, by name: an open tool call has its own."""
        if self._control.tool_open:
            return "tool", self._limits.tool
        return "idle", self._limits.idle

    def lasted(self, now: float) -> float:
        """Seconds since the last progress."""
        return max(0.0, now - self._control.last)

    def notice(self, now: float) -> Notice | None:
        """That half of the limit has passed; once for each silence."""
        name, limit = self.limit
        if self.lasted(now) < limit / 2 or self._noticed == self._control.last:
            return None
        self._noticed = self._control.last
        return _half(name, self.lasted(now), limit)

    def next_look(self, now: float) -> float:
        """Seconds until there may be something to say or do."""
        _, limit = self.limit
        lasted = self.lasted(now)
        half = limit / 2 - lasted
        return half if half > 0 else max(0.0, limit - lasted)


async def idle(
    child: Child,
    control: Control,
    limits: Limits,
    changed_since: ChangedSince,
    on_notice: OnNotice,
) -> None:
    """Stops the agent after a silence: no progress told, no CPU used by tools, no file changed."""
    await child.started.wait()
    control.progress()  # what its start took is no silence of the agent's
    silence = Silence(control, limits)
    busy = Busy(lambda: _cpu(child), min(_WINDOW, limits.idle))
    interval = min(_LOOK, limits.idle / 5)
    while True:
        now = time.monotonic()
        if busy.look(now):
            # Progress when they worked, not now: a busy start would else count for a whole window.
            control.progress(busy.worked)
        if (notice := silence.notice(now)) is not None:
            on_notice(notice)  # first, too, where this look comes late and the limit has passed
        if silence.lasted(now) >= silence.limit[1] and not await _found_change(
            control, changed_since
        ):
            control.stop("idle")
            return
        await trio.sleep(min(interval, silence.next_look(now)))


async def _found_change(control: Control, changed_since: ChangedSince) -> bool:
    # One walk of the tree, only now. While it walks the agent may speak up, too.
    last = control.last
    here = time.time() - (time.monotonic() - last)
    # The clock on the wall may have been set: `last` then has another time on it than it had.
    was_set = abs(here - control.last_wall) > _SET
    changed = await changed_since(min(here, control.last_wall))
    if changed is not None:
        # Progress when it was: a change just before the last event would else count once more.
        ago = 0.0 if was_set else max(0.0, time.time() - changed)
        control.progress(time.monotonic() - ago)
    return control.last != last


async def start(child: Child, control: Control) -> None:
    """Gives up on an agent that is never executed: a mount that hangs, say."""
    with trio.move_on_after(START):
        await child.started.wait()
        return
    control.kill("not_started")


async def total(control: Control, limits: Limits, on_notice: OnNotice) -> None:
    """Stops the agent at the total limit, which nothing extends."""
    await trio.sleep(limits.total / 2)
    on_notice(_half("total", limits.total / 2, limits.total))
    await trio.sleep(limits.total / 2)
    control.stop("total")


async def closed(ended: trio.Event, control: Control) -> None:
    """Stops an agent that has closed its stdout and lives on: nothing more can come of it."""
    await ended.wait()
    await trio.sleep(_CLOSED_FOR)
    control.stop("stdout_closed")


def _half(limit: str, seconds: float, of: float) -> Notice:
    return Notice("half", {"limit": limit, "seconds": seconds, "of": of})


def _cpu(child: Child) -> float:
    keeper = proc.parent(child.pid) if child.pid is not None else None
    if child.pid is None or keeper is None:
        return 0.0
    return proc.cpu_of_tools(keeper, child.pid)

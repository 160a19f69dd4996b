"""A limit that a busy machine does not shorten: what a program waits for a core does not count.

A CLI that needs 2 s of a quiet machine needs 40 s of one on which twenty others want to run. It is
not hung, and by the clock nobody could tell. So its time is counted as what it slept (as one does
that waits for an answer that never comes) and what it computed (as one does that spins).
"""

from __future__ import annotations

import time
from collections.abc import Callable

import trio

from hydra.process import proc
from hydra.process.child import Child

STEP = 0.5
"""Seconds from one look to the next."""

MOST = 10.0
"""So many times its limit it gets by the clock, whatever it waits for: a disk may never answer."""

ASLEEP = 1.0
"""Seconds of sleep after which its core is somebody else's."""

OnSleep = Callable[[bool], None]
"""Told True when the program sleeps and needs no core, False when it wants one again."""


class Counted:
    """The seconds of one program that count. `look` is given what was seen of it since."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept = 0.0
        """How long it has slept by now, without a pause."""
        self._cpu = 0.0

    def look(self, passed: float, cpu: float, wants: bool) -> None:
        """`passed` seconds later it has used `cpu` seconds in all; it `wants` a core, or a disk."""
        used = max(0.0, cpu - self._cpu)  # what is reaped unseen takes its time along
        self._cpu = max(self._cpu, cpu)
        self.seconds += min(passed, used) if wants else passed
        idle = not wants and used < passed / 10
        self.slept = self.slept + passed if idle else 0.0


async def outlasts(child: Child, seconds: float, on_sleep: OnSleep) -> bool:
    """Waits for the child's end; True where it has had its `seconds` and has not ended."""
    counted, began, told = Counted(), time.monotonic(), False
    last = began
    while counted.seconds < seconds and last - began < seconds * MOST:
        with trio.move_on_after(min(STEP, seconds - counted.seconds + 0.001)):
            await child.finished.wait()
            return False
        now = time.monotonic()
        # Where Hydra itself has come late to look, nothing is known of the time in between.
        counted.look(min(now - last, 2 * STEP), *proc.work(child.process.pid))
        last = now
        if told != (counted.slept >= ASLEEP):
            told = not told
            on_sleep(told)
    return True

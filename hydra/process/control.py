"""The caller's handle on a running agent, and the ladder that ends one."""

from __future__ import annotations

import math
import signal
import time

import trio

Graces = tuple[float, float]
"""Seconds after INT, seconds after TERM."""

FINISHED = "finished"
"""The reason where an agent is ended since its work is done: no limit, and no failure."""

FINISHED_GRACES = (3.0, 2.0)
"""After INT and TERM, where an agent's work is done; at most the limits' own."""

BACKGROUND = "background"
"""The reason where one that had finished was waited for as long as `Limits.background` allows."""

OPEN_TOOLS = 1000
"""Tool calls held open at once; no agent has more, and an invented one costs memory."""

_STEPS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


class Ladder:
    """When INT, TERM and KILL are due. Asking again can only bring them nearer."""

    def __init__(self) -> None:
        self._due = [math.inf, math.inf, math.inf]
        self._sent = 0

    def stop(self, now: float, graces: Graces) -> None:
        """INT now, the others after their graces."""
        after_int, after_term = graces
        due = (now, now + after_int, now + after_int + after_term)
        self._due = [min(old, new) for old, new in zip(self._due, due, strict=True)]

    def step(self, now: float) -> signal.Signals | None:
        """The strongest signal that is due and not yet sent; the weaker ones are passed over."""
        for index in reversed(range(self._sent, len(_STEPS))):
            if self._due[index] <= now:
                self._sent = index + 1
                return _STEPS[index]
        return None

    @property
    def next_due(self) -> float:
        """When the next step is due; infinity where none is."""
        return min(self._due[self._sent :], default=math.inf)


class ProcessControl:
    """Handed to `supervise`, kept by its caller: what the stream shows, and the wish to stop.

    Every method is quick, may be called at any time (before the start and after the end too) and
    more than once, from Trio's own thread. The first reason given is the one that stands.
    """

    def __init__(self) -> None:
        self.reason = ""
        self.last = time.monotonic()
        self.last_wall = time.time()
        self.closed_at: float | None = None
        """When the agent said its closing line (monotonic); None while it has not, or goes on."""
        self.waited_for: tuple[str, ...] = ()
        """What it had left at work then, for a person."""
        self._tools: dict[str, str] = {}
        self._wishes: list[Graces | None] = []
        self._wished = trio.Event()

    def progress(self, at: float | None = None) -> None:
        """The agent got on, now or `at` a time of the monotonic clock: the silence starts anew."""
        now = time.monotonic()
        moment = now if at is None else at
        if moment >= self.last:
            self.last = moment
            self.last_wall = time.time() - (now - moment)

    def closed(self) -> None:
        """The agent said its closing line: from now on it is only waited for. What it says while it
        is being ended is none."""
        self.progress()
        if self.closed_at is None and not self.reason:
            self.closed_at, self.waited_for = self.last, ()

    def resumed(self) -> None:
        """It goes on after all. Once it is being ended that changes nothing."""
        if not self.reason:
            self.closed_at = None

    def tool_opened(self, id: str, name: str = "") -> None:
        """A tool call runs, `name` for a person: silence is now measured by the tool limit."""
        if len(self._tools) < OPEN_TOOLS:
            self._tools[id] = name
        self.progress()

    def tool_closed(self, id: str) -> None:
        """It has ended; that is progress too."""
        self._tools.pop(id, None)
        self.progress()

    @property
    def tool_open(self) -> bool:
        """Whether a tool call is open."""
        return bool(self._tools)

    @property
    def open_tools(self) -> tuple[str, ...]:
        """What the open tool calls do, where it is known."""
        return tuple(name for name in self._tools.values() if name)

    def expect(self, reason: str) -> None:
        """The agent is about to end, for `reason`; it is not ended by that."""
        self.reason = self.reason or reason

    def stop(self, reason: str, *, graces: Graces | None = None) -> None:
        """INT, then TERM, then KILL; `graces` instead of the limits'. A second call can only
        shorten what is left of the first."""
        self._wish(reason, graces)

    def kill(self, reason: str) -> None:
        """KILL at once."""
        self._wish(reason, (0.0, 0.0))

    async def wish(self) -> list[Graces | None]:
        """Waits for the next wishes and takes them; None stands for the limits' own graces."""
        await self._wished.wait()
        self._wished = trio.Event()
        wishes, self._wishes = self._wishes, []
        return wishes

    def _wish(self, reason: str, graces: Graces | None) -> None:
        self.expect(reason)
        self._wishes.append(graces)
        self._wished.set()

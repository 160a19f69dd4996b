"""The race: one nursery that fans a task out over its lanes, and the one order of all events."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial

import trio

from hydra import referee
from hydra.bench import Emit, Handle
from hydra.events import Event, Raw
from hydra.model import LanePlan, Outcome, RacePlan, RaceResult, Retry
from hydra.not_started import broken, interrupted, not_started
from hydra.outcome import EARLY
from hydra.retrying import chosen, reason_of, wait_before
from hydra.space import Low
from hydra.spending import counted

ROOM_TICK = 1.0
"""Seconds between two looks at the disk: one that writes 1 GB a second leaves room for patches."""

Finish = Callable[[LanePlan, Handle, Emit, Outcome], Awaitable[Outcome]]
"""What is done with an attempt's outcome once its lane has given up its place: its checks."""

After = Callable[[Sequence[Outcome], Emit, trio.CancelScope], Awaitable[None]]
"""What is done once every lane has its outcome, and changes none: trials. The scope ends it."""

_UNDER_WAY = frozenset(("agent_started", "lane_ended"))


def signals() -> AbstractContextManager[AsyncIterator[int]]:
    """Receives what ends a race in order: SIGINT, SIGTERM, SIGHUP.

    Not a SIGHUP that is ignored already: who says `nohup hydra race` wants it to outlive the
    terminal. An ignored SIGINT is heard, for a shell ignores it for whatever a script puts in the
    background, and asks nobody.
    """
    wanted = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        wanted.append(signal.SIGHUP)
    return trio.open_signal_receiver(*wanted)


async def _as_it_is(_lane: LanePlan, _handle: Handle, _emit: Emit, outcome: Outcome) -> Outcome:
    return outcome


RunAttempt = Callable[[LanePlan, Handle, Emit, int], Awaitable[Outcome]]
"""Runs one lane's attempt, by its number, to its outcome; the app puts it together from the lower
rooms."""


@dataclass
class Race:
    """One race under way. `record` takes each event, in order; it must be quick and never fail.

    `beside` is what goes on beside the lanes, begun once the first agents run; a race does not wait
    for its end. `after` is done when all lanes have ended, before the race has. `room` looks at the
    disks, in a thread: the one that is under its floor, or None.
    """

    plan: RacePlan
    run_attempt: RunAttempt
    record: Callable[[Event], None]
    finish: Finish = _as_it_is
    beside: Callable[[Emit], Awaitable[None]] | None = None
    after: After | None = None
    retry: Retry = field(default_factory=Retry)
    checkpoint: Callable[[], None] = lambda: None
    room: Callable[[], Low | None] = lambda: None
    _state: referee.State = field(default_factory=referee.State)
    _handles: dict[str, Handle] = field(default_factory=dict)
    _taken: dict[str, Outcome] = field(default_factory=dict)
    _earlier: dict[str, list[Outcome]] = field(default_factory=dict)
    _outcomes: dict[str, Outcome] = field(default_factory=dict)
    _under_way: set[str] = field(default_factory=set)
    _all_under_way: trio.Event = field(default_factory=trio.Event)
    _beside: trio.CancelScope = field(default_factory=trio.CancelScope)
    _after: trio.CancelScope = field(default_factory=trio.CancelScope)
    _after_seconds: float = 0.0
    _low: Low | None = None
    _seq: int = 0
    _started: float = 0.0
    _signal: int = 0
    _times: int = 0
    _over: bool = False
    _everything: trio.CancelScope = field(default_factory=trio.CancelScope)

    async def run(self) -> RaceResult:
        """Runs every lane to its outcome. A lane's failure never stops its neighbours."""
        self._started = trio.current_time()
        self._handles = {lane.lane.id: Handle() for lane in self.plan.lanes}
        budgets = {lane.lane.id: lane.budget for lane in self.plan.lanes if counted(lane.budget)}
        self._state = referee.State(budgets=budgets)
        self.emit("run_started", data=_headline(self.plan))
        for warning in self.plan.warnings:
            self.emit("run_warning", data={"text": warning})
        async with trio.open_nursery() as nursery:
            await nursery.start(self._listen)
            nursery.start_soon(self._watch_room)
            nursery.start_soon(self._run_beside)
            with self._everything:
                await self._fan_out()
                await self._run_after()
            nursery.cancel_scope.cancel()
        return await self._close()

    async def _fan_out(self) -> None:
        places = trio.Semaphore(self.plan.max_parallel)
        runnable = [lane for lane in self.plan.lanes if lane.failure is None]
        for lane in self.plan.lanes:
            if lane.failure is not None:
                self._ended(not_started(lane, lane.failure))
        for position, lane in enumerate(runnable[self.plan.max_parallel :], start=1):
            self.emit("lane_waiting", lane=lane.lane.id, data={"position": position})
        async with trio.open_nursery() as lanes:
            for lane in runnable:
                # Taken here and not in the lane's task: Trio starts tasks in no fixed order.
                await places.acquire()
                lanes.start_soon(self._run_lane, lane, places)

    async def _run_beside(self) -> None:
        if self.beside is not None:
            with self._beside:
                await self._all_under_way.wait()
                await self.beside(self.emit)

    async def _run_after(self) -> None:
        if self.after is None:
            return
        began = trio.current_time()
        outcomes = [self._outcomes[lane.lane.id] for lane in self.plan.lanes]
        try:
            await self.after(outcomes, self.emit, self._after)
        except Exception as bug:
            # The lanes' outcomes stand, whatever it is.
            text = f"Hydra itself failed on its trials: {type(bug).__name__}: {bug}"
            self.emit("run_warning", data={"text": text})
        finally:
            self._after_seconds = trio.current_time() - began

    async def _run_lane(self, lane: LanePlan, places: trio.Semaphore) -> None:
        try:
            if stopped := self._handles[lane.lane.id].stopped:
                self._ended(not_started(lane, interrupted(lane, stopped)))
                return
            outcome = self._taken[lane.lane.id] = await self._tries(lane)
        except Exception as bug:
            # A lane's failure never stops its neighbours, not even Hydra's own.
            self._ended(not_started(lane, broken(lane, bug)))
            return
        finally:
            places.release()
        await self._finish(lane, outcome)

    async def _tries(self, lane: LanePlan) -> Outcome:
        """Its attempts, until one is not to be tried again. It keeps its place meanwhile."""
        id = lane.lane.id
        earlier = self._earlier[id] = []
        while True:
            number = len(earlier) + 1
            emit = partial(self.emit, lane=id, attempt=number)
            outcome = await self._try(lane, emit, number)
            wait = wait_before(self.retry, outcome, random.random())  # noqa: S311  no secret
            if self._handles[id].stopped in EARLY:
                wait = None
            result = self._taken[id] = chosen([*earlier, outcome])
            if wait is not None or result.attempt != number:
                emit("attempt_ended", data=_told(outcome))
            if wait is None or not await self._waited(id, outcome, wait, emit):
                return result
            earlier.append(outcome)
            del self._taken[id]

    async def _try(self, lane: LanePlan, emit: Emit, number: int) -> Outcome:
        try:
            return await self.run_attempt(lane, self._handles[lane.lane.id], emit, number)
        except Exception as bug:
            if number == 1:
                raise
            # What the tries before it have left still stands.
            return not_started(lane, broken(lane, bug), attempt=number)

    async def _waited(self, lane: str, outcome: Outcome, wait: float, emit: Emit) -> bool:
        """Whether the lane may be tried again, once it has waited: nobody has stopped it."""
        told = {"after": reason_of(outcome), "seconds": round(wait, 3)}
        emit("lane_retrying", data={**told, "attempt": outcome.attempt + 1})
        handle = self._handles[lane] = Handle()
        with handle.waiting:
            await trio.sleep(wait)
        return not handle.stopped

    async def _finish(self, lane: LanePlan, outcome: Outcome) -> None:
        handle = self._handles[lane.lane.id]
        emit = partial(self.emit, lane=lane.lane.id, attempt=outcome.attempt)
        try:
            self._ended(await self.finish(lane, handle, emit, outcome))
        except Exception as bug:
            why = f"Hydra itself failed on its checks: {type(bug).__name__}: {bug}"
            self._ended(replace(outcome, held_back=(why,)))

    def _ended(self, outcome: Outcome) -> None:
        self._outcomes[outcome.lane] = outcome
        self.emit(
            "lane_ended",
            lane=outcome.lane,
            attempt=outcome.attempt,
            data={
                **_told(outcome),
                "usable": outcome.usable,
                "held_back": list(outcome.held_back),
                "checks": [
                    {name: check.get(name) for name in ("check", "status", "says")}
                    for check in outcome.checks
                ],
            },
        )

    async def _listen(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        with signals() as received:
            task_status.started()
            async for number in received:
                self.interrupt(number)

    async def _watch_room(self) -> None:
        while self._low is None:
            await trio.sleep(ROOM_TICK)
            # In a thread that may be left behind: a disk can hang.
            self._low = await trio.to_thread.run_sync(self.room, abandon_on_cancel=True)
        place, free, floor = str(self._low.place), self._low.free, self._low.floor
        text = f"{self._low}: ending the agents and taking their patches"
        data = {"text": text, "place": place, "free": free, "floor": floor}
        self.emit("run_warning", "disk_floor", data=data)

    def interrupt(self, number: int) -> None:
        """What signal `number` means, wherever it came from; nothing once the race has ended.

        A terminal that goes sends SIGHUP more than once, by its shell and by the kernel, and who
        watches is gone too: nobody insists, so it is never a second Ctrl-C.
        """
        if self._over or (self._times and number == signal.SIGHUP):
            return
        self._times += 1
        self._signal = self._signal or number
        name = signal.Signals(number).name
        self.emit("run_interrupted", data={"signal": name, "times": self._times})

    def emit(
        self,
        kind: str,
        sub: str = "",
        data: Mapping[str, object] | None = None,
        *,
        lane: str = "",
        attempt: int = 0,
        source: str = "hydra",
        raw: Raw | None = None,
        recorded: bool = True,
    ) -> None:
        """Gives an event its place in the one order, records it, and does what follows from it."""
        self._seq += recorded
        event = Event(
            seq=self._seq,
            wall=time.time(),
            mono=trio.current_time() - self._started,
            run=self.plan.run,
            kind=kind,
            sub=sub,
            source=source,
            lane=lane,
            attempt=attempt,
            raw=raw,
            data=data or {},
        )
        if recorded:
            self.record(event)
        if kind in _UNDER_WAY:
            self._begin_beside(lane)
        self._state, actions = referee.step(self._state, event)
        for action in actions:
            self._do(action)

    def _begin_beside(self, lane: str) -> None:
        self._under_way.add(lane)
        if len(self._under_way) >= min(self.plan.max_parallel, len(self.plan.lanes)):
            self._all_under_way.set()

    def _do(self, action: referee.Action) -> None:
        match action:
            case referee.StopLane(lane, reason):
                self._handles[lane].stop_agent(reason)
            case referee.StopAll(reason, graces):
                self._beside.cancel()
                self._after.cancel()
                for handle in self._handles.values():
                    handle.stop(reason, graces)
            case referee.KillAll(reason):
                for handle in self._handles.values():
                    handle.kill(reason)
                self._everything.cancel()

    def _cut_off(self, lane: LanePlan) -> Outcome:
        """Of a lane whose attempt had no outcome yet; one before it may have left a patch."""
        earlier = self._earlier.get(lane.lane.id, [])
        why = interrupted(lane, "interrupt")
        return chosen([*earlier, not_started(lane, why, attempt=len(earlier) + 1)])

    async def _close(self) -> RaceResult:
        self._over = True
        for lane in self.plan.lanes:
            if lane.lane.id in self._outcomes:
                continue
            taken = self._taken.get(lane.lane.id)
            if taken is not None:
                why = ("the race was ended at once, before its checks had ended",)
                self._ended(replace(taken, held_back=why if self.plan.checks else ()))
            else:
                self._ended(self._cut_off(lane))
        seconds = trio.current_time() - self._started
        result = RaceResult(
            run=self.plan.run,
            outcomes=tuple(self._outcomes[lane.lane.id] for lane in self.plan.lanes),
            seconds=seconds,
            interrupted=self._signal,
            warnings=(f"{self._low}, so the race was stopped",) if self._low else (),
        )
        ended = {"usable": result.usable, "seconds": round(seconds, 3)}
        trials = {"trials": round(self._after_seconds, 3)} if self._after_seconds else {}
        self.emit("run_ended", data={**ended, **trials})
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(self.checkpoint)
        return result


def _headline(plan: RacePlan) -> dict[str, object]:
    return {
        "lanes": [lane.lane.id for lane in plan.lanes],
        "base": plan.task.base,
        "base_name": plan.task.base_name,
        "confined": plan.confined,
        "soft": [lane.lane.id for lane in plan.lanes if lane.soft_sandbox],
        "elsewhere": plan.elsewhere,
        "checks": [check.name for check in plan.checks],
        "guessed": [check.command for check in plan.checks if check.guessed],
        "check_runs": plan.check_runs,
        "trial_time": plan.trials.seconds if plan.trials.runs else 0,
        "limits": {
            "idle": plan.limits.idle,
            "tool": plan.limits.tool,
            "total": plan.limits.total,
        },
    }


def _told(outcome: Outcome) -> dict[str, object]:
    return {
        "status": outcome.status.value,
        "error": outcome.failure.as_dict() if outcome.failure else None,
        "seconds": round(outcome.seconds, 3),
    }

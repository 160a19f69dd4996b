"""The race: one nursery that fans a task out over its lanes, and the one order of all events."""

from __future__ import annotations

import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import trio

from hydra import referee
from hydra.attempt import Emit, Handle
from hydra.errors import Failure
from hydra.events import Event, Raw
from hydra.model import LanePlan, Outcome, RacePlan, RaceResult, Status

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

RunAttempt = Callable[[LanePlan, Handle, Emit], Awaitable[Outcome]]
"""Runs one lane's attempt to its outcome; the app puts it together from the lower rooms."""


@dataclass
class Race:
    """One race under way. `record` takes each event, in order; it must be quick and never fail."""

    plan: RacePlan
    run_attempt: RunAttempt
    record: Callable[[Event], None]
    checkpoint: Callable[[], None] = lambda: None
    _state: referee.State = field(default_factory=referee.State)
    _handles: dict[str, Handle] = field(default_factory=dict)
    _outcomes: dict[str, Outcome] = field(default_factory=dict)
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
        self.emit("run_started", data=_headline(self.plan))
        for warning in self.plan.warnings:
            self.emit("run_warning", data={"text": warning})
        async with trio.open_nursery() as nursery:
            await nursery.start(self._listen)
            with self._everything:
                await self._fan_out()
            nursery.cancel_scope.cancel()
        return await self._close()

    async def _fan_out(self) -> None:
        places = trio.Semaphore(self.plan.max_parallel)
        runnable = [lane for lane in self.plan.lanes if lane.failure is None]
        for lane in self.plan.lanes:
            if lane.failure is not None:
                self._ended(_not_started(lane, lane.failure))
        for position, lane in enumerate(runnable[self.plan.max_parallel :], start=1):
            self.emit("lane_waiting", lane=lane.lane.id, data={"position": position})
        async with trio.open_nursery() as lanes:
            for lane in runnable:
                # Taken here and not in the lane's task: Trio starts tasks in no fixed order.
                await places.acquire()
                lanes.start_soon(self._run_lane, lane, places)

    async def _run_lane(self, lane: LanePlan, places: trio.Semaphore) -> None:
        handle = self._handles[lane.lane.id]
        emit = partial(self.emit, lane=lane.lane.id, attempt=1)
        try:
            if handle.stopped:
                self._ended(_not_started(lane, _interrupted(lane)))
            else:
                self._ended(await self.run_attempt(lane, handle, emit))
        except Exception as bug:
            # A lane's failure never stops its neighbours, not even Hydra's own.
            self._ended(_not_started(lane, _broken(lane, bug)))
        finally:
            places.release()

    def _ended(self, outcome: Outcome) -> None:
        self._outcomes[outcome.lane] = outcome
        failure = outcome.failure
        self.emit(
            "lane_ended",
            lane=outcome.lane,
            attempt=outcome.attempt,
            data={
                "status": outcome.status.value,
                "usable": outcome.usable,
                "error": failure.as_dict() if failure else None,
                "seconds": round(outcome.seconds, 3),
            },
        )

    async def _listen(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        with trio.open_signal_receiver(*SIGNALS) as received:
            task_status.started()
            async for number in received:
                self.interrupt(number)

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
    ) -> None:
        """Gives an event its place in the one order, records it, and does what follows from it."""
        self._seq += 1
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
        self.record(event)
        self._state, actions = referee.step(self._state, event)
        for action in actions:
            self._do(action)

    def _do(self, action: referee.Action) -> None:
        match action:
            case referee.StopLane(lane, reason):
                self._handles[lane].stop(reason)
            case referee.StopAll(reason, graces):
                for handle in self._handles.values():
                    handle.stop(reason, graces)
            case referee.KillAll(reason):
                for handle in self._handles.values():
                    handle.kill(reason)
                self._everything.cancel()

    async def _close(self) -> RaceResult:
        self._over = True
        for lane in self.plan.lanes:
            if lane.lane.id not in self._outcomes:
                self._ended(_not_started(lane, _interrupted(lane)))
        seconds = trio.current_time() - self._started
        result = RaceResult(
            run=self.plan.run,
            outcomes=tuple(self._outcomes[lane.lane.id] for lane in self.plan.lanes),
            seconds=seconds,
            interrupted=self._signal,
        )
        self.emit("run_ended", data={"usable": result.usable, "seconds": round(seconds, 3)})
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(self.checkpoint)
        return result


def _headline(plan: RacePlan) -> dict[str, object]:
    return {
        "lanes": [lane.lane.id for lane in plan.lanes],
        "base": plan.task.base,
        "base_name": plan.task.base_name,
        "confined": plan.confinement.holds,
        "soft": [lane.lane.id for lane in plan.lanes if lane.soft_sandbox],
        "limits": {
            "idle": plan.limits.idle,
            "tool": plan.limits.tool,
            "total": plan.limits.total,
        },
    }


def _not_started(lane: LanePlan, failure: Failure) -> Outcome:
    interrupted = failure.kind == "Interrupted"
    return Outcome(
        lane=lane.lane.id,
        attempt=1,
        status=Status.INTERRUPTED if interrupted else Status.NOT_STARTED,
        failure=failure,
        warnings=lane.warnings,
    )


def _interrupted(lane: LanePlan) -> Failure:
    return Failure(
        kind="Interrupted",
        reason="interrupt",
        message="the race was interrupted before this lane could end in order",
        adapter=lane.lane.adapter,
        command=lane.command.argv if lane.command else (),
        hint="its worktree is kept; race again to start over",
    )


def _broken(lane: LanePlan, bug: Exception) -> Failure:
    if isinstance(bug, OSError):
        return Failure(
            kind="SpawnFailed",
            reason="record",
            message=f"its record could not be kept: {bug}",
            adapter=lane.lane.adapter,
            command=lane.command.argv if lane.command else (),
            hint="see that the disk of the state folder has room (`hydra doctor` names it)",
        )
    return Failure(
        kind="SpawnFailed",
        reason="hydra_bug",
        message=f"Hydra itself failed on this lane: {type(bug).__name__}: {bug}",
        adapter=lane.lane.adapter,
        command=lane.command.argv if lane.command else (),
        hint="please report this with the run's folder; the other lanes are not affected",
    )

"""The race: one nursery that fans a task out over its lanes, and the one order of all events."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial

import trio
from msgspec.structs import replace

from hydra.disk import LowDisk
from hydra.log import bind, get_logger
from hydra.race import policy
from hydra.race.context import AttemptControl, Emit
from hydra.race.hidden_places import HiddenPlaces, Look
from hydra.race.outcome import EARLY, internal_error, interrupted, not_started
from hydra.race.policy import is_limited, reason_of, retry_delay
from hydra.race.signals import ending_signals
from hydra.records.events import Event, Raw
from hydra.records.outcome import Outcome, RaceResult, select_attempt
from hydra.records.plan import LanePlan, RacePlan
from hydra.records.request import Retry

_log = get_logger(__name__)

ROOM_TICK = 1.0
"""Seconds between two looks at the disk: one that writes 1 GB a second leaves room for patches."""

FinishLane = Callable[[LanePlan, AttemptControl, Emit, Outcome], Awaitable[Outcome]]
"""What is done with an attempt's outcome once its lane has given up its place: its checks."""

RunCrossTests = Callable[[Sequence[Outcome], Emit, trio.CancelScope], Awaitable[None]]
"""What is done once every lane has its outcome, and changes none: trials. The scope ends it."""

_LANE_BEGUN_KINDS = frozenset(("agent_started", "lane_ended"))


async def _as_it_is(
    _lane: LanePlan, _control: AttemptControl, _emit: Emit, outcome: Outcome
) -> Outcome:
    return outcome


RunAttempt = Callable[[LanePlan, AttemptControl, Emit, int], Awaitable[Outcome]]
"""Runs a lane's attempt, by its number, to its outcome (`Lanes.attempt`; a review has its own)."""


@dataclass
class RaceScheduler:
    """One race under way. `record` takes each event, in order; it must be quick and never fail.

    `baseline_task` goes on beside the lanes, begun once the first agents run; a race does not wait
    for its end. `cross_test_phase` is done when all lanes have ended, before the race has.
    `finish_lane` takes a lane's last attempt to the lane's outcome. `disk_monitor` looks at the
    disks, in a thread: the one that is under its floor, or None. `hidden` says, in a thread, what
    failed commands seem to lack. `agents_ended` is set once no agent runs any more, nor will.
    """

    plan: RacePlan
    run_attempt: RunAttempt
    record: Callable[[Event], None]
    finish_lane: FinishLane = _as_it_is
    baseline_task: Callable[[Emit], Awaitable[None]] | None = None
    cross_test_phase: RunCrossTests | None = None
    retry: Retry = field(default_factory=Retry)
    checkpoint: Callable[[], None] = lambda: None
    disk_monitor: Callable[[], LowDisk | None] = lambda: None
    hidden: HiddenPlaces | None = None
    agents_ended: trio.Event = field(default_factory=trio.Event)
    _state: policy.PolicyState = field(default_factory=policy.PolicyState)
    _controls: dict[str, AttemptControl] = field(default_factory=dict)
    _unchecked: dict[str, Outcome] = field(default_factory=dict)
    _earlier: dict[str, list[Outcome]] = field(default_factory=dict)
    _outcomes: dict[str, Outcome] = field(default_factory=dict)
    _under_way: set[str] = field(default_factory=set)
    _attempting: set[str] = field(default_factory=set)
    _all_under_way: trio.Event = field(default_factory=trio.Event)
    _baseline_scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    _cross_test_scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    _cross_test_seconds: float = 0.0
    _low: LowDisk | None = None
    _seq: int = 0
    _started: float = 0.0
    _signal: int = 0
    _interrupts: int = 0
    _over: bool = False
    _looks: trio.MemorySendChannel[Look] | None = None
    _lanes_scope: trio.CancelScope = field(default_factory=trio.CancelScope)

    async def run(self) -> RaceResult:
        """Runs every lane to its outcome. A lane's failure never stops its neighbours."""
        self._started = trio.current_time()
        self._controls = {lane.id: AttemptControl() for lane in self.plan.lanes}
        budgets = {lane.id: lane.budget for lane in self.plan.lanes if is_limited(lane.budget)}
        self._state = policy.PolicyState(budgets=budgets)
        self.emit("run_started", data=_headline(self.plan))
        for warning in self.plan.warnings:
            self.emit("run_warning", data={"text": warning})
        async with trio.open_nursery() as nursery:
            await nursery.start(self._listen)
            nursery.start_soon(self._watch_disk)
            nursery.start_soon(self._run_baseline)
            with self._lanes_scope:
                await self._run_phases()
            nursery.cancel_scope.cancel()
        return await self._close()

    async def _run_phases(self) -> None:
        async with self.hidden.beside(self._tell_hidden) if self.hidden else nullcontext() as looks:
            self._looks = looks
            await self._fan_out()
            await self._run_cross_tests()

    def _tell_hidden(self, text: str) -> None:
        self.emit("run_warning", "hidden_place", data={"text": text})

    async def _fan_out(self) -> None:
        lane_slots = trio.Semaphore(self.plan.max_parallel)
        runnable = [lane for lane in self.plan.lanes if lane.failure is None]
        for lane in self.plan.lanes:
            if lane.failure is not None:
                self._record_outcome(not_started(lane, lane.failure))
        self._attempting = {lane.id for lane in runnable}
        if not runnable:
            self.agents_ended.set()
        for position, lane in enumerate(runnable[self.plan.max_parallel :], start=1):
            self.emit("lane_waiting", lane=lane.id, data={"position": position})
        async with trio.open_nursery() as nursery:
            for lane in runnable:
                # Taken here and not in the lane's task: Trio starts tasks in no fixed order.
                await lane_slots.acquire()
                nursery.start_soon(self._run_lane, lane, lane_slots)

    async def _run_baseline(self) -> None:
        if self.baseline_task is not None:
            with self._baseline_scope:
                await self._all_under_way.wait()
                await self.baseline_task(self.emit)

    async def _run_cross_tests(self) -> None:
        if self.cross_test_phase is None:
            return
        began = trio.current_time()
        outcomes = [self._outcomes[lane.id] for lane in self.plan.lanes]
        try:
            await self.cross_test_phase(outcomes, self.emit, self._cross_test_scope)
        except Exception as bug:
            # The lanes' outcomes stand, whatever it is.
            _log.warning("trials failed by Hydra's own fault", exc_info=True)
            text = f"Hydra itself failed on its trials: {type(bug).__name__}: {bug}"
            self.emit("run_warning", data={"text": text})
        finally:
            self._cross_test_seconds = trio.current_time() - began

    async def _run_lane(self, lane: LanePlan, lane_slots: trio.Semaphore) -> None:
        bind(lane=lane.id)
        try:
            if stopped := self._controls[lane.id].stop_reason:
                self._record_outcome(not_started(lane, interrupted(lane, stopped)))
                return
            outcome = self._unchecked[lane.id] = await self._run_attempts(lane)
        except Exception as bug:
            # A lane's failure never stops its neighbours, not even Hydra's own.
            _log.warning("the lane failed by Hydra's own fault", exc_info=True)
            self._record_outcome(not_started(lane, internal_error(lane, bug)))
            return
        finally:
            lane_slots.release()
            self._attempting.discard(lane.id)
            if not self._attempting:
                self.agents_ended.set()
        await self._finish(lane, outcome)

    async def _run_attempts(self, lane: LanePlan) -> Outcome:
        """Its attempts, until one is not to be tried again. It keeps its place meanwhile."""
        id = lane.id
        earlier = self._earlier[id] = []
        while True:
            number = len(earlier) + 1
            bind(attempt=number)
            emit = partial(self.emit, lane=id, attempt=number)
            outcome = await self._run_attempt(lane, emit, number)
            wait = retry_delay(self.retry, outcome, random.random())  # noqa: S311  no secret
            if self._controls[id].stop_reason in EARLY:
                wait = None
            if outcome.failure is not None:
                says = "it is not tried again" if wait is None else "it is tried again"
                _log.info(says, after=outcome.failure.reason, wait=wait, times=self.retry.times)
            result = self._unchecked[id] = select_attempt([*earlier, outcome])
            if wait is not None or result.attempt != number:
                emit("attempt_ended", data=outcome.document())
            if wait is None or not await self._backoff(id, outcome, wait, emit):
                return result
            earlier.append(outcome)
            del self._unchecked[id]

    async def _run_attempt(self, lane: LanePlan, emit: Emit, number: int) -> Outcome:
        try:
            return await self.run_attempt(lane, self._controls[lane.id], emit, number)
        except Exception as bug:
            if number == 1:
                raise
            _log.warning("the attempt failed by Hydra's own fault", exc_info=True)
            # What the tries before it have left still stands.
            return not_started(lane, internal_error(lane, bug), attempt=number)

    async def _backoff(self, lane: str, outcome: Outcome, wait: float, emit: Emit) -> bool:
        """Whether the lane may be tried again, once it has waited: nobody has stopped it."""
        retry_data = {"after": reason_of(outcome), "seconds": round(wait, 3)}
        emit("lane_retrying", data={**retry_data, "attempt": outcome.attempt + 1})
        control = self._controls[lane] = AttemptControl()
        with control.waiting:
            await trio.sleep(wait)
        return not control.stop_reason

    async def _finish(self, lane: LanePlan, outcome: Outcome) -> None:
        control = self._controls[lane.id]
        bind(attempt=outcome.attempt)
        emit = partial(self.emit, lane=lane.id, attempt=outcome.attempt)
        try:
            self._record_outcome(await self.finish_lane(lane, control, emit, outcome))
        except Exception as bug:
            why = f"Hydra itself failed on its checks: {type(bug).__name__}: {bug}"
            _log.warning("checks failed by Hydra's own fault", exc_info=True)
            self._record_outcome(replace(outcome, held_back=(why,)))

    def _record_outcome(self, outcome: Outcome) -> None:
        self._outcomes[outcome.lane] = outcome
        _log.info(
            "lane ended",
            lane=outcome.lane,
            attempt=outcome.attempt,
            status=outcome.status.value,
            why=outcome.failure.reason if outcome.failure else None,
            usable=outcome.usable,
            held_back=outcome.held_back,
            more={"message": outcome.failure.message if outcome.failure else None},
        )
        document = outcome.document()
        self.emit("lane_ended", lane=outcome.lane, attempt=outcome.attempt, data=document)

    async def _listen(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        with ending_signals() as received:
            task_status.started()
            async for number in received:
                self.interrupt(number)

    async def _watch_disk(self) -> None:
        while self._low is None:
            await trio.sleep(ROOM_TICK)
            # In a thread that may be left behind: a disk can hang.
            self._low = await trio.to_thread.run_sync(self.disk_monitor, abandon_on_cancel=True)
        place, free, floor = str(self._low.place), self._low.free, self._low.floor
        text = f"{self._low}: ending the agents and taking their patches"
        _log.info("limit met", limit="disk_floor", place=place, free=free, floor=floor)
        data = {"text": text, "place": place, "free": free, "floor": floor}
        self.emit("run_warning", "disk_floor", data=data)

    def interrupt(self, number: int) -> None:
        """What signal `number` means, wherever it came from; nothing once the race has ended.

        A terminal that goes sends SIGHUP more than once, by its shell and by the kernel, and who
        watches is gone too: nobody insists, so it is never a second Ctrl-C.
        """
        if self._over or (self._interrupts and number == signal.SIGHUP):
            return
        self._interrupts += 1
        self._signal = self._signal or number
        name = signal.Signals(number).name
        _log.info("interrupted", signal=name, times=self._interrupts)
        self.emit("run_interrupted", data={"signal": name, "times": self._interrupts})

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
        if self._looks and self.hidden and self.hidden.concerns(kind, event.data):
            look = partial(self.hidden.notice, kind, event.data, lane=lane, raw=raw)
            with suppress(trio.ClosedResourceError):  # the base's, which nobody waits for
                self._looks.send_nowait(look)
        if kind in _LANE_BEGUN_KINDS:
            self._lane_begun(lane)
        self._state, actions = policy.decide(self._state, event)
        for action in actions:
            self._do(action)

    def _lane_begun(self, lane: str) -> None:
        self._under_way.add(lane)
        if len(self._under_way) >= min(self.plan.max_parallel, len(self.plan.lanes)):
            self._all_under_way.set()

    def _do(self, action: policy.Action) -> None:
        _log.info("policy", action=str(action))
        match action:
            case policy.StopLane(lane, reason):
                self._controls[lane].stop_agent(reason)
            case policy.StopAll(reason, graces):
                self._baseline_scope.cancel()
                self._cross_test_scope.cancel()
                for control in self._controls.values():
                    control.stop(reason, graces)
            case policy.KillAll(reason):
                for control in self._controls.values():
                    control.kill(reason)
                self._lanes_scope.cancel()

    def _interrupted_outcome(self, lane: LanePlan) -> Outcome:
        """Of a lane whose attempt had no outcome yet; one before it may have left a patch."""
        earlier = self._earlier.get(lane.id, [])
        failure = interrupted(lane, "interrupt")
        return select_attempt([*earlier, not_started(lane, failure, attempt=len(earlier) + 1)])

    async def _close(self) -> RaceResult:
        self._over = True
        for lane in self.plan.lanes:
            if lane.id in self._outcomes:
                continue
            taken = self._unchecked.get(lane.id)
            if taken is not None:
                why = ("the race was ended at once, before its checks had ended",)
                self._record_outcome(replace(taken, held_back=why if self.plan.checks else ()))
            else:
                self._record_outcome(self._interrupted_outcome(lane))
        seconds = trio.current_time() - self._started
        result = RaceResult(
            run=self.plan.run,
            outcomes=tuple(self._outcomes[lane.id] for lane in self.plan.lanes),
            seconds=seconds,
            interrupted=self._signal,
            warnings=(f"{self._low}, so the race was stopped",) if self._low else (),
        )
        ended = {"usable": result.usable, "seconds": round(seconds, 3)}
        trials = {"trials": round(self._cross_test_seconds, 3)} if self._cross_test_seconds else {}
        self.emit("run_ended", data={**ended, **trials})
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(self.checkpoint)
        return result


def _headline(plan: RacePlan) -> dict[str, object]:
    return {
        **plan.headline,
        "limits": {
            "idle": plan.limits.idle,
            "tool": plan.limits.tool,
            "total": plan.limits.total,
        },
    }

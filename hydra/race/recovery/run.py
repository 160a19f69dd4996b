"""One run that was broken off, from its lock to its result."""

from __future__ import annotations

import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from hydra.errors import RecordError
from hydra.log import bound, get_logger
from hydra.paths import ground_dir
from hydra.process.identity import ProcessIdentity
from hydra.race.recovery import history, processes
from hydra.race.recovery.lane import Recovery, recover_lane
from hydra.records.events import Event
from hydra.records.outcome import RaceResult
from hydra.records.plan import LanePlan, RacePlan
from hydra.records.store.writer import RunStore
from hydra.text import plural
from hydra.workspace import tree

_log = get_logger(__name__)

_LAST_BREATH = 2.0
"""Seconds for the lock of a Hydra that has just died: a child between fork and exec holds it."""


class LaneRecovery(Struct, frozen=True):
    """What became of one run."""

    run: str
    patches: int = 0
    processes: int = 0
    problems: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """For a person, in one line."""
        text = f"recovered run {self.run}: {plural(self.patches, 'patch')} taken"
        if self.processes:
            text += f", {plural(self.processes, 'process')} ended"
        return "; ".join((text, *self.problems))


def recover_run(folder: Path, state: Path) -> LaneRecovery | None:
    """Ends what is left of a run, takes its patches, and closes its record.

    None where a living Hydra has it. It can be broken off at any moment and be begun again. Raises
    `NotNow` where the work stands but cannot be taken now, `OSError` where the record cannot be
    written.
    """
    store = _locked(folder)
    if store is None:
        return None
    try:
        with bound(run=folder.name):
            return _RunRecovery(store, state).close()
    finally:
        store.close()


def _locked(folder: Path) -> RunStore | None:
    owner = ProcessIdentity.read(history.manifest(folder).process)
    deadline = time.monotonic() + _LAST_BREATH
    while (store := RunStore.reopen(folder)) is None:
        ended = (folder / "result.json").exists() or not folder.exists()
        # Only a process that is surely gone is waited for.
        gone = owner.current and owner.start is not None and not owner.lives
        if ended or not gone or time.monotonic() > deadline:
            return None
        time.sleep(0.02)
    return store


class _RunRecovery:
    """The work of one recovery: the lock is held, nobody else touches this run."""

    def __init__(self, store: RunStore, state: Path) -> None:
        self.store = store
        self.folder = store.folder
        self.state = state
        self.history = history.history(store.events_file)
        self.problems: list[str] = []

    def close(self) -> LaneRecovery:
        """Processes, patches, events, result."""
        try:
            plan = history.plan(self.folder)
        except RecordError as damaged:
            self.problems.append(damaged.message)
            plan = history.bare_plan(self.folder)
        _log.info("a run was broken off", lanes=[lane.id for lane in plan.lanes])
        ended = self._end_processes(plan)
        _log.info("its processes have ended", by_force=ended)
        _unlock(self.folder / "patches.git")
        lanes = [self._lane(plan, lane) for lane in plan.lanes]
        path = ground_dir(self.state, plan.run, "x").parent
        for check in path.glob("_*"):  # no lane's name begins so
            with suppress(OSError):
                tree.remove(check)
        with suppress(OSError):
            path.rmdir()
        taken = sum(lane.worth for lane in lanes)
        done = LaneRecovery(plan.run, taken, len(ended), tuple(self.problems))
        self._write(plan, lanes, done)
        return done

    def _end_processes(self, plan: RacePlan) -> list[str]:
        document = history.manifest(self.folder)
        owner = ProcessIdentity.read(document.process)
        lanes = [
            processes.lane_processes(
                self.history.lane(lane.id).agent,
                owner,
                ground_dir(self.state, plan.run, lane.id),
            )
            for lane in plan.lanes
        ]
        return processes.end_left(document.owner, lanes)

    def _lane(self, plan: RacePlan, lane: LanePlan) -> Recovery:
        past = self.history.lane(lane.id)
        done = recover_lane(plan, lane, past, folder=self.folder, state=self.state)
        _log.info(
            "lane recovered",
            lane=lane.id,
            attempt=done.outcome.attempt,
            status=done.outcome.status.value,
            taken=done.taken,
            problem=done.problem,
        )
        if done.problem:
            self.problems.append(f"lane {lane.id}: {done.problem}")
        self.problems += (f"lane {lane.id}: {notice}" for notice in done.notices)
        return done

    def _write(self, plan: RacePlan, lanes: list[Recovery], done: LaneRecovery) -> None:
        result = RaceResult(
            run=plan.run,
            outcomes=tuple(lane.outcome for lane in lanes),
            seconds=self.history.mono,
            interrupted=self.history.signal or signal.SIGKILL,
            folder=self.folder,
            warnings=(f"Hydra was killed in this race: {done.sentence}",),
        )
        self._write_events(lanes, result)
        if self.store.lost:
            raise OSError("the run's events cannot be written: is the disk full?")
        self.store.sync()
        self.store.write_json("result.json", result.document(plan))

    def _write_events(self, lanes: list[Recovery], result: RaceResult) -> None:
        self._event("run_warning", {"text": result.warnings[0]})
        for lane in lanes:
            outcome, patch = lane.outcome, lane.outcome.last.patch
            if lane.taken and patch is not None:
                self._event("patch_taken", patch.as_event(), outcome.lane, outcome.last.attempt)
            if lane.fresh:
                self._event("lane_ended", outcome.document(), outcome.lane, outcome.attempt)
        if not self.history.ended:
            close = {"usable": result.usable, "seconds": round(result.seconds, 3)}
            self._event("run_ended", close)

    def _event(
        self, kind: str, data: Mapping[str, object], lane: str = "", attempt: int = 0
    ) -> None:
        """The run's own clock stopped with its Hydra: `mono` stays that of the last event."""
        self.history.seq += 1
        event = Event(
            seq=self.history.seq,
            wall=round(time.time(), 6),
            mono=self.history.mono,
            run=self.folder.name,
            kind=kind,
            lane=lane,
            attempt=attempt,
            data=data,
        )
        self.store.append(event)


def _unlock(patches: Path) -> None:
    # Nobody of this run lives, so these are of a git that was killed too.
    for lock in (*patches.glob("*.lock"), *patches.glob("refs/**/*.lock")):
        lock.unlink(missing_ok=True)

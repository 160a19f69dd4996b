"""One agent from spawn to end: its streams read without pause, its limits kept, nothing left."""

from __future__ import annotations

import os
import signal
import time

import trio

from hydra.log import get_logger
from hydra.process import limits as watch
from hydra.process import procfs
from hydra.process.child import ANSWER, Child, OnChunk, anew, streams
from hydra.process.control import Graces, Ladder, ProcessControl
from hydra.process.records import End, Notice, ProcessSpec
from hydra.process.spawn import sealed, spawn_keeper
from hydra.process.stdin_queue import StdinQueue
from hydra.records.request import Limits

_log = get_logger(__name__)


@anew
async def supervise(
    spec: ProcessSpec,
    *,
    control: ProcessControl,
    limits: Limits,
    on_stdout: OnChunk,
    on_stderr: OnChunk,
    changed_since: watch.ChangedSince,
    on_notice: watch.OnNotice,
    queue: StdinQueue | None = None,
) -> End:
    """Runs `spec` to its end and returns how it ended; then nothing of it is running.

    With an `queue` its stdin is what is said there while it runs, and not `spec.stdin`.

    `on_stdout` and `on_stderr` get the bytes as they come; they and `on_notice` must be quick and
    must not raise, for reading never pauses. `changed_since(wall)` is asked, before an agent is
    called idle, when its worktree last changed after that time (None: it did not).

    Raises `CannotStart` when the program was never executed. Cancelled from outside, it kills
    everything before it lets go.
    """
    began = time.monotonic()
    control.progress()
    tail = _Tail(on_stderr)
    stdin = sealed(spec.stdin)
    try:
        async with spawn_keeper(
            spec.argv,
            env=spec.env,
            cwd=spec.cwd,
            stdin=stdin,
            wrap=spec.wrap,
            piped=queue is not None,
        ) as child:
            child.on_started = lambda: on_notice(_started(child, spec))
            ladder = _Obedience(child, control, (limits.grace_int, limits.grace_term), on_notice)
            async with streams(child, on_stdout, tail.take) as stdout_ended:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(watch.start, child, control)
                    nursery.start_soon(watch.closed, stdout_ended, control)
                    nursery.start_soon(watch.total, control, limits, on_notice)
                    nursery.start_soon(watch.idle, child, control, limits, changed_since, on_notice)
                    nursery.start_soon(ladder.obey)
                    if queue is not None:
                        nursery.start_soon(_feed, queue, child)
                    await child.exited.wait()
                    nursery.cancel_scope.cancel()
                with trio.move_on_after(ANSWER):
                    await child.finished.wait()
    finally:
        os.close(stdin)
    child.require_started(spec.argv[0], tail.text, stopped=bool(control.reason))
    return End(
        exit=child.exit,
        stopped=control.reason if ladder.acted else "",
        seconds=time.monotonic() - began,
        closed=control.closed_at is not None,
        waited_for=control.waited_for,
    )


async def _feed(queue: StdinQueue, child: Child) -> None:
    await child.started.wait()  # what is fed to a start that fails is lost to the next
    assert child.stdin is not None
    await queue.feed(child.stdin)


def _started(child: Child, spec: ProcessSpec) -> Notice:
    pid = child.pid
    if pid is None and not spec.pid_namespace:
        pid = child.inner_pid
    start = procfs.started(pid) if pid is not None else None
    values = {"pid": pid, "start": start, "keeper": child.process.pid, "mark": child.mark}
    return Notice("started", values)


class _Obedience:
    """Carries out what `ProcessControl` was asked: the signals, each when it is due."""

    def __init__(
        self, child: Child, control: ProcessControl, graces: Graces, on_notice: watch.OnNotice
    ) -> None:
        self._child = child
        self._control = control
        self._graces = graces
        self._on_notice = on_notice
        self.acted = False

    async def obey(self) -> None:
        """Until cancelled, or until KILL has been sent and has had its time."""
        ladder = Ladder()
        while True:
            with trio.move_on_after(max(0.0, ladder.next_due - time.monotonic())):
                for graces in await self._control.wish():
                    ladder.stop(time.monotonic(), self._graces if graces is None else graces)
            step = ladder.step(time.monotonic())
            if step is not None:
                self._send(step)
            if step is signal.SIGKILL:
                await trio.sleep(ANSWER)
                await trio.to_thread.run_sync(self._child.force)
                return

    def _send(self, step: signal.Signals) -> None:
        self.acted = True
        _log.info("signal", signal=step.name, reason=self._control.reason)
        self._on_notice(Notice("signal", {"reason": self._control.reason, "signal": step.name}))
        self._child.signal(step)


class _Tail:
    """Passes stderr on and keeps its end: where nothing started, it says why."""

    _TAIL = 4096

    def __init__(self, sink: OnChunk) -> None:
        self._sink = sink
        self._end = b""

    def take(self, chunk: bytes) -> None:
        self._end = (self._end + chunk)[-self._TAIL :]
        self._sink(chunk)

    @property
    def text(self) -> str:
        return self._end.decode(errors="replace")

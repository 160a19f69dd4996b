"""A keeper and its agent as Hydra holds them: pipes to both, and the keeper's reports."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import trio

from hydra.model import ExitStatus
from hydra.process import leftovers, proc
from hydra.process.records import CannotStart, cannot_execute

MARK = "HYDRA_LANE"
"""Environment variable that names a lane's processes, for when the keeper itself is lost."""

ANSWER = 10.0
"""Seconds for the keeper to report that all is dead after a KILL; then it is killed itself."""

_CHUNK = 65536
_STATUS_LINE = 4096
_SURVIVORS = 100
"""As many as a keeper names."""
_DRAIN = 2.0
"""Seconds that stdout and stderr may still take to end once nothing runs that could write."""

OnChunk = Callable[[bytes], None]


class Child:
    """One spawned keeper. Its `status` lines become fields and events here (docs/keeper.md)."""

    def __init__(
        self,
        process: trio.Process,
        mark: str,
        *,
        control: int,
        status: int,
        stdout: int,
        stderr: int,
        stdin: int | None = None,
    ) -> None:
        self.process = process
        self.mark = mark
        self.stdout = trio.lowlevel.FdStream(stdout)
        """Of an agent with a terminal: our side of that, to be written to as well."""
        self.stdin = None if stdin is None else trio.lowlevel.FdStream(stdin)
        """Where it is a pipe that is written to while the agent runs."""
        self.stderr = trio.lowlevel.FdStream(stderr)
        self._status = trio.lowlevel.FdStream(status)
        self._control: int | None = control
        self._pending = b""
        self._done = False
        self._swept = False
        self._code: int | None = None
        self._signal: int | None = None
        self._survivors: list[str] = []
        self.pid: int | None = None
        """The agent's, as it is called from here; None when it ended before it could be seen."""
        self.inner_pid: int | None = None
        """The same as the keeper calls it."""
        self.cannot: int | None = None
        self.on_started: Callable[[], None] = lambda: None
        self.started = trio.Event()
        self.exited = trio.Event()
        """The agent has ended (or the keeper has: nothing more can be known)."""
        self.finished = trio.Event()
        """Nothing of it runs any more, as far as the keeper can say."""

    @property
    def exit(self) -> ExitStatus:
        """How the agent ended, once `finished`."""
        return ExitStatus(
            code=self._code,
            signal=self._signal,
            survivors=tuple(self._survivors),
            keeper_lost=not self._done or (self._code is None and self._signal is None),
        )

    def signal(self, number: int) -> None:
        """INT or TERM for the agent's process group; KILL for everything it started."""
        word = b"kill\n" if number == signal.SIGKILL else b"signal %d\n" % number
        if self._control is not None:
            # A keeper that has just ended has no agent left to signal.
            with contextlib.suppress(BrokenPipeError):
                os.write(self._control, word)

    async def listen(self) -> None:
        """Reads the keeper's reports to their end. May be cancelled and called again."""
        while chunk := await self._status.receive_some(4096):
            *lines, self._pending = (self._pending + chunk).split(b"\n")
            # An agent could reach this pipe by /proc and write there; it fools only itself.
            self._pending = self._pending[:_STATUS_LINE]
            for line in lines:
                with contextlib.suppress(ValueError):
                    self._take(line.decode().split(" "))
        self.exited.set()
        self.finished.set()

    async def end(self) -> None:
        """Ends whatever still runs, and returns when nothing does."""
        if self._control is not None:
            os.close(self._control)  # its end is the keeper's order to kill everything
            self._control = None
        with trio.move_on_after(ANSWER):
            await self.listen()
        self.finished.set()
        await self.sweep_if_lost()
        with trio.move_on_after(ANSWER) as late:
            await self.process.wait()
        if late.cancelled_caught:
            self.process.kill()
            await self.process.wait()
        for stream in (self.stdin, self.stdout, self.stderr, self._status):
            if stream is not None:
                await stream.aclose()

    async def sweep_if_lost(self) -> None:
        """Where the keeper went without its last word, ends what it can no longer end."""
        if self.finished.is_set() and not self._done and not self._swept:
            self._swept = True
            await trio.to_thread.run_sync(self._sweep)

    def require_started(self, program: str, stderr: str) -> None:
        """Raises `CannotStart` when `program` was never executed; `stderr` may say why."""
        if self.cannot is not None:
            raise cannot_execute(program, self.cannot, stderr)
        if not self.started.is_set():
            said = stderr.strip().splitlines()
            reason = said[-1] if said else "nothing was said"
            raise CannotStart(f"{program} was never started: {reason}", stderr=stderr)

    def force(self) -> None:
        """Kills the keeper and all below from outside: it did not answer."""
        for pid in (*reversed(proc.descendants(self.process.pid)), self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _sweep(self) -> None:
        self.force()
        swept = leftovers.sweep(f"{MARK}={self.mark}".encode(), self.pid)
        self._survivors += [name for name in swept if name not in self._survivors]

    def _take(self, words: list[str]) -> None:
        match words:
            case ["started", pid] if not self.started.is_set():
                self.inner_pid = int(pid)
                self.pid = self._seen_from_here(self.inner_pid)
                self.started.set()
                self.on_started()
            case ["cannot", number]:
                self.cannot = int(number)
            case ["exited", code]:
                self._code = int(code)
                self.exited.set()
            case ["signaled", number]:
                self._signal = int(number)
                self.exited.set()
            case ["survivor", pid, name] if len(self._survivors) < _SURVIVORS:
                self._survivors.append(f"{name} ({pid})")
            case ["done"]:
                self._done = True
                self.exited.set()
                self.finished.set()

    def _seen_from_here(self, inner: int) -> int | None:
        # In a PID namespace the keeper calls the agent 2; signals and /proc here want our name.
        for pid in proc.descendants(self.process.pid):
            if proc.inner_pid(pid) == inner and proc.parent(pid) is not None:
                return pid
        return None


@asynccontextmanager
async def streams(
    child: Child, on_stdout: OnChunk, on_stderr: OnChunk
) -> AsyncIterator[trio.Event]:
    """Reads all of a child's pipes without pause; yields the event that stdout has ended.

    What is still in the pipes afterwards is read, with a deadline: a process that escaped could
    hold them open for ever.
    """
    stdout_ended, stderr_ended = trio.Event(), trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(child.listen)
        nursery.start_soon(_pump, child.stdout, on_stdout, stdout_ended)
        nursery.start_soon(_pump, child.stderr, on_stderr, stderr_ended)
        yield stdout_ended
        await child.sweep_if_lost()
        with trio.move_on_after(_DRAIN):
            await stdout_ended.wait()
            await stderr_ended.wait()
        nursery.cancel_scope.cancel()


async def _pump(stream: trio.lowlevel.FdStream, sink: OnChunk, ended: trio.Event) -> None:
    # EIO, which breaks the stream, is the end of a terminal that no process has any more.
    with contextlib.suppress(trio.BrokenResourceError):
        while chunk := await stream.receive_some(_CHUNK):
            sink(chunk)
    ended.set()

"""A keeper and its agent as Hydra holds them: pipes to both, and the keeper's reports."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import trio

from hydra.log import get_logger
from hydra.process import leftovers, procfs
from hydra.process.handle import ProcessHandle, hold, hold_init
from hydra.process.records import CannotStart, cannot_execute
from hydra.records.outcome import ExitStatus

_log = get_logger(__name__)

WAITS = (0.0, 0.1, 0.4)
"""Seconds before each further try: a folder may take a while to be removed, file by file."""

P = ParamSpec("P")
T = TypeVar("T")


def anew(start: Callable[P, Awaitable[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """`start`, which raises `CannotStart`, tried anew where that is `passing`.

    bwrap mounts by name what was there when its command line was computed. Another program may have
    removed it since (a temporary file in /etc that was to be covered): computed anew, it is left
    out. Nothing was executed by then, so nothing is done twice.
    """

    @wraps(start)
    async def again(*args: P.args, **kwargs: P.kwargs) -> T:
        for seconds in WAITS:
            try:
                return await start(*args, **kwargs)
            except CannotStart as error:
                if not error.passing:
                    raise
                _log.info("to be started anew", after=str(error), seconds=seconds)
            await trio.sleep(seconds)
        return await start(*args, **kwargs)

    return again


_log = get_logger(__name__)

MARK = "HYDRA_MARK"
"""Environment variable that names a lane's processes, for when the keeper itself is lost."""

KEEPERS_MARKS = (MARK, "HYDRA_OWNER")
"""Those of a keeper's environment that its command line has too: the other cannot be read."""

ANSWER = 10.0
"""Seconds for the keeper to report that all is dead after a KILL; then it is killed itself."""

ROOM = 1024 * 1024
"""Bytes that an agent's stdout holds while nobody reads. A CLI that ends by `process.exit` loses
what the pipe did not take yet (Gemini CLI 0.61.0 echoes the whole task in one line)."""

_CHUNK = 65536
_STATUS_LINE = 4096
_SURVIVORS = 100
"""As many as a keeper names."""
_NAME = 64
"""Characters of a survivor's name; the kernel has 15."""
_LAST_REPORTS = 0.5
"""Seconds to read what a keeper that has ended had reported."""
GONE = 60.0
"""Seconds for the kernel to end a PID namespace whose init was killed; a dead disk may hold it."""
_DRAIN = 2.0
"""Seconds that stdout and stderr may still take to end once nothing runs that could write."""

_WALLS = "bwrap: "
"""How a confinement that could not be made begins its last line."""

OnChunk = Callable[[bytes], None]


class Child:
    """One spawned keeper. Its `status` lines become fields and events here (docs/why/keeper.md)."""

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
        self.stdin = None if stdin is None else trio.lowlevel.FdStream(stdin)
        """Where it is a pipe that is written to while the agent runs."""
        self.stderr = trio.lowlevel.FdStream(stderr)
        self._status = trio.lowlevel.FdStream(status)
        self._control: int | None = control
        self._pending = b""
        self._done = False
        self._init: ProcessHandle | None = None
        self._agent: ProcessHandle | None = None
        self._undead = False
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
        """Nothing of it runs any more: by the kernel's word where there is a PID namespace, else by
        the end of keeper and guard."""

    @property
    def exit(self) -> ExitStatus:
        """How the agent ended, once `finished`."""
        return ExitStatus(
            code=self._code,
            signal=self._signal,
            survivors=tuple(self._survivors),
            keeper_lost=self._undead
            or not self._done
            or (self._code is None and self._signal is None),
        )

    def signal(self, number: int) -> None:
        """INT or TERM for the agent's process group; KILL for everything it started."""
        content = b"kill\n" if number == signal.SIGKILL else b"signal %d\n" % number
        if self._control is not None:
            # A keeper that has just ended has no agent left to signal.
            with contextlib.suppress(BrokenPipeError):
                os.write(self._control, content)
            self._thaw()

    async def listen(self) -> None:
        """Reads the keeper's reports to their end, and waits for the namespace's. May be cancelled
        and called again.

        Whatever is said on the pipe, nothing has ended before the kernel says so.
        """
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._outlast, nursery.cancel_scope)
            await self._read_reports()
            nursery.cancel_scope.cancel()
        if init := self._held_init():
            await init.wait()
        self.exited.set()
        self.finished.set()

    async def _outlast(self, reading: trio.CancelScope) -> None:
        # Nobody but keeper and guard has the pipe; if somebody has, it would never end.
        await self.process.wait()
        await trio.sleep(_LAST_REPORTS)
        reading.cancel()

    async def _read_reports(self) -> None:
        while chunk := await self._status.receive_some(4096):
            *lines, self._pending = (self._pending + chunk).split(b"\n")
            self._pending = self._pending[:_STATUS_LINE]
            for line in lines:
                with contextlib.suppress(ValueError):
                    self._take(line.decode("ascii").split(" "))

    async def end(self) -> None:
        """Ends whatever still runs, and returns when nothing does."""
        if self._control is not None:
            os.close(self._control)  # its end is the keeper's order to kill everything
            self._control = None
        self._thaw()
        with trio.move_on_after(ANSWER):
            await self.listen()
        await self._end_namespace()
        self.finished.set()
        await self.sweep_if_lost()
        with trio.move_on_after(ANSWER) as late:
            await self.process.wait()
        if late.cancelled_caught:
            _log.warning("the keeper does not answer and is killed", keeper=self.process.pid)
            await trio.to_thread.run_sync(self.force)
            self.process.kill()
            await self.process.wait()
        for stream in (self.stdin, self.stdout, self.stderr, self._status):
            if stream is not None:
                await stream.aclose()
        for process_handle in (self._init, self._agent):
            if process_handle is not None:
                process_handle.close()

    async def sweep_if_lost(self) -> None:
        """Where the keeper went without its last word, ends what it can no longer end."""
        if self.finished.is_set() and not self._done and not self._swept:
            self._swept = True
            await trio.to_thread.run_sync(self._sweep)

    def require_started(self, program: str, stderr: str, *, stopped: bool = False) -> None:
        """Raises `CannotStart` when `program` was never executed; `stderr` may say why. Nobody
        starts what was `stopped` meanwhile a second time."""
        if self.cannot is not None:
            raise cannot_execute(program, self.cannot, stderr)
        if not self.started.is_set():
            lines = stderr.strip().splitlines()
            reason = lines[-1] if lines else "nothing was said"
            passing = reason.startswith(_WALLS) and not stopped
            text = f"{program} was never started: {reason}"
            raise CannotStart(text, stderr=stderr, passing=passing)

    def force(self) -> None:
        """Kills the keeper and all below from outside: it did not answer."""
        self._undead = not leftovers.end_tree(self.process.pid) or self._undead

    async def _end_namespace(self) -> None:
        # In every case: a report may be forged, and a frozen or starved keeper makes none.
        init = self._held_init()
        if init is None:
            return
        init.send(signal.SIGKILL)
        with trio.move_on_after(GONE) as late:
            await init.wait()
        if late.cancelled_caught:
            self._undead = True
            self._survivors.append(f"what the kernel does not end ({init.pid})")

    def _held_init(self) -> ProcessHandle | None:
        self._init = self._init or hold_init(self.process.pid)
        return self._init

    def _thaw(self) -> None:
        # A keeper that an agent has stopped obeys again: it knows more than can be found from here.
        for pid in (self.process.pid, *procfs.children(self.process.pid)):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGCONT)

    def _sweep(self) -> None:
        self.force()
        swept = leftovers.sweep(f"{MARK}={self.mark}".encode(), self.pid)
        self._survivors += [name for name in swept if name not in self._survivors]

    def _take(self, terms: list[str]) -> None:
        match terms:
            case ["started", pid] if not self.started.is_set():
                self.inner_pid = int(pid)
                self._held_init()
                self.pid = self._seen_from_here(self.inner_pid)
                self._hold_agent()
                _log.debug("started", pid=self.pid, keeper=self.process.pid)
                self.started.set()
                self.on_started()
            case ["cannot", number] if not self.started.is_set():
                self.cannot = int(number)
            case ["exited", code] if self._may_have_ended(int(code), 255):
                self._code = int(code)
                self.exited.set()
            case ["signaled", number] if self._may_have_ended(int(number), signal.NSIG):
                self._signal = int(number)
                self.exited.set()
            case ["survivor", pid, *name] if len(self._survivors) < _SURVIVORS:
                shown = "".join(filter(str.isprintable, " ".join(name)))
                self._survivors.append(f"{shown[:_NAME]} ({int(pid)})")
            case ["done"]:
                self._done = True

    def _hold_agent(self) -> None:
        pid = self.pid
        if pid is not None:
            self._agent = hold(pid, lambda: procfs.inner_pid(pid) == self.inner_pid)

    def _may_have_ended(self, number: int, most: int) -> bool:
        """Whether a first report of the agent's end can be true."""
        first = self._code is None and self._signal is None
        alive = self._agent is not None and not self._agent.ends_within(0)
        return first and not alive and 0 <= number <= most

    def _seen_from_here(self, inner: int) -> int | None:
        # In a PID namespace the keeper calls the agent 2; signals and /proc here want our name.
        for pid in procfs.descendants(self.process.pid):
            if procfs.inner_pid(pid) == inner and procfs.parent(pid) is not None:
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
    # A sink may have been too slow for that, or Hydra may have had no core.
    await _empty(child.stdout, on_stdout, stdout_ended)
    await _empty(child.stderr, on_stderr, stderr_ended)


async def _empty(stream: trio.lowlevel.FdStream, sink: OnChunk, ended: trio.Event) -> None:
    """Reads what stands in a pipe, and no more than one holds: whoever escaped may write on."""
    size = 0
    with contextlib.suppress(OSError):  # nothing stands in it
        while not ended.is_set() and size < ROOM:
            chunk = os.read(stream.fileno(), _CHUNK)
            if not chunk:
                return
            sink(chunk)
            size += len(chunk)
            await trio.lowlevel.checkpoint()


async def _pump(stream: trio.lowlevel.FdStream, sink: OnChunk, ended: trio.Event) -> None:
    while chunk := await stream.receive_some(_CHUNK):
        sink(chunk)
    ended.set()

"""A process held by pidfd: a pid passes to a stranger later, a pidfd never does."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Callable

import trio

from hydra.process import procfs


class ProcessHandle:
    """One process, until `close`. Raises OSError where there is no such process, or no pidfd."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._fd = os.pidfd_open(pid)

    def send(self, number: int) -> None:
        """The signal, where it still runs and is ours."""
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self._fd, number)

    def ends_within(self, seconds: float) -> bool:
        """Whether the kernel has ended it by then; of a PID namespace's init: with all in there."""
        return bool(select.select([self._fd], [], [], seconds)[0])

    async def wait(self) -> None:
        """Until the kernel has ended it."""
        await trio.lowlevel.wait_readable(self._fd)

    def close(self) -> None:
        """Lets go of it; may be called twice."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


def hold(pid: int, is_same: Callable[[], bool]) -> ProcessHandle | None:
    """A handle of `pid` if `is_same` still says so once it is held; else None."""
    try:
        process_handle = ProcessHandle(pid)
    except OSError:
        return None
    if is_same():
        return process_handle
    process_handle.close()
    return None


def hold_init(monitor: int) -> ProcessHandle | None:
    """The init of the PID namespace that `monitor` (bwrap's outer process) has made, if any."""
    for pid in procfs.children(monitor):
        if process_handle := hold(pid, lambda pid=pid: _is_init(pid, monitor)):  # type: ignore[misc]
            return process_handle
    return None


def _is_init(pid: int, monitor: int) -> bool:
    return pid != 1 and procfs.parent(pid) == monitor and procfs.inner_pid(pid) == 1

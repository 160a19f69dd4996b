"""A piece of Hydra in a forked child, to be killed there: it never comes back into pytest."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

LIMIT = 120.0
"""Seconds that a child may take: a fork of a process with threads can hang at its first step."""


def forked(work: Callable[[], object]) -> int:
    """Forks a child that does `work`; its exit code, 1 where that raised, -9 where it was killed.

    Raises `TimeoutError` where it does not end.
    """
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            os.write(2, f"a forked child failed: {error!r}\n".encode())
        finally:
            os._exit(1)
    end = time.monotonic() + LIMIT
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise TimeoutError(f"a forked child did not end in {LIMIT:.0f} s")
        time.sleep(0.002)

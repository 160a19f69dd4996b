"""What to do when a keeper was lost and no PID namespace ended its agent with it."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from functools import partial

from hydra.process import proc

_QUIET_ROUNDS = 2


def sweep(mark: bytes, session: int | None = None) -> list[str]:
    """Kills every process that carries `mark` (NAME=value) or belongs to `session`.

    Goes on until two looks in a row find none, and returns who was found, "name (pid)". A process
    that cleared its environment *and* left the session is not found: only the keeper knows those.
    """
    found: list[str] = []
    quiet = 0
    while quiet < _QUIET_ROUNDS:
        swept = [pid for pid in proc.everyone() if _marked(pid, mark, session)]
        quiet = 0 if swept else quiet + 1
        for pid in swept:
            name = f"{proc.name(pid)} ({pid})"
            if kill(pid, partial(_marked, pid, mark, session)) and name not in found:
                found.append(name)
        # Between two quiet looks as well: amid an exec a process shows no environment.
        time.sleep(0.002)
    return found


def _marked(pid: int, mark: bytes, session: int | None) -> bool:
    if proc.has_ended(pid) or pid == os.getpid():
        return False
    return proc.carries(pid, mark) or (session is not None and proc.session(pid) == session)


def kill(pid: int, is_it: Callable[[], bool]) -> bool:
    """Kills `pid` if `is_it` still says so once a pidfd holds it: the number may pass on."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if not is_it():
            return False
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        return True
    finally:
        os.close(handle)

"""What to do when a keeper was lost and no PID namespace ended its agent with it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial

from hydra.process import procfs
from hydra.process.handle import hold, hold_init

_QUIET_ROUNDS = 2
_PATIENCE = 10.0
"""Seconds for a tree to be ended: a chain of forks may outrun each look for a while."""
_PAUSE = 0.002


def sweep(mark: bytes, session: int | None = None) -> list[str]:
    """Kills every process that carries `mark` (NAME=value) or belongs to `session`.

    A process that cleared its environment *and* left the session is not found: only the keeper
    knows those. Returns what `end_all` does.
    """
    return end_all(partial(_marked, mark=mark, session=session))


def end_all(is_member: Callable[[int], bool]) -> list[str]:
    """Kills who `is_member` says, until two looks in a row find none; "name (pid)" of each.

    What does not die in ten seconds (it waits for a dead disk, or is another user's) is left and
    named so: whoever waited for it would wait for ever.
    """
    names: dict[int, str] = {}
    quiet = 0
    deadline = time.monotonic() + _PATIENCE
    while quiet < _QUIET_ROUNDS:
        members = [pid for pid in procfs.everyone() if is_member(pid)]
        if members and time.monotonic() > deadline:
            names |= {pid: f"{procfs.name(pid)} ({pid}, does not die)" for pid in members}
            break
        quiet = 0 if members else quiet + 1
        for pid in members:
            name = f"{procfs.name(pid)} ({pid})"
            if kill(pid, partial(is_member, pid)):
                names.setdefault(pid, name)
        # Between two quiet looks as well: amid an exec a process shows no environment.
        time.sleep(_PAUSE)
    return list(names.values())


def _marked(pid: int, mark: bytes, session: int | None) -> bool:
    if procfs.has_ended(pid) or pid == os.getpid():
        return False
    return procfs.carries(pid, mark) or (session is not None and procfs.session(pid) == session)


def end_tree(top: int) -> bool:
    """Ends a keeper from outside, with all below; False where something still outruns it.

    A PID namespace is ended by its init. Elsewhere guard and keeper go last: they take in whoever
    loses his parent, and without them nobody could say what had been below.
    """
    if init := hold_init(top):
        init.send(signal.SIGKILL)
        init.ends_within(_PATIENCE)
        init.close()
    keepers = [pid for pid in procfs.children(top) if is_keeper(pid)]
    if not _ended_below(top, keepers):
        return False
    for pid in keepers:
        kill(pid, partial(_is_below, pid, top))
    ended = _ended_below(top, ())  # one that only looked like a keeper may have had children
    kill(top, lambda: True)
    return ended


def _ended_below(top: int, keepers: Sequence[int]) -> bool:
    deadline = time.monotonic() + _PATIENCE
    quiet = 0
    while quiet < _QUIET_ROUNDS:
        if time.monotonic() > deadline:
            return False
        below = [pid for pid in procfs.descendants(top) if pid not in keepers]
        alive = [pid for pid in below if not procfs.has_ended(pid)]
        for pid in alive:
            kill(pid, partial(_is_below, pid, top))
        quiet = 0 if alive else quiet + 1
        if not alive:
            time.sleep(_PAUSE)
    return True


def is_keeper(pid: int) -> bool:
    """Whether it is a keeper or a guard, or bwrap around one, by its command line."""
    return b"/keeper." in procfs.command_line(pid)


def _is_below(pid: int, top: int) -> bool:
    above: int | None = pid
    while above is not None and above > 1:
        above = procfs.parent(above)
        if above == top:
            return True
    return False


def kill(pid: int, is_same: Callable[[], bool]) -> bool:
    """Kills `pid` if `is_same` still says so once a pidfd holds it: the number may pass on."""
    process_handle = hold(pid, is_same)
    if process_handle is None:
        return False
    process_handle.send(signal.SIGKILL)
    process_handle.close()
    return True

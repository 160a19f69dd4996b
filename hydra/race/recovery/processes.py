"""Ends what a killed Hydra has left running, by an identity that is more than a pid.

The keepers do most of it: each sees its pipe from Hydra end, and ends its lane with all that hides
there. To kill one would let go of what only it knows, so they are waited for. What then still
carries the run's mark in its environment lost its keeper, or is one of Hydra's own git commands.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from hydra.git.runner import OWNER
from hydra.log import get_logger
from hydra.process import leftovers, procfs
from hydra.process.child import ANSWER, MARK
from hydra.process.handle import hold
from hydra.process.identity import ProcessIdentity

_log = get_logger(__name__)

GIT_GRACE = 2.0
"""Seconds for git to end by itself, and again after a TERM, on which it removes its locks."""

_TICK = 0.005


class LaneProcesses(Struct, frozen=True):
    """One lane's processes: its keeper's mark, its agent, its folder."""

    mark: str
    agent: ProcessIdentity
    folder: Path


def lane_processes(agent: Mapping[str, Any], owner: ProcessIdentity, path: Path) -> LaneProcesses:
    """From an `agent_started` event and the identity of the Hydra that wrote it."""
    values = {**owner.as_dict(), "pid": agent.get("pid"), "start": agent.get("start")}
    return LaneProcesses(str(agent.get("mark", "")), ProcessIdentity.read(values), path)


def end_left(owner: str, lanes: Sequence[LaneProcesses]) -> list[str]:
    """Ends all that is left of one run; "name (pid)" of each that had to be killed here.

    `owner` is the mark that its Hydra gave to everything it started.
    """
    marks = [f"{MARK}={lane.mark}".encode(errors="replace") for lane in lanes if lane.mark]
    if owner:
        marks.append(f"{OWNER}={owner}".encode(errors="replace"))
    _end_keepers(marks)
    _end_git(marks)
    ended = [name for mark in marks for name in leftovers.sweep(mark)]
    for lane in lanes:
        ended += _end_session(lane)
    return list(dict.fromkeys(ended))


def _end_keepers(marks: Sequence[bytes]) -> None:
    for pid in _keepers(marks):  # an agent may have stopped its keeper, which is woken for the end
        with suppress(OSError):
            os.kill(pid, signal.SIGCONT)
    _wait(lambda: _keepers(marks), ANSWER)
    for pid in _keepers(marks):
        _log.info("a keeper is ended", pid=pid)
        leftovers.end_tree(pid)


def _wait(function: Callable[[], list[int]], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while function() and time.monotonic() < deadline:
        time.sleep(_TICK)


def _marked(marks: Sequence[bytes]) -> list[int]:
    return [
        pid
        for pid in procfs.everyone()
        if any(procfs.carries(pid, mark) for mark in marks) and not procfs.has_ended(pid)
    ]


def _keepers(marks: Sequence[bytes]) -> list[int]:
    # By their command lines: their environment can be read by nobody. bwrap and the guard have the
    # same, and end with the keeper; it is by them that a namespace and its init are found.
    return [
        pid
        for pid in procfs.everyone()
        if leftovers.is_keeper(pid)
        and set(marks) & set(procfs.command_line(pid).split(b"\0"))
        and not procfs.has_ended(pid)
    ]


def _gits(marks: Sequence[bytes]) -> list[int]:
    lane = f"{MARK}=".encode()
    return [pid for pid in _marked(marks) if not procfs.has_variable(pid, lane)]


def _end_git(marks: Sequence[bytes]) -> None:
    # KILL would leave its lock files behind, in the user's repository too.
    _wait(lambda: _gits(marks), GIT_GRACE)
    for pid in _gits(marks):
        if process_handle := hold(pid, lambda pid=pid: pid in _gits(marks)):  # type: ignore[misc]
            process_handle.send(signal.SIGTERM)
            process_handle.close()
    _wait(lambda: _gits(marks), GIT_GRACE)


def _end_session(lane: LaneProcesses) -> list[str]:
    """What cleared its environment, lost its keeper, and yet stayed in the agent's session.

    A session's number is given anew once nobody is in it: it counts while the agent itself still
    leads it, and after that only for what also stands in the lane's own folder.
    """
    if not lane.agent.current or lane.agent.start is None:
        return []
    return leftovers.end_all(partial(_belongs, lane=lane))


def _belongs(pid: int, lane: LaneProcesses) -> bool:
    if pid == os.getpid() or procfs.session(pid) != lane.agent.pid or procfs.has_ended(pid):
        return False
    return lane.agent.lives or procfs.stands_in(pid, lane.folder)

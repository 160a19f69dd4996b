"""What goes into this room and what comes out."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field

from hydra.errors import STDERR_EXCERPT
from hydra.records.outcome import ExitStatus

Wrap = Callable[[tuple[str, ...]], tuple[str, ...]]
"""Puts a confinement around a command line: the keeper's, which holds the agent's."""


def plain(argv: tuple[str, ...]) -> tuple[str, ...]:
    """No confinement."""
    return argv


class ProcessSpec(Struct, frozen=True, kw_only=True):
    """One agent to run. `env` is its whole environment.

    `stdin` is what descriptor 0 holds, sealed. Hydra's own stdin is never
    passed on. `pid_namespace`: `wrap` gives a PID namespace whose pid 1 is the keeper.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    stdin: bytes = b""
    wrap: Wrap = plain
    pid_namespace: bool = False


class Notice(Struct, frozen=True):
    """Something to tell while an agent runs.

    started  {pid, keeper, mark}         pids as Hydra sees them (pid None: it ended too soon to
                                         be found); mark is its `HYDRA_MARK`, for a recovery
    half     {limit, seconds, of}        half of the limit `idle`, `tool` or `total` has passed
    waiting  {limit, of, for}            it has finished and waits for what it left at work, `of`
                                         seconds at most
    signal   {reason, signal}            Hydra ends the agent: SIGINT, SIGTERM, SIGKILL
    """

    kind: str
    data: Mapping[str, object] = field(default_factory=dict)


class End(NamedTuple):
    """How it ended. `stopped` is why Hydra ended it, "" when it ended by itself.

    `seconds` since the spawn. `closed`: it had said its closing line before anybody ended it;
    `waited_for` names what it had left at work.
    """

    exit: ExitStatus
    stopped: str
    seconds: float
    closed: bool = False
    waited_for: tuple[str, ...] = ()


class CommandResult(NamedTuple):
    """What a short command gave. `exit_code` is None when it did not end by itself.

    Each output is its first `output_limit` bytes. A command ended by signal N has `-N`. `survivors`
    is what it left running, killed since: "name (pid)" each.
    """

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    timed_out: bool
    seconds: float
    survivors: tuple[str, ...] = ()


class CannotStart(Exception):
    """The program could not be executed, or its confinement could not be made.

    `message` is a sentence; `errno` a name such as ENOENT, "" where there was none (the
    confinement's own failure); `stderr` what was said, at most `STDERR_EXCERPT` characters.
    `passing`: the confinement fell, and may stand where it is computed anew.
    """

    def __init__(
        self, message: str, *, errno: str = "", stderr: str = "", passing: bool = False
    ) -> None:
        super().__init__(message)
        self.message = message
        self.errno = errno
        self.stderr = stderr[-STDERR_EXCERPT:]
        self.passing = passing


def cannot_execute(program: str, number: int, stderr: str = "") -> CannotStart:
    """The sentence for an exec that failed with `number`."""
    name = errno.errorcode.get(number, str(number))
    reason = {
        "ENOENT": "it is not there"
        if "/" not in program or not Path(program).exists()
        else "the interpreter or loader it names is not there, or it is hidden by the confinement",
        "EACCES": "it may not be executed",
        "EPERM": "it may not be executed",
        "ENOTDIR": "a part of its path is not a folder",
        "ENOEXEC": "it is no program this system can run (wrong format, or no #! line)",
        "E2BIG": "its arguments and environment are too long",
        "ENOMEM": "there is not enough memory",
    }.get(name, name)
    return CannotStart(f"{program} could not be started: {reason}", errno=name, stderr=stderr)

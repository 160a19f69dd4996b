"""Starting a keeper, with its pipes in place and its end made sure."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import struct
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path

import trio

from hydra.log import get_logger
from hydra.process import keeper
from hydra.process.child import KEEPERS_MARKS, MARK, ROOM, Child
from hydra.process.fence import call_filters
from hydra.process.records import CannotStart, Wrap, cannot_execute

_log = get_logger(__name__)


@asynccontextmanager
async def spawn_keeper(
    argv: tuple[str, ...],
    *,
    env: Mapping[str, str],
    cwd: Path,
    stdin: int,
    wrap: Wrap,
    piped: bool = False,
) -> AsyncIterator[Child]:
    """Spawns `argv` under a keeper; whatever happens inside, nothing of it lives afterwards.

    `stdin` is a descriptor, which stays the caller's; the agent has it, or a pipe that is written
    to while it runs (`piped`).
    Raises `CannotStart` where the keeper or its confinement cannot even be executed.
    """
    began = time.monotonic()
    child = await _spawn(argv, env, cwd, stdin, wrap, _Pipes(piped))
    try:
        yield child
    finally:
        with trio.CancelScope(shield=True):
            await child.end()
        ended, took = child.exit, time.monotonic() - began
        _log.info(
            "ended",
            program=argv[0],
            keeper=child.process.pid,
            code=ended.code,
            signal=ended.signal,
            seconds=took,
            survivors=ended.survivors,
            keeper_lost=ended.keeper_lost or None,
        )


def sealed(data: bytes) -> int:
    """`data` as a descriptor to read from, that nobody can write to.

    Nobody has to feed a pipe, and no file is handed out: whoever holds a file's descriptor opens
    it again by /proc, for writing, whatever the confinement says of its folder.
    """
    fd = os.memfd_create("stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


class _Pipes:
    """The pipes, (read, write) each; every end is closed by whoever does not keep it."""

    def __init__(self, piped: bool) -> None:
        with contextlib.ExitStack() as opened:
            self.control, self.status, self.stderr, self.stdout = (_pipe(opened) for _ in range(4))
            self.stdin = _pipe(opened) if piped else None
            opened.pop_all()  # where one cannot be had, none of the others stays open
        with contextlib.suppress(OSError):  # no pipe, or the user's have used up what they may
            fcntl.fcntl(self.stdout[1], fcntl.F_SETPIPE_SZ, ROOM)

    @property
    def theirs(self) -> tuple[int, ...]:
        """What the keeper gets by number. Its own stdin and stdout are not the agent's: bwrap
        stays in between and would hold those open."""
        reading = () if self.stdin is None else (self.stdin[0],)
        return self.control[0], self.status[1], self.stdout[1], *reading

    @property
    def numbers(self) -> tuple[str, ...]:
        """The same as the keeper's arguments."""
        return tuple(map(str, self.theirs))

    def close_theirs(self) -> None:
        for fd in (*self.theirs, self.stderr[1]):
            os.close(fd)

    def close_ours(self) -> None:
        writing = () if self.stdin is None else (self.stdin[1],)
        for fd in (self.control[1], self.status[0], self.stdout[0], self.stderr[0], *writing):
            os.close(fd)


def _pipe(opened: contextlib.ExitStack) -> tuple[int, int]:
    ends = os.pipe()
    for fd in ends:
        opened.callback(os.close, fd)
    return ends


async def _spawn(
    argv: tuple[str, ...], env: Mapping[str, str], cwd: Path, stdin: int, wrap: Wrap, pipes: _Pipes
) -> Child:
    mark = secrets.token_hex(8)
    env = {**env, **call_filters(), MARK: mark}
    marks = [f"{name}={env[name]}" for name in KEEPERS_MARKS if name in env]
    line = argv
    try:
        line = wrap((*keeper_line(), *pipes.numbers, *marks, "--", *argv))
        process = await trio.lowlevel.open_process(
            line,
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=pipes.stderr[1],
            pass_fds=pipes.theirs,
            start_new_session=True,  # the terminal's Ctrl-C is Hydra's to pass on
            cwd=cwd,
            env=env,
        )
    except BaseException as problem:
        pipes.close_ours()
        if isinstance(problem, OSError):
            raise _unspawned(problem, line[0], cwd) from problem
        raise
    finally:
        pipes.close_theirs()
    details = {"argv": argv, "cwd": cwd, "environment": sorted(env), "line": line}
    _log.info("spawned", program=argv[0], keeper=process.pid, by=line[0], more=details)
    return Child(
        process,
        mark,
        control=pipes.control[1],
        status=pipes.status[0],
        stdout=pipes.stdout[0],
        stderr=pipes.stderr[0],
        stdin=pipes.stdin[1] if pipes.stdin else None,
    )


@cache
def keeper_line() -> tuple[str, ...]:
    """The command line of a keeper, up to its arguments.

    Python compiles a script anew each time, which doubles the keeper's own 4 ms: where the import
    above has left the compiled file, that runs instead. By its real name: it needs nothing of an
    environment, which may lie in the user's checkout.
    """
    source = Path(keeper.__file__)
    compiled = Path(cache_from_source(keeper.__file__))
    program = compiled if _is_compiled_from(compiled, source) else source
    return (os.path.realpath(sys.executable), "-I", "-S", "-E", str(program))


def _is_compiled_from(compiled: Path, source: Path) -> bool:
    # A .pyc's header (PEP 552): magic, flags (0: by time), the source's mtime and size.
    try:
        header = compiled.read_bytes()[:16]
    except OSError:
        return False
    result = source.stat()
    mtime, size = int(result.st_mtime) & 0xFFFFFFFF, result.st_size & 0xFFFFFFFF
    return header == MAGIC_NUMBER + struct.pack("<III", 0, mtime, size)


def _unspawned(problem: OSError, program: str, cwd: Path) -> CannotStart:
    if not cwd.is_dir():
        return CannotStart(f"the working directory is not there: {cwd}", errno="ENOENT")
    return cannot_execute(program, problem.errno or 0)

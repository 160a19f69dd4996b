"""The processes a scripted agent starts: its shell tool, and daemons that try to outlive it.

Plain os calls: subprocess would cost a fifth of the agent's start-up time.
"""

from __future__ import annotations

import os
import select
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

DAEMON_LIFE = ("sleep", "1000")
"""What a daemon does when its step names nothing else."""

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE")
_RESET = [number for name in _NAMES if (number := getattr(signal, name, None))]  # not on Windows


class Shell:
    """One command of the agent's shell tool: a session of its own, as the real CLIs do it."""

    def __init__(self, argv: list[str]) -> None:
        reader, writer = os.pipe()
        opened = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, writer, 1),
            (os.POSIX_SPAWN_DUP2, writer, 2),
        ]
        try:
            self.pid = os.posix_spawnp(
                argv[0],
                argv,
                os.environ,
                file_actions=opened,
                setsid=True,
                setsigmask=(),
                setsigdef=_RESET,
            )
        finally:
            os.close(writer)
        self._reader = reader

    def finish(self) -> tuple[int, str]:
        """Exit code (128 + N for a signal) and output, once the command itself has ended.

        What it left behind may hold the pipe: it is read only as far as it is filled by then.
        """
        output = bytearray()
        code: int | None = None
        while code is None:
            code = _poll(self.pid)
            # The command's end is looked for 50 times a second: 0.1% of a core, not progress.
            while select.select([self._reader], [], [], 0 if code is not None else 0.02)[0]:
                part = os.read(self._reader, 65536)
                if not part:
                    code = _exit_code(os.waitpid(self.pid, 0)[1]) if code is None else code
                    break
                output += part
        os.close(self._reader)
        return code, output.decode("utf-8", "replace")

    def kill(self) -> None:
        """Ends the command and what is still in its session's group."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            return


def _poll(pid: int) -> int | None:
    position, status = os.waitpid(pid, os.WNOHANG)
    return _exit_code(status) if position else None


def _exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def spawn_daemon(options: Mapping[str, Any]) -> None:
    """Starts a process that does not want to be found; returns once it runs.

    Options, each false unless said: `setsid` (a session of its own), `double_fork` (its parent
    is gone), `clear_env` (no marker left), `ignore_term`, `hold_stdout` (keeps the agent's pipe
    open). `argv` is what it becomes; `name` what it is called in a process list (argv[0]).
    """
    ready, count = os.pipe()
    child = os.fork()
    if child == 0:
        _become_daemon(options, count)
    os.close(count)
    os.read(ready, 1)  # EOF: the last holder has called exec, so all its wiles are in place
    os.close(ready)
    if options.get("double_fork"):
        os.waitpid(child, 0)


def _become_daemon(options: Mapping[str, Any], count: int) -> None:
    try:
        if options.get("setsid"):
            os.setsid()
        if options.get("double_fork") and os.fork():
            os._exit(0)
        if options.get("ignore_term"):
            for ignored in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(ignored, signal.SIG_IGN)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 2) if options.get("hold_stdout") else (0, 1, 2):
            os.dup2(null, fd)
        os.set_inheritable(count, False)
        argv = list(options.get("argv") or DAEMON_LIFE)
        program = _find(argv[0])
        argv[0] = options.get("name") or argv[0]
        os.execve(program, argv, {} if options.get("clear_env") else os.environ)  # noqa: S606  no shell on purpose
    except BaseException as broken:
        sys.stderr.write(f"daemon: {broken}\n")
        os._exit(127)


def _find(program: str) -> str:
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = f"{folder}/{program}"
        if "/" not in program and os.access(path, os.X_OK):
            return path
    return program

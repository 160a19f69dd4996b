"""The shell tool of a scripted agent.

Plain os calls: subprocess would cost a fifth of the agent's start-up time.
"""

from __future__ import annotations

import os
import select
import signal

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

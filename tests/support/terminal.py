"""The real `hydra` on a terminal of its own."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.support.processes import wait_until


def run_on_terminal(argv: Sequence[str], *, columns: int = 0, **options: Any) -> tuple[int, bytes]:
    """A program whose output is a terminal: its exit code, and all that it writes there. Its stderr
    goes there too, unless `options` of `subprocess` say otherwise."""
    reader, writer = pty.openpty()
    if columns:
        fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    streams = {"stdin": subprocess.DEVNULL, "stdout": writer, "stderr": writer}
    child = subprocess.Popen(argv, start_new_session=True, **streams | options)
    os.close(writer)
    output = b""
    with suppress(OSError):  # EIO: the last writer has gone
        while part := os.read(reader, 65536):
            output += part
    os.close(reader)
    return child.wait(), output


class Terminal:
    """A terminal that Hydra leads: resized and hung up as a real one.

    It has the environment and the repository of what it is made of.
    """

    def __init__(
        self, hydra: Any, *args: str, columns: int = 80, term: str | None = "xterm"
    ) -> None:
        environ = {**hydra.environ, "TERM": term or ""}
        if term is None:
            del environ["TERM"]
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(hydra.repo)
            os.execvpe(sys.executable, [sys.executable, "-m", "hydra", *args], environ)
        self.resize(columns)
        self.text = ""
        self._code: int | None = None

    def resize(self, columns: int) -> None:
        """The window gets so wide; the kernel tells the foreground of it."""
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def read(self, until: str = "", timeout: float = 60) -> str:
        """What is shown from now on, up to `until` or to the end; keeps it in `output`."""
        end, output = time.monotonic() + timeout, b""
        while not until or until not in output.decode("utf-8", "replace"):
            if not select.select([self.fd], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError(f"{until!r} was not shown: {output!r}")
            try:
                data = os.read(self.fd, 65536)
            except OSError:  # EIO: everybody has left it
                break
            if not data:
                break
            output += data
        self.text += output.decode("utf-8", "replace")
        return output.decode("utf-8", "replace")

    def type(self, keys: str) -> None:
        """What a person types; `\x03` is Ctrl-C and `\x04` Ctrl-D.

        It is typed once Hydra waits for it. Between the prompt and the wait, Python (3.11 to 3.13)
        notes a Ctrl-C and then waits for a key before it looks, which here would never come.
        """
        if not wait_until(self._sleeps):
            raise TimeoutError("it waits for no key")
        os.write(self.fd, keys.encode())

    def _sleeps(self) -> bool:
        stat = Path(f"/proc/{self.pid}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] == "S"

    def hang_up(self) -> None:
        """The window is closed."""
        os.close(self.fd)
        self.fd = -1

    def wait(self, timeout: float = 60) -> int:
        """The exit code. Raises `TimeoutError`."""
        if not wait_until(self._ended, timeout):
            os.kill(self.pid, signal.SIGKILL)
            raise TimeoutError("it still runs")
        if self.fd >= 0:
            self.hang_up()
        assert self._code is not None
        return self._code

    def _ended(self) -> bool:
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            self._code = os.waitstatus_to_exitcode(status)
        return pid != 0

"""For the tests of hydra/process: agents of a few lines, and a look at who still runs."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from hydra.process.control import ProcessControl
from hydra.process.records import End, Notice, ProcessSpec, Wrap
from hydra.process.sandbox.trial import trial_argv
from hydra.process.stdin_queue import StdinQueue
from hydra.process.supervisor import supervise
from hydra.records.request import Limits

NAMESPACE = (
    *("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind"),
    *("/var/tmp", "/var/tmp", "--unshare-pid", "--as-pid-1", "--new-session"),
)

MODES = ("subreaper", "pid1")


@cache
def namespaces_work() -> bool:
    """Whether bwrap is here and may make a PID namespace."""
    if shutil.which("bwrap") is None:
        return False
    return subprocess.run(trial_argv("bwrap"), capture_output=True).returncode == 0


def wrap_of(mode: str) -> Wrap:
    """What puts a keeper into `mode`; skips the test where that cannot be had."""
    if mode == "subreaper":
        return lambda argv: argv
    if not namespaces_work():
        pytest.skip("bwrap makes no PID namespace here")
    return lambda argv: (*NAMESPACE, *argv)


def token() -> str:
    """A duration for `sleep` that no other process on the machine has: about 17 minutes."""
    return f"1000.{random.randrange(10**11):011d}"


def running(mark: str, *, keepers: bool = False) -> list[int]:
    """Every living process with `mark` in its command line, but for this one.

    Without `keepers` also but for the keeper and what confines it: their last act is to close the
    pipe on which a test waits.
    """
    numbers = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in line and (keepers or b"/keeper." not in line):
                numbers.append(int(entry.name))
    return numbers


def wait_until(condition: Callable[[], object], seconds: float = 60.0) -> bool:
    """Polls until `condition` holds; False when it never did."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def python(code: str, *args: str) -> tuple[str, ...]:
    """An agent of a few lines of Python."""
    return (sys.executable, "-S", "-c", code, *args)


def shell(script: str) -> tuple[str, ...]:
    """An agent of a few lines of sh."""
    return ("sh", "-c", script)


async def nothing_changed(when: float) -> float | None:
    """A worktree in which nothing happens."""
    return None


@dataclass
class Watched:
    """One supervised agent of a test, and what it showed."""

    argv: tuple[str, ...]
    mode: str = "subreaper"
    env: dict[str, str] = field(default_factory=dict)
    cwd: Path = Path("/var/tmp")
    stdin: bytes = b""
    control: ProcessControl = field(default_factory=ProcessControl)
    changed_since: Callable[[float], object] = nothing_changed
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    wrap: Wrap | None = None
    inlet: StdinQueue | None = None
    notices: list[Notice] = field(default_factory=list)
    on_output: Callable[[bytes], None] = lambda chunk: None
    on_notice: Callable[[Notice], None] = lambda notice: None

    async def run(self, limits: Limits | None = None) -> End:
        """To its end."""
        spec = ProcessSpec(
            argv=self.argv,
            env={"PATH": os.environ["PATH"], **self.env},
            cwd=self.cwd,
            stdin=self.stdin,
            wrap=self.wrap or wrap_of(self.mode),
            pid_namespace=self.mode == "pid1",
        )
        return await supervise(
            spec,
            control=self.control,
            limits=limits or Limits(),
            on_stdout=self._out,
            on_stderr=self.stderr.extend,
            changed_since=self.changed_since,  # type: ignore[arg-type]
            on_notice=self._notice,
            queue=self.inlet,
        )

    def noticed(self, kind: str) -> list[Notice]:
        """The notices of one kind."""
        return [notice for notice in self.notices if notice.kind == kind]

    def _out(self, chunk: bytes) -> None:
        self.stdout += chunk
        self.on_output(chunk)

    def _notice(self, notice: Notice) -> None:
        self.notices.append(notice)
        self.on_notice(notice)

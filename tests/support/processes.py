"""Agents of a few lines, and a look at who still runs."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

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
    return subprocess.run((*NAMESPACE, "true"), capture_output=True).returncode == 0


def wrap_of(mode: str) -> Callable[[tuple[str, ...]], tuple[str, ...]]:
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

"""Processes that belong to a scratch folder, found in /proc whatever they did to hide.

A process belongs to it when its environment, its command line, its working folder, its
program or an open file names the folder: daemons that cleared one still show another.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 2.0
"""Seconds that the kernel may take to end the last processes of a PID namespace."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """One process that is still there. `why` names the place where the folder was seen."""

    pid: int
    command: str
    why: str


def leftovers(folder: Path, *, patience: float = PATIENCE) -> list[Leftover]:
    """The folder's processes that are still there after `patience` seconds; zombies not."""
    deadline = time.monotonic() + patience
    while (items := look(folder)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return items


def look(folder: Path) -> list[Leftover]:
    """The folder's processes at this moment, this one not."""
    content = os.fsencode(folder)
    pids = [int(proc.name) for proc in Path("/proc").iterdir() if proc.name.isdigit()]
    return [
        Leftover(pid, _command(pid), why)
        for pid in pids
        if pid != os.getpid() and (why := _why(Path("/proc", str(pid)), content))
    ]


def end(items: list[Leftover]) -> None:
    """Kill what was found, so that a failed test leaves nothing behind."""
    for process in items:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


def _why(proc: Path, content: bytes) -> str:
    for name in ("environ", "cmdline"):
        with contextlib.suppress(OSError):
            if content in (proc / name).read_bytes():
                return name
    for name in ("cwd", "exe"):
        with contextlib.suppress(OSError):
            if os.fsencode((proc / name).readlink()).startswith(content):
                return name
    with contextlib.suppress(OSError):
        for descriptor in (proc / "fd").iterdir():
            with contextlib.suppress(OSError):
                if os.fsencode(descriptor.readlink()).startswith(content):
                    return f"fd {descriptor.name}"
    return ""


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        raw = Path("/proc", str(pid), "cmdline").read_bytes()
        return raw.replace(b"\0", b" ").decode(errors="replace").strip()
    return ""

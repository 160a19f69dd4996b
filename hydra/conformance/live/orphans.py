"""Processes that a run has left behind: those that know its scratch folder."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

PATIENCE = 5.0
"""Seconds in which what is on its way out may go; a loaded machine is slow to bury."""


def orphans(folder: Path, *, patience: float = PATIENCE) -> list[str]:
    """Command lines of the processes that name the folder, once those that end have ended.

    Empty where there is no /proc. Those of the run, which have their HOME in it, are ended, so that
    nothing stays; any other may be somebody's pager in a folder that is kept.
    """
    deadline = time.monotonic() + patience
    while (values := _look(os.fsencode(folder) + b"/")) and time.monotonic() < deadline:
        time.sleep(0.05)
    home = b"\0HOME=" + os.fsencode(folder) + b"/"
    for pid in values:
        with contextlib.suppress(OSError):
            if home in b"\0" + Path(f"/proc/{pid}/environ").read_bytes():
                os.kill(pid, signal.SIGKILL)
    return list(values.values())


def _look(content: bytes) -> dict[int, str]:
    try:
        procs = [proc for proc in Path("/proc").iterdir() if proc.name.isdigit()]
    except OSError:
        return {}
    mine = str(os.getpid())
    return {
        int(proc.name): _command(proc) or f"process {proc.name}"
        for proc in procs
        if proc.name != mine and _knows(proc, content)
    }


def _knows(proc: Path, content: bytes) -> bool:
    for name in ("environ", "cmdline"):
        with contextlib.suppress(OSError):
            if content in (proc / name).read_bytes():
                return True
    with contextlib.suppress(OSError):
        return os.fsencode((proc / "cwd").readlink()).startswith(content)
    return False


def _command(proc: Path) -> str:
    with contextlib.suppress(OSError):
        return (proc / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    return ""

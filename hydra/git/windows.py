"""Whether a folder lies on a Windows disk that WSL shows (`/mnt/c`)."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from hydra.errors import Refused

_DRIVER = b"drvfs"
"""How WSL 1 names the file system, WSL 2 the options (9p) or the source (virtiofs) of its mount."""


def refuse_windows_disk(root: Path) -> None:
    """Raises `Refused` for a checkout on such a disk: it keeps neither modes nor links as git and
    the agents' tools need them, and each file takes many times as long."""
    with suppress(OSError):  # no /proc: no WSL
        if _mounted_from(root, Path("/proc/self/mountinfo").read_bytes()):
            raise Refused(
                f"{root} lies on a Windows disk, which is too slow and too different for a race",
                hint=f"clone it into WSL's own file system: git clone {root} ~/{root.name}",
            )


def _mounted_from(root: Path, mounts: bytes) -> bool:
    device = root.stat().st_dev
    number = b"%d:%d" % (os.major(device), os.minor(device))
    # 36 35 98:0 /root /mount options - type source options
    rows = (line.split(b" ") for line in mounts.splitlines() if _DRIVER in line)
    return any(row[2:3] == [number] and _names_driver(row) for row in rows)


def _names_driver(row: list[bytes]) -> bool:
    return any(_DRIVER in field for field in row[row.index(b"-") + 1 :]) if b"-" in row else False

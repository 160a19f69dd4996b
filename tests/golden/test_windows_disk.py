"""A checkout on a Windows disk, as WSL mounts it, is refused: here a mount that bears its name."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

_MOUNT = """
mount -t tmpfs {source} {place} && cd {place} && git init -q app && cd app || exit 99
git -c user.name=A -c user.email=a@b commit -q --allow-empty -m x || exit 99
exec {python} -m hydra race x -a claude
"""


def _race_on(source: str, place: Path, scratch: Path) -> subprocess.CompletedProcess[str]:
    script = _MOUNT.format(
        source=source, place=shlex.quote(str(place)), python=shlex.quote(sys.executable)
    )
    alone = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
    environ = {**os.environ, "HYDRA_STATE_DIR": str(scratch / "state"), "PATH": os.defpath}
    return subprocess.run(
        [*alone, "sh", "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environ,
    )


@pytest.mark.parametrize(("source", "code"), [("drvfs", 3), ("plain", 4)])
def test_a_windows_disk_is_refused_before_anything_starts(
    scratch: Path, source: str, code: int
) -> None:
    place = scratch / "c drive"
    place.mkdir()
    done = _race_on(source, place, scratch)
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip(f"nothing can be mounted here: {done.stderr}")
    assert done.returncode == code, done.stderr
    assert ("lies on a Windows disk" in done.stderr) == (source == "drvfs")
    assert ("\nhint: clone it into WSL's own file system: " in done.stderr) == (source == "drvfs")

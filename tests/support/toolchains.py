"""Toolchains in a scratch HOME, where their own installers put them: what a lane has to show."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS")
PASSED_ON = (*CERTIFICATES, "http_proxy", "https_proxy", "no_proxy", "HTTPS_PROXY", "NO_PROXY")
"""What a registry is reached by here."""


def copy_tree(source: Path, target: Path, *left_out: str) -> None:
    """A copy, and no hard links: what runs in the scratch HOME may write there."""
    ignore = shutil.ignore_patterns(*left_out)
    shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, ignore=ignore)


def fetch_wheel(name: str, folder: Path) -> Path:
    """One wheel of the package index that pip has here, unpacked. Skips where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    command = (
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary",
        ":all:",
        "-d",
        str(folder),
        name,
    )
    done = subprocess.run(
        [sys.executable, "-m", "pip", *command], capture_output=True, text=True, timeout=300
    )
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        pytest.skip(f"no package index here has a wheel of {name}")
    with zipfile.ZipFile(wheels[0]) as wheel:
        wheel.extractall(folder)
    wheels[0].unlink()
    return folder


def run(command: list[str], home: Path, cwd: Path, path: str = "") -> str:
    """A command of the user's own in that HOME, before the race; its stdout. Fails if it fails."""
    # Nothing else of this process's: a PYENV_ROOT would have the real one's shims made anew.
    environ = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    environ |= {"HOME": str(home), "PATH": f"{path}:/usr/local/bin:/usr/bin:/bin"}
    done = subprocess.run(
        command, cwd=cwd, env=environ, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def executable(path: Path) -> None:
    """Makes it one."""
    path.chmod(path.stat().st_mode | 0o111)

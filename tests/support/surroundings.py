"""Surroundings for the real `hydra`: mounts that only it sees, no network, a clock that
jumps. What the kernel does not allow here skips the test."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest


class Mounts:
    """A mount namespace that stands while the test runs. `wrap` goes before a command in it.

    An ordinary user is root of a user namespace in there, as far as mounts go.
    """

    def __init__(self, holder: subprocess.Popen[bytes], user: bool) -> None:
        self._pid = str(holder.pid)
        self._user = user

    def wrap(self, cwd: Path) -> list[str]:
        """What to put before a command that is to stand in `cwd`, as its mounts show it."""
        # A folder that was opened outside would still be the one outside.
        names = ["sh", "-c", 'cd "$0" && exec "$@"', str(cwd)]
        users = ["--user", "--preserve-credentials"] if self._user else []
        return ["nsenter", "--target", self._pid, "--mount", *users, *names]

    def seen(self, path: Path) -> Path:
        """Where the test finds what `path` is inside."""
        return Path(f"/proc/{self._pid}/root{path}")

    def run(self, *command: str) -> None:
        """One command as root of the namespace, from its root folder; it must end well."""
        process = subprocess.run([*self.wrap(Path("/")), *command], capture_output=True, text=True)
        if process.returncode:
            pytest.skip(f"not allowed here: {shlex.join(command)}: {process.stderr.strip()}")

    def small_disk(self, place: Path, size: str) -> None:
        """Makes `place` a disk of `size` (as tmpfs has it: 300k, 8m)."""
        self.run("mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(place))

    def show(self, what: Path | str, place: Path) -> None:
        """Shows `what` where `place` is."""
        self.run("mount", "--bind", str(what), str(place))

    def read_only(self, place: Path) -> None:
        """Lets nobody write below `place`, not even root."""
        self.show(place, place)
        self.run("mount", "-o", "remount,bind,ro", str(place))


@contextmanager
def mounts() -> Iterator[Mounts]:
    """A mount namespace of one's own; nothing of it is seen outside, and it goes with the test."""
    user = os.geteuid() != 0
    documents = ["unshare", "--mount", *(("--user", "--map-root-user") if user else ())]
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        pytest.skip("unshare and nsenter are not here")
    holder = subprocess.Popen(
        [*documents, "sh", "-c", "echo ready; read _"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        if holder.stdout.readline() != b"ready\n":
            pytest.skip("mount namespaces are not allowed here")
        yield Mounts(holder, user)
    finally:
        holder.stdin.close()
        holder.stdout.close()
        holder.wait()


def no_network() -> list[str]:
    """What to put before a command so that it has no network, not even a loopback that is up."""
    user = ("--user", "--map-root-user") if os.geteuid() != 0 else ()
    documents = ["unshare", "--net", *user]
    if not _works(tuple(documents)):
        pytest.skip("network namespaces are not allowed here")
    return documents


@cache
def _works(terms: tuple[str, ...]) -> bool:
    if shutil.which(terms[0]) is None:
        return False
    return subprocess.run([*terms, "true"], capture_output=True, check=False).returncode == 0


JUMPING = """
import os, time
_real, _turn = time.time, os.environ["JUMP"]
def _jumped():
    try:
        return _real() + float(open(_turn).read() or 0)
    except (OSError, ValueError):
        return _real()
time.time = _jumped
time.time_ns = lambda: int(_jumped() * 1e9)
"""


class Clock:
    """The wall clock that one `hydra` reads, and how far off it is; files get the true time.

    It is loaded by Python before Hydra is: put `environ` into its environment.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(JUMPING)
        self._turn = folder / "seconds"
        self.environ = {"PYTHONPATH": str(folder), "JUMP": str(self._turn)}

    def set(self, seconds: float) -> None:
        """From now on the clock says so much more (or less) than it is."""
        fresh = self._turn.with_suffix(".new")
        fresh.write_text(str(seconds))
        fresh.replace(self._turn)

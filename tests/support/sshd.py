"""A real sshd on loopback, as the user who runs the tests, with keys of its own."""

from __future__ import annotations

import getpass
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.support.ports import free_port
from tests.support.processes import wait_until


def program() -> str:
    """The sshd of this machine, "" where there is none (or no client)."""
    text = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    return text if text and shutil.which("ssh") and shutil.which("ssh-keygen") else ""


@dataclass
class Sshd:
    """One server: `options` lead a client to it and nowhere else."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    @property
    def options(self) -> list[str]:
        """For `ssh`."""
        return ["-F", str(self.folder / "ssh_config")]

    @property
    def sessions(self) -> list[int]:
        """The processes that serve a client each: what to kill to cut a line."""
        process = subprocess.run(
            ["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False
        )
        return [int(pid) for pid in process.stdout.split()]

    def stop(self) -> None:
        """Ends it and every session."""
        for pid in self.sessions:
            os.kill(pid, 9)
        self.process.kill()
        self.process.wait()


def start(folder: Path, *, path: str, home: Path) -> Sshd:
    """A server with its files in `folder`; who comes in has `path` as PATH and `home` as HOME."""
    folder.mkdir(mode=0o700)
    for name in ("host", "user"):
        line = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(line, check=True)
    shutil.copy(folder / "user.pub", folder / "authorized")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where root's sshd locks itself in
    for _ in range(5):  # somebody may take the port before sshd does
        server = _start(folder, free_port(), path, home)
        if server is not None:
            return server
    raise RuntimeError(f"sshd did not start: {(folder / 'log').read_text()[-500:]}")


def _start(folder: Path, port: int, path: str, home: Path) -> Sshd | None:
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\n"
        f"AuthorizedKeysFile {folder}/authorized\nPidFile {folder}/pid\nStrictModes no\n"
        "UsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
        f'SetEnv PATH="{path}" HOME={home}\nMaxStartups 50\nPermitRootLogin yes\n'
    )
    (folder / "ssh_config").write_text(
        f"Host gpubox\nHostName 127.0.0.1\nPort {port}\nUser {getpass.getuser()}\n"
        f"IdentityFile {folder}/user\nIdentitiesOnly yes\nUserKnownHostsFile {folder}/known\n"
        "StrictHostKeyChecking accept-new\nGlobalKnownHostsFile /dev/null\nLogLevel ERROR\n"
        "Host nowhere\nHostName 127.0.0.1\nPort 9\nUser nobody\nLogLevel ERROR\n"
    )
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [program(), "-D", "-e", "-f", str(folder / "sshd_config")],
            stdin=subprocess.DEVNULL,
            stderr=log,
        )
    if _listens(folder / "log", process):
        return Sshd(folder, port, process)
    process.kill()
    process.wait()
    return None


def _listens(log: Path, process: subprocess.Popen[bytes]) -> bool:
    """By its own word: what answers on the port may be somebody else."""

    def said() -> bool:
        return b"Server listening on " in log.read_bytes()

    wait_until(lambda: said() or process.poll() is not None)
    return said()

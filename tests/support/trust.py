"""A user's whole place for one race: an account, a HOME full of secrets, agents that attack it."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import site
import stat
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hydra.sandbox import trial_argv
from tests.support import fakes
from tests.support.command import Hydra

ORDINARY = 65534
PROJECT = Path(__file__).parents[2]

Exact = dict[str, tuple[object, ...]]
"""Path from the top to kind and mode, owner, size, mtime in nanoseconds, content."""


@dataclass
class Place(Hydra):
    """`Hydra` as an account of its own; `hand_over` before the first race gives it everything.

    `machine` is a command line that hydra's is appended to: another machine than this one.
    """

    uid: int = -1
    home_name: str = "home"
    machine: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.home = self.scratch / self.home_name
        self.home.mkdir(exist_ok=True)
        self.state = self.scratch / "state"
        self.uid = os.geteuid() if self.uid < 0 else self.uid
        self.python = python_for(self.uid)

    @property
    def environ(self) -> dict[str, str]:
        """As `Hydra`; another account's Python finds this project and what it needs by a path."""
        found = super().environ
        # The package is looked at byte for byte: a module's first import must not compile it.
        found["PYTHONDONTWRITEBYTECODE"] = "1"
        if self.python != sys.executable:
            found["PYTHONPATH"] = os.pathsep.join((str(PROJECT), *site.getsitepackages()))
        return found

    @property
    def shown(self) -> list[Path]:
        """Barriers, the suid program and what agents run: all else is out of sight."""
        names = ("go", "whoami", "arrived", "agents/share")
        places = [path for name in names if (path := self.scratch / name).exists()]
        return [*places, *self.scratch.glob("*.py"), *self.scratch.glob("*.gate")]

    def agent(self, key: str, steps: list[fakes.Step], **options: Any) -> Path:
        """As `Hydra.agent`, by an interpreter that the account may run."""
        program = super().agent(key, steps, **options)
        own, theirs = (os.path.realpath(name) for name in (sys.executable, self.python))
        program.write_text(program.read_text().replace(shlex.quote(own), shlex.quote(theirs)))
        return program

    def run(
        self, *args: str, stdin: str | None = None, timeout: float = 180
    ) -> subprocess.CompletedProcess[str]:
        """`hydra ARGS` to its end, as the account."""
        return subprocess.run(
            [*self.machine, self.python, "-m", "hydra", *args],
            cwd=self.repo,
            env=self.environ,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            **self._account(),
        )

    def start(self, *args: str) -> subprocess.Popen[str]:
        """`hydra ARGS` as the account, left running in a session of its own; stderr is dropped."""
        return subprocess.Popen(
            [*self.machine, self.python, "-m", "hydra", *args],
            cwd=self.repo,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            **self._account(),
        )

    def without_bwrap(self) -> None:
        """From here on PATH has every program of this machine but bwrap."""
        tools = self.scratch / "tools"
        tools.mkdir()
        for folder in ("/usr/local/bin", "/usr/bin", "/bin"):
            for program in Path(folder).iterdir():
                if program.name != "bwrap" and not (tools / program.name).is_symlink():
                    (tools / program.name).symlink_to(program)
        self.extra["PATH"] = os.pathsep.join((*map(str, self.path), str(tools)))

    def refused_bwrap(self, said: str) -> None:
        """From here on bwrap is there, and refuses with these words."""
        stand_in = self.scratch / "refused" / "bwrap"
        stand_in.parent.mkdir()
        stand_in.write_text(f"#!/bin/sh\necho {shlex.quote(said)} >&2\nexit 1\n")
        stand_in.chmod(0o755)
        self.path.insert(0, stand_in.parent)

    def git(self, *args: str, cwd: Path | None = None) -> str:
        """git as the account; its stdout without the last newline."""
        done = subprocess.run(
            ["git", *args],
            cwd=cwd or self.repo,
            env={"PATH": os.environ["PATH"], "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"},
            capture_output=True,
            text=True,
            check=True,
            **self._account(),
        )
        said: str = done.stdout
        return said.rstrip("\n")

    def taken(self, folder: str, lane: str, path: str = "said") -> str:
        """A file as it stands in a lane's patch: what an agent saw and did, by its word."""
        return self.git("show", f"{lane}:{path}", cwd=Path(folder, "patches.git"))

    def hand_over(self, *more: Path) -> None:
        """Gives the whole scratch folder to the account."""
        for top in (self.scratch, *more):
            for path in (top, *top.rglob("*")):
                os.chown(path, self.uid, self.uid, follow_symlinks=False)

    def _account(self) -> dict[str, Any]:
        if self.uid == os.geteuid():
            return {}
        return {"user": self.uid, "group": self.uid, "extra_groups": []}


@cache
def python_for(uid: int) -> str:
    """A Python of this version that the account may run; "" where there is none."""
    if uid == os.geteuid():
        return sys.executable
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for program in (sys.executable, f"/usr/bin/{name}", f"/usr/local/bin/{name}"):
        if _runs(program, uid):
            return program
    return ""


def _runs(program: str, uid: int) -> bool:
    path = os.pathsep.join((str(PROJECT), *site.getsitepackages()))
    try:
        done = subprocess.run(
            [program, "-c", "import hydra.process, click"],
            cwd="/",
            env={"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/nonexistent"},
            user=uid,
            group=uid,
            extra_groups=[],
            capture_output=True,
        )
    except OSError:
        return False
    return done.returncode == 0


def exactly(top: Path) -> Exact:
    """Every name below `top` and `top` itself, byte for byte."""
    return {str(path.relative_to(top)): _entry(path) for path in (top, *sorted(top.rglob("*")))}


def _entry(path: Path) -> tuple[object, ...]:
    found = path.lstat()
    content = ""
    if stat.S_ISLNK(found.st_mode):
        content = str(path.readlink())
    elif stat.S_ISREG(found.st_mode):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
    owner = f"{found.st_uid}:{found.st_gid}"
    size = 0 if stat.S_ISDIR(found.st_mode) else found.st_size
    return (oct(found.st_mode), owner, size, found.st_nlink, found.st_mtime_ns, content)


def furnish(home: Path) -> None:
    """What a user has in HOME: keys, settings of two agents, notes."""
    files = {
        ".ssh/id_ed25519": "made-up private key",
        ".aws/credentials": "made-up cloud key",
        ".netrc": "made-up password",
        ".config/gh/hosts.yml": "made-up forge token",
        ".bashrc": "alias ll='ls -l'\n",
        "notes/plan.txt": "the user's plan\n",
        ".claude/settings.json": '{"model": "made-up"}\n',
        ".claude/.credentials.json": '{"claudeAiOauth": {"accessToken": "made-up-claude"}}\n',
        ".claude/projects/history.jsonl": "the user's history\n",
        ".claude.json": '{"projects": {}}\n',
        ".codex/config.toml": 'model = "made-up"\n',
        ".codex/auth.json": '{"tokens": {"access_token": "made-up-codex"}}\n',
        ".codex/sessions/one.jsonl": "the user's session\n",
    }
    for name, text in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o600)


def attempts(**commands: str) -> str:
    """A script that tries each command, and names on a line of its own each that succeeded."""
    return "\n".join(
        f"( {command} ) >/dev/null 2>&1 </dev/null && echo {name}"
        for name, command in commands.items()
    )


@cache
def confines(uid: int) -> bool:
    """Whether bwrap confines what this account runs."""
    program = shutil.which("bwrap")
    if program is None:
        return False
    account: dict[str, Any] = {}
    if uid != os.geteuid():
        account = {"user": uid, "group": uid, "extra_groups": []}
    done = subprocess.run(trial_argv(program), capture_output=True, cwd="/", **account)
    return done.returncode == 0

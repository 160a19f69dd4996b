"""A user's whole place for one race: an account, a HOME full of secrets, agents that attack it."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shlex
import shutil
import site
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import make_repository
from tests.support import fakes
from tests.support.command import Hydra, account, completed
from tests.support.processes import NAMESPACE
from tests.support.terminal import run_on_terminal

ORDINARY = 65534
ACCOUNTS = (0, ORDINARY) if os.geteuid() == 0 else (os.geteuid(),)
"""Whom tests run Hydra as: root where they may, and an ordinary user."""

PROJECT = Path(__file__).parents[2]

Exact = dict[str, tuple[object, ...]]
"""Path from the top to kind and mode, owner, size, mtime in nanoseconds, content."""


def name_of(uid: int) -> str:
    """For the ids of tests."""
    return "root" if uid == 0 else "user"


# The gate runs as an ordinary user, in a step of its own, what is tried by account.
_IN_FULL = [pytest.mark.full] if os.geteuid() == 0 else []
BY_ACCOUNT = [
    pytest.param(uid, id=name_of(uid), marks=_IN_FULL if uid == ORDINARY else [])
    for uid in ACCOUNTS
]
"""`ACCOUNTS` as parameters: as root, the ordinary user's are `full`."""

AS_USER = [pytest.param(0, id="root", marks=pytest.mark.full), *BY_ACCOUNT[-1:]][-len(ACCOUNTS) :]
"""`BY_ACCOUNT`, root's `full` as well."""

by_account = pytest.mark.parametrize("uid", BY_ACCOUNT)
by_account_in_full = pytest.mark.parametrize("uid", AS_USER)
by_ordinary = pytest.mark.parametrize("uid", BY_ACCOUNT[-1:])
by_user = pytest.mark.parametrize("uid", ACCOUNTS[-1:], ids=name_of)
"""For tests that the gate runs as root, for the ordinary user."""


class Place(Hydra):
    """`Hydra` as an account of its own; `hand_over` before the first race gives it everything."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.python = python_for(self.uid)

    @property
    def environ(self) -> dict[str, str]:
        """As `Hydra`; another account's Python finds this project and what it needs by a path."""
        values = super().environ
        # The package is looked at byte for byte: a module's first import must not compile it.
        values["PYTHONDONTWRITEBYTECODE"] = "1"
        if self.python != sys.executable:
            values |= own_modules()
        return values

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

    def on_terminal(
        self, argv: Sequence[str], environ: Mapping[str, str], *, cwd: Path | None = None
    ) -> tuple[int, bytes]:
        """A program whose output is a terminal: its exit code, and all that it writes there."""
        place = cwd or self.repo
        return run_on_terminal(argv, cwd=place, env=environ, **account(self.uid))

    def git(self, *args: str, cwd: Path | None = None) -> str:
        """git as the account; its stdout without the last newline."""
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
        done = completed(["git", *args], cwd=cwd or self.repo, env=environ, uid=self.uid)
        done.check_returncode()
        return done.stdout.rstrip("\n")

    def taken(self, folder: str, lane: str, path: str = "said") -> str:
        """A file as it stands in a lane's patch: what an agent saw and did, by its word."""
        return self.git("show", f"{lane}:{path}", cwd=Path(folder, "patches.git"))

    def hand_over(self, *more: Path) -> None:
        """Gives the whole scratch folder to the account."""
        for top in (self.scratch, *more):
            for path in (top, *top.rglob("*")):
                os.chown(path, self.uid, self.uid, follow_symlinks=False)


def place_for(
    uid: int,
    stack: ExitStack,
    *,
    name: str = "home",
    confined: bool = False,
    furnished: bool = True,
) -> Place:
    """A place that the account may enter, with a HOME of that name; skips where it cannot run
    Hydra at all, or nothing confines and it is to be `confined`."""
    if not python_for(uid):
        pytest.skip(f"no Python here that uid {uid} may run")
    if confined:
        needs_bwrap(uid)
    scratch = Path(tempfile.mkdtemp(prefix="hydra-trust-", dir="/var/tmp"))
    stack.callback(shutil.rmtree, scratch, ignore_errors=True)
    scratch.chmod(0o755)
    place = Place(scratch, make_repository(scratch / "shop"), uid=uid, home_name=name)
    if furnished:
        furnish(place.home)
    return place


def needs_bwrap(uid: int) -> None:
    """Skips where bwrap confines nothing for that account."""
    if not confines(uid):
        pytest.skip("bwrap confines nothing here")


@pytest.fixture
def place(uid: int) -> Iterator[Place]:
    """A furnished place in which nothing runs when the test has ended."""
    with ExitStack() as stack:
        place = place_for(uid, stack)
        yield place
        assert fakes.left(str(place.scratch)) == []


@contextmanager
def shared_place(
    uid: int, *, confined: bool = True, furnished: bool = True
) -> Iterator[tuple[Place, ExitStack]]:
    """The same for a whole module's tests, which have one race between them."""
    with ExitStack() as stack:
        monkey = stack.enter_context(pytest.MonkeyPatch.context())
        monkey.setenv("HOME", "/nonexistent")
        place = place_for(uid, stack, confined=confined, furnished=furnished)
        yield place, stack
        assert fakes.left(str(place.scratch)) == []


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
    environ = {**own_modules(), "HOME": "/nonexistent"}
    try:
        line = [program, "-c", "import hydra.process.supervisor, click"]
        return completed(line, cwd="/", env=environ, uid=uid).returncode == 0
    except OSError:
        return False


def own_modules() -> dict[str, str]:
    """The variables by which another account's Python finds this project and what it needs, and
    writes nothing beside it."""
    path = os.pathsep.join((str(PROJECT), *site.getsitepackages()))
    return {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def exactly(top: Path) -> Exact:
    """Every name below `top` and `top` itself, byte for byte."""
    return {str(path.relative_to(top)): _entry(path) for path in (top, *sorted(top.rglob("*")))}


def _entry(path: Path) -> tuple[object, ...]:
    result = path.lstat()
    content = ""
    if stat.S_ISLNK(result.st_mode):
        content = str(path.readlink())
    elif stat.S_ISREG(result.st_mode):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
    owner = f"{result.st_uid}:{result.st_gid}"
    size = 0 if stat.S_ISDIR(result.st_mode) else result.st_size
    return (oct(result.st_mode), owner, size, result.st_nlink, result.st_mtime_ns, content)


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
def scopes_work() -> bool:
    """Whether this kernel can keep an agent from abstract sockets and foreign signals."""
    return bool(ctypes.CDLL(None).syscall(444, None, 0, 1) >= 6)  # of which Landlock it has


@cache
def confines(uid: int) -> bool:
    """Whether bwrap confines what this account runs."""
    if shutil.which("bwrap") is None:
        return False
    return completed((*NAMESPACE, "true"), cwd="/", uid=uid).returncode == 0

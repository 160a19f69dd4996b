"""The one way Hydra runs git: bytes in and out, a hardened environment, a time limit.

Every call gets an environment built from nothing, so an inherited GIT_DIR or GIT_INDEX_FILE
redirects nothing, and a configuration on top that takes away what lets a repository run
commands: hooks, fsmonitor, editors, pagers, signing, transports. What git still runs then is a
content filter; collector.py says how those are kept out.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hydra import executables
from hydra.errors import Exhausted, Refused
from hydra.log import get_logger
from hydra.paths import NO_FILE
from hydra.shortage import WAITS, is_passing, is_short, shortage

_log = get_logger(__name__)

MINIMUM = (2, 38)
"""`git merge-tree --write-tree`, which landing needs, is new in 2.38."""

Argument = str | bytes | os.PathLike[str]

_PASSED_ON = ("PATH", "HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "TMPDIR", "SYSTEMROOT")

_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_SSH_COMMAND": "/bin/false",
    "GIT_ASKPASS": "/bin/false",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "/bin/false",
    "GIT_LITERAL_PATHSPECS": "0",
}

_ISOLATION = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": NO_FILE}

HARDENING: tuple[tuple[str, str], ...] = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "false"),
    ("core.splitIndex", "false"),
    ("core.pager", "cat"),
    ("core.editor", "/bin/false"),
    ("core.sshCommand", "/bin/false"),
    ("core.askPass", "/bin/false"),
    ("core.alternateRefsCommand", "/bin/false"),
    ("core.logAllRefUpdates", "false"),
    # git believes these files, which an agent may have written, and only saves time by them.
    ("core.commitGraph", "false"),
    ("core.multiPackIndex", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("credential.helper", ""),
    # An address without a host, before what a .lfsconfig names: git-lfs asks nobody for a file.
    ("lfs.url", "https://"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("protocol.allow", "never"),
    ("submodule.recurse", "false"),
    ("index.sparse", "false"),
)
"""Configuration that goes on top of every file, as key and value."""


class Result(NamedTuple):
    """How one git command ended. `code` is negative for a signal."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def line(self) -> str:
        """stdout as text, without the one newline that git ends it with."""
        return os.fsdecode(self.stdout.removesuffix(b"\n"))

    @property
    def reason(self) -> str:
        """git's own sentence: its last `fatal:` or `error:` line, else its last line."""
        return sentence(self.stderr)


class GitError(Refused):
    """A git command did not do what was asked of it."""

    def __init__(self, argv: Sequence[str], result: Result, how: str) -> None:
        self.command = tuple(argv)
        self.result = result
        self.stderr = result.stderr.decode("utf-8", "replace")
        verb = next((term for term in argv[1:] if not term.startswith("-")), "git")
        super().__init__(f"git {verb} {how}")


class GitFailed(GitError):
    """It said no, or was ended by Hydra: at its limit (`timed_out`), or by `kill_all`
    (`stopped`)."""

    def __init__(
        self, argv: Sequence[str], result: Result, *, timed_out: bool, stopped: bool
    ) -> None:
        self.timed_out, self.stopped = timed_out, stopped
        why = "it ran into its time limit" if timed_out else result.reason
        super().__init__(argv, result, f"failed: {why or f'exit {result.code}'}")


class GitKilled(GitError, Exhausted):
    """It gave no answer: somebody else killed it, or the machine had no process or memory for it.
    What was asked is neither so nor not so, and it may do better a second time."""

    def __init__(self, argv: Sequence[str], result: Result) -> None:
        number = -result.code
        memory = ", as by the kernel where memory runs out" if number == signal.SIGKILL else ""
        how = f"was killed by signal {number}{memory}" if number > 0 else f"failed: {result.reason}"
        super().__init__(argv, result, how)


def failure(
    argv: Sequence[str], result: Result, *, timed_out: bool = False, stopped: bool = False
) -> GitError:
    """What a git that has ended so is to raise."""
    is_killed = result.code < 0 and not (timed_out or stopped)
    if is_killed or (result.code != 0 and is_short(result.stderr.decode("utf-8", "replace"))):
        return GitKilled(argv, result)
    return GitFailed(argv, result, timed_out=timed_out, stopped=stopped)


def sentence(stderr: bytes) -> str:
    """The line of git's stderr that says why."""
    lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    texts = [line for line in lines if line.startswith(("fatal:", "error:"))]
    return (texts or lines or [""])[-1].strip()


OWNER = "HYDRA_OWNER"
"""Environment variable by which a later Hydra knows what a killed one has left running."""

owner = os.urandom(8).hex()
"""Its value for all that this process starts; a run's manifest has it."""

_running: set[subprocess.Popen[bytes]] = set()
_stopped: set[subprocess.Popen[bytes]] = set()
_guard = threading.Lock()


def run(
    *args: Argument,
    cwd: Path | None = None,
    git_dir: Path | None = None,
    work_tree: Path | None = None,
    index: Path | None = None,
    stdin: bytes = b"",
    timeout: float | None = 60.0,
    at_terminal: bool = False,
    check: bool = True,
    isolated: bool = False,
    extra_env: Mapping[str, str] | None = None,
    config: Sequence[tuple[str, str]] = (),
) -> Result:
    """Runs `git ARGS` in its own session and waits for it; blocks the calling thread.

    `at_terminal` leaves it the user's session, in which what it starts may ask at the terminal.

    `isolated` reads neither the system's nor the user's configuration: for every gitdir whose
    settings were frozen in before an agent ran. Raises `GitFailed` on a non-zero exit (unless
    `check` is false), always on the time limit (seconds); `GitKilled` on a signal, as a git that
    was killed has answered nothing; `Refused` where there is no git.
    """
    argv = ["git", *(os.fsdecode(arg) for arg in args)]
    env = environment(isolated=isolated, config=config)
    for name, path in (
        ("GIT_DIR", git_dir),
        ("GIT_WORK_TREE", work_tree),
        ("GIT_INDEX_FILE", index),
    ):
        if path is not None:
            env[name] = os.fspath(path)
    env.update(extra_env or {})
    # A gitdir that is named needs no folder to stand in; the caller's own may be gone.
    began = time.monotonic()
    child = _spawn(argv, env, cwd or work_tree or git_dir, at_terminal)
    timed_out = False
    try:
        stdout, stderr = child.communicate(stdin, timeout=timeout)
    except subprocess.TimeoutExpired:
        timed_out = True
        stdout, stderr = _end(child)
    except BaseException:
        _end(child)
        raise
    finally:
        with _guard:
            _running.discard(child)
            stopped = child in _stopped
            _stopped.discard(child)
    result = Result(child.returncode, stdout, stderr)
    took = time.monotonic() - began
    _log.debug("git", argv=argv, git_dir=git_dir, cwd=cwd, code=result.code, seconds=took)
    if timed_out or result.code < 0 or (check and result.code != 0):
        raise failure(argv, result, timed_out=timed_out, stopped=stopped)
    return result


def environment(*, isolated: bool, config: Sequence[tuple[str, str]] = ()) -> dict[str, str]:
    """The environment of a git child: an allowlist, the hardening, then `config`."""
    env = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    env["PATH"] = executables.trusted_path()  # git's helpers, filters, gpg
    env.update(_ENVIRONMENT)
    env[OWNER] = owner
    if isolated:
        env.update(_ISOLATION)
    settings = (*HARDENING, *config)
    env["GIT_CONFIG_COUNT"] = str(len(settings))
    for number, (key, value) in enumerate(settings):
        env[f"GIT_CONFIG_KEY_{number}"] = key
        env[f"GIT_CONFIG_VALUE_{number}"] = value
    return env


def kill_all() -> int:
    """Kills every git that runs now, with its children; gives their number (second Ctrl-C)."""
    with _guard:
        children = list(_running)
        _stopped.update(children)
    for child in children:
        _log.info("git is killed", pid=child.pid, argv=child.args)
        _kill(child)
    return len(children)


def require_git() -> tuple[int, ...]:
    """The version of git on PATH. Raises `Refused` where there is none, or one before 2.38."""
    version = _version(executables.trusted_path())
    if version < MINIMUM:
        raise Refused(
            f"git {'.'.join(map(str, version))} is too old: Hydra needs 2.38 or newer",
            hint="install a newer git and put it first on PATH",
        )
    return version


@cache
def _version(path: str) -> tuple[int, ...]:
    text = run("version", timeout=10).stdout.decode("ascii", "replace")
    match = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(part) for part in match.groups() if part) if match else (0,)


def split(output: bytes) -> list[bytes]:
    """The fields of `-z` output."""
    return output.removesuffix(b"\0").split(b"\0") if output else []


def join(paths: Sequence[bytes]) -> bytes:
    """Paths as `-z --stdin` takes them."""
    return b"".join(path + b"\0" for path in paths)


def object_path(folder: Path) -> str:
    """An objects folder as GIT_ALTERNATE_OBJECT_DIRECTORIES takes it, where a colon separates."""
    name = str(folder).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{name}"'


def beside(objects: Path, *near: Path) -> dict[str, str]:
    """The environment in which git writes objects to a folder of their own, and reads those of
    `near` too."""
    folders = ":".join(map(object_path, near))
    return {"GIT_OBJECT_DIRECTORY": str(objects), "GIT_ALTERNATE_OBJECT_DIRECTORIES": folders}


def _spawn(
    argv: list[str], env: dict[str, str], cwd: Path | None, at_terminal: bool
) -> subprocess.Popen[bytes]:
    program = executables.find("git")
    if not program:
        raise Refused("git was not found on PATH", hint=_no_git())
    for wait in (*WAITS, None):
        try:
            return _start(argv, program, env, cwd, at_terminal)
        except Exhausted as short:
            if wait is None or not is_passing(short):
                raise
            time.sleep(wait)
    raise AssertionError("the last one is raised")


def _start(
    argv: list[str], program: str, env: dict[str, str], cwd: Path | None, at_terminal: bool
) -> subprocess.Popen[bytes]:
    try:
        child = subprocess.Popen(
            argv,
            executable=program,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A Ctrl-C on the terminal is Hydra's to answer, not git's.
            start_new_session=not at_terminal,
        )
    except FileNotFoundError:
        raise Refused(f"there is no folder {cwd}") from None
    except OSError as error:
        raise shortage(error) or Refused(f"git could not be started: {error.strerror}") from error
    with _guard:
        _running.add(child)
    return child


def _no_git() -> str:
    if entries := executables.distrusted_entries():
        return f"install git 2.38 or newer; not looked for in {', '.join(entries)} of PATH"
    return "install git 2.38 or newer"


def _end(child: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    _kill(child)
    try:
        return child.communicate(timeout=5)
    except subprocess.TimeoutExpired:  # a filter that left the session still holds the pipe
        return b"", b""


def _kill(child: subprocess.Popen[bytes]) -> None:
    if child.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            child.kill()  # which may have no group of its own
            os.killpg(child.pid, signal.SIGKILL)

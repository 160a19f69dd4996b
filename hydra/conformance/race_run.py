"""Runs `hydra race` as a program in a scratch place, and reads back what it said.

As a program and not as a call: how it takes its task from stdin, answers a signal and ends is part
of what is proved. A place is a HOME, a state folder and a small repository that nobody needs.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct, field

from hydra import paths
from hydra.errors import EXIT_TERMINATED, HydraError, RecordError, Refused
from hydra.paths import NO_FILE
from hydra.records.events import Event, decode
from hydra.records.outcome import Outcome
from hydra.records.store.reader import read_record

LONGEST = 120.0
"""Seconds after which a race that does not end is killed, and said to have hung."""

WAKES = 0.5
"""Seconds after which whoever waits for races looks whether a signal has come."""

_GIT = {
    "GIT_CONFIG_GLOBAL": NO_FILE,
    "GIT_CONFIG_SYSTEM": NO_FILE,
    **{f"GIT_{role}_NAME": "Conformance" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_EMAIL": "conformance@localhost" for role in ("AUTHOR", "COMMITTER")},
}

_running: set[subprocess.Popen[bytes]] = set()
_no_more = threading.Event()


class RaceOrder(Struct, frozen=True, kw_only=True):
    """One race to be run. `options` are further words of `hydra race`; `environ` goes to it whole.

    `interrupt` sends `signal` once `when` is true of an event (`hydra race --events`); it is asked
    of each event in turn until then.
    """

    agents: Sequence[str]
    prompt: str = "Do the task"
    options: Sequence[str] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    signal: int = signal.SIGINT
    when: Callable[[Event], bool] | None = None
    longest: float = LONGEST


class RacedLane(Outcome, frozen=True, kw_only=True):
    """A lane of the result: how it ended, the version of its agent, and where it worked."""

    version: str = ""
    worktree: str = ""


class RaceOutcome(Struct, frozen=True, kw_only=True):
    """What came of it: the exit code, every event, the result's lanes (none where it never
    began)."""

    exit_code: int
    events: tuple[Event, ...] = ()
    lanes: tuple[RacedLane, ...] = ()
    stderr: str
    seconds: float
    folder: Path | None
    hung: bool = False

    def lane(self, name: str) -> RacedLane | None:
        """One lane's part of the result; None where there is none."""
        return next((lane for lane in self.lanes if lane.lane == name), None)


class ScratchPlace:
    """A scratch folder: `home`, `state`, `repo` (one commit), `tmp`. Its maker removes it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home, self.state, self.repo = root / "home", root / "state", root / "shop"
        self.settings = root / "hydra.toml"
        for folder in (self.home, self.repo, root / "tmp"):
            folder.mkdir(parents=True)
        self.settings.write_text("")

    def commit(self, files: Mapping[str, str]) -> None:
        """Makes the repository of these files. Raises `HydraError` where git does not."""
        for name, text in files.items():
            path = self.repo / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for value in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "Base")):
            self.git(*value)

    def git(self, *args: str, cwd: Path | None = None) -> str:
        """git's stdout. Raises `HydraError` where it fails."""
        done = subprocess.run(
            ("git", *args),
            cwd=cwd or self.repo,
            env={"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self.home), **_GIT},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if done.returncode:
            raise HydraError(f"git {args[0]} failed: {done.stderr.strip()[-300:]}")
        return done.stdout

    def environ(self, folders: Sequence[Path | str], **more: str) -> dict[str, str]:
        """All that a race here gets to see: PATH is `folders`, node's and the system's."""
        node = shutil.which("node")
        path = [*map(str, folders), *([str(Path(node).parent)] if node else []), "/usr/bin", "/bin"]
        return {
            "PATH": os.pathsep.join(dict.fromkeys(path)),
            "HOME": str(self.home),
            "TMPDIR": str(self.root / "tmp"),
            "HYDRA_STATE_DIR": str(self.state),
            "HYDRA_CACHE_DIR": str(self.root / "cache"),
            "HYDRA_CONFIG": str(self.settings),
            "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            **_GIT,
            **more,
        }

    def patch(self, folder: Path, lane: str) -> dict[str, str]:
        """Paths in a lane's patch with git's letter: A, M or D."""
        base = self.git("rev-parse", "HEAD").strip()
        quiet = ("-c", "core.quotePath=off")  # names as they are, and not as "caf\\303\\251"
        terms = (*quiet, "diff", "--name-status", "--no-renames", base, lane)
        listed = self.git(*terms, cwd=folder / "patches.git")
        rows = (line.split("\t") for line in listed.splitlines())
        return {path: letter for letter, path in rows}


def scratch_root(environ: Mapping[str, str]) -> Path:
    """Where scratch folders are made: outside /tmp, where Hydra keeps no state."""
    usual = Path("/var/tmp")  # noqa: S108  mkdtemp makes the folder, 0700 and under a new name
    return usual if os.access(usual, os.W_OK) else paths.cache_dir(environ)


def new_folder(prefix: str, environ: Mapping[str, str]) -> Path:
    """A fresh scratch folder. Raises `Refused` where none can be made."""
    root = scratch_root(environ)
    try:
        root.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=prefix, dir=root))
    except OSError as error:
        raise Refused(
            f"no scratch folder can be made in {root}: {error.strerror}",
            hint="set HYDRA_CACHE_DIR to a folder that you can write",
        ) from error


def end_all() -> None:
    """Ends every race of this process and lets none begin: they are in process groups of their
    own, which a Ctrl-C does not reach. Safe in a signal handler; who waits for them still does."""
    _no_more.set()
    for wait in (0.3, 0.0):  # the second signal ends agents at once
        for process in list(_running):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        time.sleep(wait)


def race(place: ScratchPlace, order: RaceOrder) -> RaceOutcome:
    """Runs one race to its end, the task on its stdin. Never raises for what the race does."""
    if _no_more.is_set():
        code = EXIT_TERMINATED
        return RaceOutcome(exit_code=code, stderr="", seconds=0, folder=None)
    agents = [term for agent in order.agents for term in ("-a", agent)]
    argv = [sys.executable, "-m", "hydra", "race", "-", "--events", *agents, *order.options]
    began = time.monotonic()
    process = subprocess.Popen(
        argv,
        cwd=place.repo,
        env=dict(order.environ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
    )
    _running.add(process)
    if _no_more.is_set():
        process.send_signal(signal.SIGTERM)
    hung = threading.Event()
    events, stderr = _followed(process, order, hung)
    folder = next(iter(sorted(place.state.glob("*/runs/*/events.jsonl"))), None)
    return RaceOutcome(
        exit_code=process.returncode,
        events=tuple(events),
        lanes=_lanes(folder.parent) if folder else (),
        stderr=stderr.decode("utf-8", "replace"),
        seconds=time.monotonic() - began,
        folder=folder.parent if folder else None,
        hung=hung.is_set(),
    )


def _followed(
    process: subprocess.Popen[bytes], order: RaceOrder, hung: threading.Event
) -> tuple[list[Event], bytes]:
    """Every event and all of stderr, once the process has ended, or was ended for its time."""
    assert process.stderr is not None
    clock, read = threading.Timer(order.longest, _end, (process, hung)), process.stderr.read
    clock.start()
    stderr: list[bytes] = []
    threads = [
        threading.Thread(target=_write, args=(process, order.prompt.encode()), daemon=True),
        threading.Thread(target=lambda: stderr.append(read()), daemon=True),
    ]
    for thread in threads:
        thread.start()
    events = _events(process, order)
    process.wait()
    _running.discard(process)
    clock.cancel()
    for thread in threads:
        thread.join(timeout=10)
    for stream in (process.stdout, process.stderr if not threads[1].is_alive() else None):
        if stream is not None:
            stream.close()
    return events, b"".join(stderr)


def _events(process: subprocess.Popen[bytes], order: RaceOrder) -> list[Event]:
    assert process.stdout is not None
    events: list[Event] = []
    waiting = order.when
    for line in process.stdout:
        try:
            event = decode(line)
        except RecordError:  # the last line may be that of an error
            continue
        events.append(event)
        if waiting is not None and waiting(event):
            waiting = None
            process.send_signal(order.signal)
    return events


def _write(process: subprocess.Popen[bytes], prompt: bytes) -> None:
    assert process.stdin is not None
    with suppress(OSError):  # refused before it has read: its exit code tells
        process.stdin.write(prompt)
        process.stdin.close()


def _end(process: subprocess.Popen[bytes], hung: threading.Event) -> None:
    hung.set()
    # Twice: the second signal ends agents at once, and leaves no process of theirs.
    for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10 if number == signal.SIGTERM else None)


def _lanes(folder: Path) -> tuple[RacedLane, ...]:
    try:
        return read_record(folder / "result.json", tuple[RacedLane, ...], "lanes")
    except RecordError:
        return ()

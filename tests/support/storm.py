"""The kill storm: `hydra race` is killed at random moments; nothing is left, nothing is lost.

    python -m tests.support.storm --kills 200 [--no-bwrap] [--user 65534] [--seed N]

Each round starts a race of two agents, kills Hydra by SIGKILL at a moment between its first
instruction and its end, and runs one command of Hydra, as a person would. In every fifth round
that command is killed as well, and run again. Then:
  - no process of the round is left, by whatever still names it (tests/live/leftovers.py);
  - every file that an agent had synced and then entered in the ledger is in the lane's patch;
  - the record is closed, each lane ended once, and a second command has nothing to recover;
  - the user's .venv, in which each agent has installed and removed, is as it was, and of the tree
    of links that was made of it nothing is left.

The ledger is a FIFO beside the repository. A confined agent may write to one though its root is
read-only; what is written is in the kernel at once and in order, and outlives every process that
had a part in it. (Lines of the raw file would not do: they pass through the Hydra that is killed.)
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from hydra.paths import ground_dir
from hydra.records.store.files import UNBORN
from tests.conftest import git, make_repository
from tests.live.leftovers import Leftover, end, leftovers
from tests.support import fakes
from tests.support.command import Hydra, completed

ROOT = Path(__file__).parents[2]
LANES = ("claude", "codex")

WRITER = r"""
import os, signal, sys, time
lane, ledger, token, seconds, *who = sys.argv[1:]
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
log = os.open(ledger, os.O_WRONLY)
if not who and os.path.isdir(".venv/lib"):  # a package manager's work, which no patch has
    for number in range(20):
        os.unlink(".venv/lib/%d.py" % number)
        with open(".venv/lib/%d.txt" % number, "w") as file:
            file.write(lane)
def write(who, seconds):
    number = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        name = "%s-%06d.txt" % (who, number)
        file = os.open(name, os.O_WRONLY | os.O_CREAT, 0o644)
        os.write(file, ("%s %s\n" % (lane, name)).encode())
        os.fsync(file)
        os.close(file)
        os.write(log, ("%s %s %s\n" % (token, lane, name)).encode())
        number += 1
        time.sleep(0.01)
def away():
    os.setsid()
    if os.fork():
        os._exit(0)
if who:
    write(who[0], 600)
if os.fork() == 0:
    write("forked", 600)
if os.fork() == 0:
    away()
    write("daemon", 600)
if os.fork() == 0:
    away()
    os.execve(sys.executable, [sys.executable, "-I", "-S", *sys.argv, "bare"], {})
if os.fork() == 0:
    while True:  # a chain: each link ends once the next one lives
        if os.fork():
            os._exit(0)
        time.sleep(0.02)
write("shell", float(seconds))
"""
"""A shell tool of four writers and a chain of forks: in the session, away from it, away and without
an environment. None heeds TERM."""


@dataclass
class Ledger:
    """What the agents have said to be on the disk: (round's token, lane) to file names."""

    path: Path
    entries: dict[tuple[str, str], set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        os.mkfifo(self.path)
        self.path.chmod(0o666)
        self._fd = os.open(self.path, os.O_RDWR)
        self._read = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the reading."""
        os.write(self._fd, b"end\n")
        self._thread.join(20)
        os.close(self._fd)

    def _follow(self) -> None:
        torn = b""
        while chunk := os.read(self._fd, 65536):
            *lines, torn = (torn + chunk).split(b"\n")
            for line in lines:
                if line == b"end":
                    return
                if line == b"mark":
                    self._read.set()
                else:
                    token, lane, name = line.decode().split(" ")
                    self.entries.setdefault((token, lane), set()).add(name)

    def settle(self) -> None:
        """Until all that was written before this call has been read."""
        self._read.clear()
        os.write(self._fd, b"mark\n")
        assert self._read.wait(60)


@dataclass
class Round:
    """One kill and what came of it."""

    at: float
    entered: int = 0
    text: str = ""
    faults: list[str] = field(default_factory=list)


def environment(repo: Path) -> dict[str, tuple[object, ...]]:
    """All that the user may see of the .venv; links of a race to it come and go."""
    top = repo / ".venv"
    return {
        str(path): (
            *(path.lstat().st_mode, path.lstat().st_mtime_ns),
            path.read_text() if path.is_file() else "",
        )
        for path in (top, *top.rglob("*"))
    }


class Storm:
    """One place, killed in again and again."""

    def __init__(self, scratch: Path, seed: int, *, bwrap: bool) -> None:
        self.chance = random.Random(seed)
        self.ledger = Ledger(scratch / "ledger")
        self.hydra = Hydra(scratch, make_repository(scratch / "shop"))
        lib = self.hydra.repo / ".venv" / "lib"  # as its user has made it
        lib.mkdir(parents=True)
        for number in range(300):
            (lib / f"{number}.py").write_text(f"{number}\n")
        (self.hydra.repo / ".gitignore").write_text(".venv/\n")
        git(self.hydra.repo, "commit", "-qam", "Ignore the environment")
        # This checkout's, whichever is installed; with what an ordinary user's Python was given.
        places = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        self.hydra.extra["PYTHONPATH"] = os.pathsep.join(places)
        self.environment = environment(self.hydra.repo)
        self.writer = scratch / "writer.py"
        self.writer.write_text(WRITER)
        self.bwrap = bwrap
        if not bwrap:
            self.hydra.refused_bwrap("bwrap: No permissions to create a new namespace")
        for _ in range(2):  # a race that nobody kills; the first fills the cache of probes
            began = time.monotonic()
            self._start("measure").wait(120)
            self.full = time.monotonic() - began
        self.ledger.settle()
        self.seen = set(self._runs())

    def _start(self, token: str) -> subprocess.Popen[str]:
        python = (os.path.realpath(sys.executable), "-I", "-S", str(self.writer))
        for lane in LANES:
            seconds = 0.7 if token == "measure" else self.chance.choice((0.2, 0.7, 600))
            line = (*python, lane, str(self.ledger.path), token, str(seconds))
            edit = fakes.edit(f"{lane}.txt", f"{token}\n")
            steps = [edit, fakes.shell(*line, show="work"), fakes.finish("done")]
            self.hydra.agent(lane, steps)
        more = () if self.bwrap else ("--unsafe-full-access",)
        return self._hydra(
            "race", "Do it", "-q", *(w for lane in LANES for w in ("-a", lane)), *more
        )

    def _hydra(self, *args: str) -> subprocess.Popen[str]:
        """Into no pipe: nobody would close it."""
        return self.hydra.start(*args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(self, number: int) -> Round:
        """One round."""
        token = f"storm{os.getpid()}x{number}"
        done = Round(self.chance.uniform(0, 1.1 * self.full))
        self._killed_after(self._start(token), done.at)
        if number % 5 == 4:
            self._killed_after(self._hydra("runs"), self.chance.uniform(0.05, 0.6))
        items = self.hydra.run("runs", "--json")
        done.text = items.stderr.strip()
        if items.returncode != 0:
            done.faults.append(f"hydra runs: exit {items.returncode}: {items.stderr}")
        self.ledger.settle()
        done.faults += process_faults(self.hydra.scratch)
        self._look(done, token)
        return done

    def _killed_after(self, process: subprocess.Popen[str], seconds: float) -> None:
        time.sleep(seconds)
        process.kill()
        process.wait()

    def _runs(self) -> dict[str, Path]:
        return {path.name: path for path in self.hydra.state.glob("*/runs/[!.]*")}

    def _look(self, done: Round, token: str) -> None:
        fresh = {name: path for name, path in self._runs().items() if name not in self.seen}
        self.seen |= set(fresh)
        entered = {lane: self.ledger.entries.get((token, lane), set()) for lane in LANES}
        done.entered = sum(map(len, entered.values()))
        if len(fresh) > 1 or (done.entered and not fresh):
            done.faults.append(f"runs: {sorted(fresh)}, {done.entered} entries")
        for folder in fresh.values():
            done.faults += record_faults(folder)
            for lane in LANES:
                done.faults += _patch_faults(folder, lane, entered[lane])
        again = self.hydra.run("runs", "--json").stderr
        if again:
            done.faults.append(f"a second command had something to say: {again}")
        listed = git(self.hydra.repo, "for-each-ref", "--format=%(refname)", "refs/hydra")
        pinned, runs = {ref.split("/")[2] for ref in listed.split()}, self._runs()
        # The pin comes before patches.git.
        needed = {run for run, folder in runs.items() if (folder / "patches.git").exists()}
        if wrong := (pinned - set(runs)) | (needed - pinned):
            done.faults.append(f"pinned without a run, or not pinned: {sorted(wrong)}")
        if environment(self.hydra.repo) != self.environment:
            done.faults.append("the user's .venv was changed")
        # Those of a run that was killed while its folder was made go with it, after a minute
        # (docs/reference/recovery.md).
        state = self.hydra.state
        making = (path.name[1:].removesuffix(UNBORN) for path in state.glob("*/runs/.*.new"))
        grounds = {ground_dir(state, run, "x").parent for run in making}
        if links := [path for path in state.glob("g/*/_frozen") if path.parent not in grounds]:
            done.faults.append(f"links are left: {links}")


def process_faults(scratch: Path) -> list[str]:
    """What still runs of a round; it is ended."""
    items: list[Leftover] = leftovers(scratch)
    end(items)
    return [f"left running: {leftover}" for leftover in items]


def record_faults(folder: Path) -> Iterator[str]:
    """Whether a run's record is closed, each lane once."""
    try:
        events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
        result = json.loads((folder / "result.json").read_text())
    except (OSError, ValueError) as error:
        yield f"the record is not closed: {error}"
        return
    kinds = Counter((event["kind"], event["lane"]) for event in events)
    values = {("run_ended", ""): 1, **{("lane_ended", lane): 1 for lane in LANES}}
    if (got := {key: kinds[key] for key in values}) != values:
        yield f"endings: {got}"
    if [event["seq"] for event in events] != list(range(1, len(events) + 1)):
        yield "events are not numbered one by one"
    for lane in result["lanes"]:
        failure = lane["error"] or {}
        if failure.get("kind") not in (None, "Interrupted"):
            yield f"{lane['lane']}: {lane['status']} {failure}"


def _patch_faults(folder: Path, lane: str, entered: set[str]) -> Iterator[str]:
    listed = completed(["git", f"--git-dir={folder}/patches.git", "ls-tree", "-r", lane])
    rows = (line.partition("\t") for line in listed.stdout.splitlines())
    values = {name: meta.split()[2] for meta, _, name in rows}
    if wrong := [name for name in sorted(entered) if values.get(name) != _blob(lane, name)]:
        yield (
            f"{lane}: {len(wrong)} of {len(entered)} entries are not in its patch "
            f"({wrong[0]} ...) {listed.stderr}"
        )


def _blob(lane: str, name: str) -> str:
    text = f"{lane} {name}\n".encode()
    return hashlib.sha1(b"blob %d\0" % len(text) + text).hexdigest()


def storm(
    scratch: Path,
    *,
    kills: int,
    seed: int,
    bwrap: bool = True,
    say: Callable[[str], None] = lambda line: None,
) -> list[Round]:
    """So many kills; every round, faults or not."""
    item = Storm(scratch, seed, bwrap=bwrap)
    say(f"seed {seed}; a whole race takes {item.full:.2f} s")
    rounds = []
    try:
        for number in range(kills):
            done = item.kill(number)
            rounds.append(done)
            faults = "".join(f"\n    FAULT {fault}" for fault in done.faults)
            text = done.text or "nothing to recover"
            say(
                f"{number + 1:4} killed at {done.at:5.2f} s, {done.entered} entries: {text}{faults}"
            )
    finally:
        item.ledger.close()
    return rounds


def summary(rounds: list[Round]) -> str:
    """The figures of a storm."""
    recovered = sum(done.text.startswith("hydra: recovered") for done in rounds)
    bad = [done.faults for done in rounds if done.faults]
    entries = sum(done.entered for done in rounds)
    return f"{len(rounds)} kills, {entries} entries, {recovered} recovered, faults: {bad}"


def main() -> int:
    """Prints every round, then the figures; exit 1 where a round has a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.storm")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--no-bwrap", action="store_true", help="with nothing that confines")
    parser.add_argument("--user", type=int, help="as this uid (from root)")
    options = parser.parse_args()
    if options.user is not None:
        os.setgroups([])
        os.setgid(options.user)
        os.setuid(options.user)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    say = partial(print, flush=True)
    with tempfile.TemporaryDirectory(prefix="hydra-storm-", dir="/var/tmp") as folder:
        os.environ["HOME"] = folder  # git's, for the repository that is made
        bwrap = not options.no_bwrap
        rounds = storm(Path(folder), kills=options.kills, seed=options.seed, bwrap=bwrap, say=say)
    say(summary(rounds))
    return int(any(done.faults for done in rounds))


if __name__ == "__main__":
    sys.exit(main())

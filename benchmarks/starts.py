"""What a person waits for: the version, the help, and the moment when the agent runs."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from benchmarks.measure import LIMIT, Result, Way, interleave, milliseconds, ratio, timed
from benchmarks.place import BYE, HELLO, Place

NOT_ON_THE_WAY = ("git", "structlog")
"""Modules (GitPython's is `git`) that no race may load."""


def starts(place: Place) -> list[Result]:
    """`hydra --version` and `--help` against `python -c pass`."""
    env, item = place.environ(), place.folder
    lines = {
        "pass": [sys.executable, "-c", "pass"],
        "version": [*place.hydra, "--version"],
        "help": [*place.hydra, "--help"],
        "click": [sys.executable, "-c", "import click"],
    }
    if place.old:
        lines |= {f"old {name}": [*place.old_hydra, f"--{name}"] for name in ("version", "help")}
    ways = {name: partial(timed, line, env, item) for name, line in lines.items()}
    taken = interleave(max(place.runs * 3, 9), ways)
    base, click = taken["pass"], ratio(taken["click"], taken["pass"])[0]
    why = {
        "version": "the `hydra` script that pip writes imports `re` before Hydra is asked",
        "help": f"`import click` alone is {click:.1f}x here",
    }
    results = []
    for name, target in (("version", 2.2), ("help", 4.5)):
        value, best = ratio(taken[name], base)
        results.append(
            Result(
                case=f"hydra --{name}",
                against="python -c pass",
                value=value,
                best=best,
                target=target,
                why=why[name],
                note=f"{milliseconds(base)} -> {milliseconds(taken[name])}",
            )
        )
        if place.old:
            results.append(_no_slower(f"hydra --{name}", taken[name], taken[f"old {name}"]))
    return results


def _no_slower(case: str, new: list[float], old: list[float], note: str = "") -> Result:
    """The same of this checkout and of the other one."""
    value, best = ratio(new, old)
    times = f"{milliseconds(old)} -> {milliseconds(new)}"
    return Result(
        case=case, against="--old", value=value, best=best, target=1.05, note=f"{times}{note}"
    )


class Bell:
    """A FIFO that an agent writes to, also out of a confinement."""

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        self.path = path
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)

    def wait(self, times: int = 1, timeout: float = LIMIT) -> None:
        """Until it was rung so often. Raises `TimeoutError`."""
        deadline = time.monotonic() + timeout
        while times > 0:
            item = deadline - time.monotonic()
            if item <= 0 or not select.select([self._fd], [], [], item)[0]:
                raise TimeoutError(f"{times} agents never came to {self.path.name}")
            times -= len(os.read(self._fd, times))

    def heard(self) -> int:
        """How often it was rung since somebody listened; waits for nobody."""
        try:
            return len(os.read(self._fd, 65536))
        except BlockingIOError:
            return 0

    @property
    def ring(self) -> str:
        """Shell: rings it."""
        return f"printf . > '{self.path}'\n"

    def close(self) -> None:
        """Gives the descriptor back."""
        os.close(self._fd)


def to_exec(place: Place) -> list[Result]:
    """From `hydra race` to the agent's first instruction, one lane, 400 files, probes cached."""
    repository = place.repository(400)
    bell = Bell(place.seen / "exec.bell")
    env = place.environ(place.agent("exec", bell.ring + HELLO + BYE))

    def hydra(program: tuple[str, ...], env: Mapping[str, str]) -> float:
        began = time.perf_counter()
        line = [*program, "race", "Do it", "-a", "claude", "-q", "--keep", "none"]
        with subprocess.Popen(
            line, cwd=repository, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        ) as race:
            bell.wait()
            seconds = time.perf_counter() - began
            race.wait(LIMIT)
        return seconds

    def imports() -> float:
        return timed([sys.executable, "-c", "import trio, click"], env, repository)

    def worktree() -> float:
        where = place.folder / "by-hand"
        seconds = timed(["git", "worktree", "add", "-q", "--detach", where], env, repository)
        place.drop_worktree(repository, where)
        return seconds

    ways: dict[str, Way] = {
        "imports": imports,
        "worktree": worktree,
        "hydra": partial(hydra, place.hydra, env),
    }
    if place.old:
        ways["old"] = partial(hydra, place.old_hydra, place.apart(env))
    taken = interleave(max(place.runs, 5), ways)
    bell.close()
    floor = [a + b for a, b in zip(taken["imports"], taken["worktree"], strict=True)]
    value, best = ratio(taken["hydra"], floor)
    place.forget_runs()
    modules = _modules(place, repository, Path(sys.executable))
    loaded = [name for name in NOT_ON_THE_WAY if name in modules]
    beside: list[Result] = []
    if place.old:
        before = len(_modules(place, repository, place.old / ".venv/bin/python"))
        note = f"; a whole race loads {before} -> {len(modules)} modules"
        beside = [_no_slower("race start to agent's exec", taken["hydra"], taken["old"], note)]
    return [
        Result(
            case="race start to agent's exec, 400 files",
            against="import trio, click + one worktree add",
            value=value,
            best=best,
            target=1.5,
            why="Hydra's own modules are half of trio's import again, then come a dozen git "
            "processes in a row and two of bwrap",
            note=f"imports {milliseconds(taken['imports'])} + worktree "
            f"{milliseconds(taken['worktree'])} -> {milliseconds(taken['hydra'])}",
        ),
        *beside,
        Result(
            case="GitPython and structlog on that path",
            against="-X importtime",
            value=len(loaded),
            best=len(loaded),
            target=0,
            unit=" loaded",
            why=f"a race loads {', '.join(loaded)}",
        ),
    ]


def _modules(place: Place, repository: Path, python: Path) -> set[str]:
    """What a whole race imports."""
    env = place.environ(place.agent("imports", HELLO + BYE))
    item = ["race", "Do it", "-a", "claude", "-q", "--keep", "none"]
    done = subprocess.run(
        [python, "-X", "importtime", "-m", "hydra", *item],
        cwd=repository,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    entry = set(re.findall(r"^import time:.*\|\s+([\w.]+)$", done.stderr, re.MULTILINE))
    if "trio" not in entry:
        raise RuntimeError(f"-X importtime told nothing: {done.stderr[-500:]}")
    place.forget_runs()
    return entry

"""Other racers from PyPI beside Hydra: their start, and four one-second agents.

python -m benchmarks.peers FOLDER      makes a virtual environment for each there
python -m benchmarks peers --peers FOLDER
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.measure import LIMIT, Result, interleave, milliseconds, ratio, timed
from benchmarks.place import BYE, HELLO, Place
from benchmarks.starts import Bell

NAMES = ("claude", "codex", "gemini", "aider", "opencode")
"""What the scripted agent is called, for whoever takes one lane of each kind only."""

_MARK = "x = 1"


@dataclass(frozen=True, slots=True)
class Peer:
    """One package: its version, the Python it needs, what answers soonest."""

    name: str
    version: str
    python: str
    start: tuple[str, ...]


PEERS = (
    Peer("codejoust", "0.3.0", "3.11", ("--version",)),
    Peer("coderace", "2.0.0", "3.11", ("version",)),
    Peer("harnesslab", "0.3.0", "3.12", ("version",)),
)


def peers(place: Place) -> list[Result]:
    """Those of `PEERS` that are installed, against `python -c pass` and the agents by hand."""
    programs = {peer.name: _program(place, peer) for peer in PEERS}
    item = [peer for peer in PEERS if programs[peer.name] is not None]
    if not item:
        print("no peers: --peers names no folder that holds one", file=sys.stderr)
        return []
    return [*_starts(place, item), *_races(place, item)]


def _program(place: Place, peer: Peer) -> Path | None:
    if place.peers is None:
        return None
    program = place.peers.absolute() / peer.name / "bin" / peer.name
    return program if program.exists() else None


def _line(place: Place, peer: Peer, *args: str | Path) -> list[str | Path]:
    program = _program(place, peer)
    assert program is not None
    return [program, *args]


def _starts(place: Place, item: Iterable[Peer]) -> list[Result]:
    env, entry = place.environ(), place.folder
    ways: dict[str, Callable[[], float]] = {
        "pass": lambda: timed([sys.executable, "-c", "pass"], env, entry),
        "hydra --version": lambda: timed([*place.hydra, "--version"], env, entry),
    }
    for peer in item:
        line = _line(place, peer, *peer.start)
        ways[f"{peer.name} {peer.start[0]}"] = partial(timed, line, env, entry)
    taken = interleave(max(place.runs, 5), ways)
    return [
        _against(f"start: {name}", "python -c pass", times, taken["pass"])
        for name, times in taken.items()
        if name != "pass"
    ]


def _against(case: str, against: str, times: list[float], base: list[float]) -> Result:
    value, best = ratio(times, base)
    return Result(
        case=case,
        against=against,
        value=value,
        best=best,
        note=f"{milliseconds(base)} -> {milliseconds(times)}",
    )


def _races(place: Place, item: Iterable[Peer]) -> list[Result]:
    """Each race gets a clone of its own: not every peer leaves the repository as it was."""
    source = place.repository(400)
    bell = Bell(place.seen / "peers.bell")
    body = HELLO + f"sleep 1\necho '{_MARK}' >> src/part0000/file00000.py\n{bell.ring}" + BYE
    agents = place.agent("peers", body)
    for name in NAMES[1:]:
        shutil.copy(agents / "claude", agents / name)
    env = place.environ(agents)
    counts: dict[str, list[int]] = {}

    def race(name: str, line: Callable[[Path], list[str | Path]]) -> Callable[[], float]:
        def once() -> float:
            work = place.folder / "clone"
            place.git(place.folder, "clone", "-q", source, work)
            argv = line(work)
            bell.heard()
            began = time.perf_counter()
            subprocess.run(
                argv,
                cwd=work,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=LIMIT,
                check=False,
            )
            seconds = time.perf_counter() - began
            counts.setdefault(name, []).append(bell.heard())
            shutil.rmtree(work)
            return seconds

        return once

    def by_hand() -> float:
        trees = [place.folder / f"hand-{number}" for number in range(4)]
        for tree in trees:
            place.git(place.folder, "clone", "-q", source, tree)
        began = time.perf_counter()
        children = [
            subprocess.Popen([agents / "claude"], cwd=tree, env=env, stdout=subprocess.DEVNULL)
            for tree in trees
        ]
        for child in children:
            child.wait(LIMIT)
        seconds = time.perf_counter() - began
        for tree in trees:
            shutil.rmtree(tree)
        return seconds

    entry = {"codejoust": _codejoust, "coderace": _coderace, "harnesslab": _harnesslab}
    ways: dict[str, Callable[[], float]] = {"by hand": by_hand}
    ways["hydra"] = race("hydra", _hydra(place))
    for peer in item:
        ways[peer.name] = race(peer.name, entry[peer.name](place, peer))
    taken = interleave(max(place.runs // 2, 3), ways)
    bell.close()
    place.forget_runs()
    results = []
    for name, times in taken.items():
        if name == "by hand":
            continue
        case = f"4 one-second lanes: {name}"
        result = _against(case, "the agents by hand", times, taken["by hand"])
        ran = f"; agents that ran to their end: {min(counts[name])}-{max(counts[name])} of 4"
        results.append(replace(result, note=result.note + ran))
    return results


def _hydra(place: Place) -> Callable[[Path], list[str | Path]]:
    item = ["race", "Do it", "-a", "4xclaude", "-q", "--keep", "none"]
    return lambda _work: [*place.hydra, *item]


def _codejoust(place: Place, peer: Peer) -> Callable[[Path], list[str | Path]]:
    # One lane a name: two copies of one agent would share a worktree.
    lanes = "claude-code,codex,gemini,aider"
    line = _line(place, peer, "run", "Do it", "-a", lanes, "--no-html", "--timeout", "60")
    return lambda _work: line


def _coderace(place: Place, peer: Peer) -> Callable[[Path], list[str | Path]]:
    task = place.folder / "coderace.yaml"
    task.write_text(
        "name: bench\ndescription: Do it\nrepo: .\ntest_command: 'true'\n"
        "timeout: 60\nagents: [claude, codex, gemini, aider]\n"
    )
    return lambda _work: _line(place, peer, "run", task, "--parallel", "--no-save")


def _harnesslab(place: Place, peer: Peer) -> Callable[[Path], list[str | Path]]:
    def line(work: Path) -> list[str | Path]:
        # Its own data folder caches a snapshot of the repository: a fresh one each time.
        lab = work.with_name("lab")
        shutil.rmtree(lab, ignore_errors=True)
        (lab / "tasks").mkdir(parents=True)
        (lab / "tasks" / "bench.yaml").write_text(
            "id: bench\nname: bench\nversion: 1\ndescription: Do it\n"
            f"repo:\n  path: {work}\n  base_ref: HEAD\nprompt: Do it\n"
            "verification:\n  command: 'true'\n  timeout_seconds: 60\n"
            "limits:\n  agent_timeout_seconds: 60\n"
        )
        lanes = [f"lane-{number}" for number in range(4)]
        each = "  - id: {}\n    runner: claude\n    model: null\n"
        variants = "".join(each.format(lane) for lane in lanes)
        suite = lab / "suite.yaml"
        suite.write_text(
            f"name: bench\ndescription: bench\ntasks:\n  - tasks/bench.yaml\nvariants:\n{variants}"
        )
        item = ("run", suite, "--variants", ",".join(lanes), "--parallelism", "4", "--yes")
        return _line(place, peer, "--home", lab / "home", *item)

    return line


def install(folder: Path) -> None:
    """Makes a virtual environment for each peer. Raises `CalledProcessError`."""
    folder.mkdir(parents=True, exist_ok=True)
    for peer in PEERS:
        python = shutil.which(f"python{peer.python}") or sys.executable
        home = folder / peer.name
        subprocess.run([python, "-m", "venv", home], check=True)
        package = f"{peer.name}=={peer.version}"
        subprocess.run([home / "bin" / "python", "-m", "pip", "install", "-q", package], check=True)
        print(json.dumps({"peer": peer.name, "version": peer.version, "in": str(home)}))


if __name__ == "__main__":
    install(Path(sys.argv[1]))

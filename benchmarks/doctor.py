"""`hydra doctor` with every agent: cold against its probes by hand, remembered against `--version`.

The programs are made up, each computing for a while; where HYDRA_LIVE_BIN names a folder of real
CLIs, those are asked.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import LIMIT, Result, interleave, milliseconds, ratio, timed
from benchmarks.place import Place
from hydra.adapters import registry
from hydra.adapters.probe.detect import cores

Line = tuple[str, ...]
_LINE = ("doctor", "--allow-experimental-adapters")
_READY_OR_NOT = (0, 4)


class ByHand(NamedTuple):
    """The longest of all probes, each run alone, and the CPU time of all, run side by side: on
    threads of one core the same work takes more of it than alone."""

    slowest: float
    cpu: float

    @property
    def floor(self) -> float:
        """Seconds below which no order of them could come."""
        return max(self.slowest, self.cpu / cores())


def doctor(place: Place) -> list[Result]:
    """Cold, and with all answers remembered."""
    repository = place.repository(10)
    real = os.environ.get("HYDRA_LIVE_BIN")
    folder = Path(real) if real else _programs(place.folder / "programs")
    env = place.environ(folder) | {"ANTHROPIC_API_KEY": ""}
    questions = _questions(env)
    cache = place.folder / "cache"
    cold, floors, hands, beside = [], [], [], []
    for _ in range(max(place.runs // 2, 3)):
        slowest = max(_alone(line, env, place.folder) for line in questions)
        seconds, cpu = _side_by_side(questions, env, place.folder)
        hand = ByHand(slowest, cpu)
        shutil.rmtree(cache, ignore_errors=True)
        cold.append(timed([*place.hydra, *_LINE], env, repository, accept=_READY_OR_NOT))
        beside.append(seconds)
        floors.append(hand.floor)
        hands.append(hand)
    taken = interleave(
        max(place.runs, 5),
        {
            "version": lambda: timed([*place.hydra, "--version"], env, repository),
            "doctor": lambda: timed([*place.hydra, *_LINE], env, repository, accept=_READY_OR_NOT),
        },
    )
    value, best = ratio(cold, floors)
    other, other_best = ratio(cold, beside)
    warm, warm_best = ratio(taken["doctor"], taken["version"])
    middle = sorted(taken["doctor"])[len(taken["doctor"]) // 2] * 1000
    kind = "real CLIs" if real else "made-up programs"
    last = hands[-1]
    return [
        Result(
            case=f"doctor, cold: {len(questions)} probes of {kind}",
            against="the larger of the slowest probe and all their CPU time / cores",
            value=value,
            best=best,
            target=1.3,
            why="the machine's other work has a share of the cores, which the floor does not know",
            note=f"slowest {last.slowest:.1f} s, CPU {last.cpu:.1f} s / {cores()} cores -> "
            f"{milliseconds(cold)}",
        ),
        Result(
            case="doctor, cold",
            against=f"the same probes by hand, {cores() + 1} at a time",
            value=other,
            best=other_best,
            target=1.3,
            note=f"{milliseconds(beside)}; whatever else runs here slows both",
        ),
        Result(
            case="doctor, all remembered",
            against="hydra --version",
            value=warm,
            best=warm_best,
            note=f"{milliseconds(taken['version'])} -> {milliseconds(taken['doctor'])}",
        ),
        Result(
            case="doctor, all remembered",
            against="a clock: for a quiet machine only",
            value=middle,
            best=min(taken["doctor"]) * 1000,
            target=400,
            unit=" ms",
            why="it takes its imports of trio, click and thirty adapters",
        ),
    ]


def _questions(env: Mapping[str, str]) -> list[Line]:
    """What there is to ask of the programs on PATH, each once, as `hydra doctor` does."""
    item: dict[Line, None] = {}
    for adapter in registry.everyone():
        entry = adapter.descriptor
        for name in (*entry.binaries, *entry.generic_binaries):
            if program := shutil.which(name, path=env["PATH"]):
                item.update(dict.fromkeys((program, *probe.args) for probe in entry.probes))
                break
    return list(item)


def _side_by_side(
    questions: Sequence[Line], env: Mapping[str, str], cwd: Path
) -> tuple[float, float]:
    """Seconds by the clock and of CPU of all of them, so many at a time, in no particular order."""
    began, before = time.perf_counter(), _cpu()
    with ThreadPoolExecutor(cores() + 1) as workers:
        list(workers.map(lambda line: _alone(line, env, cwd), questions))
    return time.perf_counter() - began, _cpu() - before


def _alone(line: Line, env: Mapping[str, str], cwd: Path) -> float:
    began = time.perf_counter()
    subprocess.run(
        line, env=env, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT
    )
    return time.perf_counter() - began


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _programs(folder: Path) -> Path:
    """A program of every agent's name, that computes for 0.1 to 1 s before it says anything."""
    folder.mkdir(exist_ok=True)
    names = [item.descriptor.binaries[0] for item in registry.everyone()]
    for number, name in enumerate(dict.fromkeys(names)):
        seconds = 0.1 + 0.9 * (number * 7 % 11) / 10
        body = f"import time\nwhile time.process_time() < {seconds:.2f}: pass\nprint('1.0.0')\n"
        script = folder / f"{name}.py"
        script.write_text(body)
        path = folder / name
        path.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {script} "$@"\n')
        path.chmod(0o755)
    return folder

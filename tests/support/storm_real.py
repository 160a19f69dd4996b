"""The kill storm over the real Claude Code and Codex, each in a long shell tool.

The CLIs talk to the scripted model server. Their ledger is what the storm itself has seen whole in
a lane's worktree right before it kills Hydra: the tool cannot be told where a FIFO lies.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hydra.conformance.server import serve
from tests.support.storm import LANES, ROOT, Round, phase_of, process_faults, record_faults

if TYPE_CHECKING:
    from tests.live.support import Place


def storm_real(
    scratch: Path, programs: Path, *, kills: int, seed: int, say: Callable[[str], None]
) -> list[Round]:
    """So many kills; every round, faults or not."""
    os.environ["HYDRA_LIVE_BIN"] = str(programs)
    from tests.live.repository import lived_in, settings
    from tests.live.support import Place

    chance = random.Random(seed)
    rounds: list[Round] = []
    with serve("long_shell") as server:
        place = Place(scratch, os.geteuid(), server, {"PYTHONPATH": str(ROOT)})
        for folder in (place.home, place.repo):
            folder.mkdir()
        settings(place)
        lived_in(place)
        _until_both_work(place)  # fills the cache of probes
        full = _until_both_work(place)
        say(f"seed {seed}; both tools run after {full:.2f} s")
        try:
            for number in range(kills):
                rounds.append(_round(place, number, chance.uniform(0, 1.3 * full)))
                say(_told(rounds[-1]))
        finally:
            place.close()
    return rounds


def _grounds(place: Place) -> set[Path]:
    return set(place.state.glob("g/*"))


def _seen(place: Place, before: set[Path]) -> dict[str, set[str]]:
    """The files of each lane of this race that its tools have written whole by now.

    `before` are the grounds of those before it, of which some are kept.
    """
    seen: dict[str, set[str]] = {}
    for ground in _grounds(place) - before:
        for lane in LANES:
            names = (f"before-{lane}.txt", f"started-{lane}.txt")
            worktree = ground / lane / place.repo.name
            seen[lane] = {name for name in names if _ended_line(worktree / name)}
    return seen


def _ended_line(path: Path) -> bool:
    try:
        return path.read_bytes().endswith(b"\n")
    except OSError:
        return False


def _until_both_work(place: Place) -> float:
    before = _grounds(place)
    began = time.monotonic()
    process = place.start_race()
    while sum(map(len, _seen(place, before).values())) < 2 * len(LANES):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() - began < 120, _seen(place, before)
        time.sleep(0.05)
    full = time.monotonic() - began
    process.kill()
    process.communicate()
    _hydra(place)
    return full


def _hydra(place: Place) -> tuple[int, str]:
    from tests.live.support import hydra_program

    process = place.start(hydra_program(), "runs", "--json")
    _, stderr = process.communicate(timeout=120)
    return process.returncode, stderr.strip()


def _round(place: Place, number: int, at: float) -> Round:
    before = set(place.state.glob("*/runs/[!.]*"))
    grounds = _grounds(place)
    process = place.start_race()
    time.sleep(at)
    seen = _seen(place, grounds)
    process.kill()
    process.communicate()
    began = time.monotonic()
    code, text = _hydra(place)
    done = Round(number, at, text=text, seconds=time.monotonic() - began)
    done.entered = sum(map(len, seen.values()))
    if code:
        done.faults.append(f"hydra runs: exit {code}")
    done.faults += process_faults(place.root)
    for folder in set(place.state.glob("*/runs/[!.]*")) - before:
        done.phase = phase_of(folder)
        done.faults += record_faults(folder)
        for lane, names in seen.items():
            done.faults += _missing(place, folder, lane, names)
    return done


def _missing(place: Place, folder: Path, lane: str, names: set[str]) -> list[str]:
    if not names:
        return []
    texts = place.git("ls-tree", "-r", "--name-only", lane, cwd=folder / "patches.git").splitlines()
    lost = names - set(texts)
    return [f"{lane}: {sorted(lost)} not in its patch"] if lost else []


def _told(done: Round) -> str:
    faults = "".join(f"\n    FAULT {fault}" for fault in done.faults)
    return (
        f"{done.number + 1:4} killed at {done.at:5.2f} s ({done.phase}), {done.entered} seen, "
        f"recovery {done.seconds:.2f} s: {done.text or 'nothing to recover'}{faults}"
    )

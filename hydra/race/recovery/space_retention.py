"""Runs go by themselves once they are old, and nothing would be lost with them.

Every repository of the state folder is held to the limits by itself. Its latest run stays, and so
does one that is running, was broken off, or cannot be read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from hydra.config.values import format_duration
from hydra.paths import ground_dir
from hydra.race.recovery.retention import (
    holds_work,
    is_empty,
    is_landed,
    remove_rounds,
    remove_run,
    size,
    started,
)
from hydra.records.request import Limits
from hydra.records.store.files import alone
from hydra.records.store.reader import RunRecord, runs
from hydra.report import text
from hydra.text import plural


def sweep(state: Path, limits: Limits, stopped: Callable[[], bool] = lambda: False) -> int:
    """Removes what may go by itself, and what killed checks have left in the runs that stay; how
    many runs. Ends soon once `stopped`."""
    folders = sorted(path for path in state.glob("*/runs") if path.is_dir())
    return sum(_sweep_one(folder, state, limits, stopped) for folder in folders)


def over_limits(
    folder: Path, state: Path, limits: Limits, known_sizes: Mapping[str, int] | None = None
) -> str:
    """What one repository's `runs/` still has over the limits, for a person to remove: one line, or
    "". `known_sizes` are those, by run, that need not be measured again."""
    records, measured = runs(folder), known_sizes or {}
    sizes = {run.id: measured.get(run.id) or size(run, state) for run in records}
    now = time.time()
    old = [
        run.id
        for run in records[:-1]
        if now - started(run) >= limits.retention and not run.live and holds_work(run, state)
    ]
    if old:
        age = format_duration(limits.retention)
        return (
            f"{plural(old, 'race')} here over {age} old, with work that may not be landed "
            f"({text.size(sum(map(sizes.__getitem__, old)))}): hydra runs rm --older-than {age}"
        )
    if (total := sum(sizes.values())) > limits.retention_bytes:
        return (
            f"the races here take {text.size(total)}, over the {text.size(limits.retention_bytes)} "
            "that are kept: hydra runs rm RUN (`hydra runs` shows what each takes)"
        )
    return ""


def _sweep_one(folder: Path, state: Path, limits: Limits, stopped: Callable[[], bool]) -> int:
    records = runs(folder)
    for run in records:
        if stopped():
            return 0
        if (run.folder / "result.json").exists():
            remove_rounds(run, ground_dir(state, run.id, "x").parent)
    removed, now = 0, time.time()
    for run in records[:-1]:
        if stopped():
            break
        due = now - started(run) >= limits.retention
        removed += due and _may_go(run, state) and _take(run, state)
    return removed


def _may_go(run: RunRecord, state: Path) -> bool:
    return is_empty(run, state) or is_landed(run, state)


def _take(run: RunRecord, state: Path) -> bool:
    with suppress(OSError), alone(run.folder) as mine:
        # Since it was looked at, somebody may have checked or landed it.
        if mine and _may_go(run, state):
            remove_run(state, run.folder)
            return True
    return False

"""Ratios from interleaved runs: the machine is never quiet, so no figure stands alone."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

Way = Callable[[], float]
"""Does the work once and gives its seconds; what it prepares and clears away is not in them."""

LIMIT = 300.0
"""Seconds after which any one child is taken for hung."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One line of the table. `value` is the median, `best` the same from the minima."""

    case: str
    against: str
    value: float
    best: float
    target: float | None = None
    unit: str = "x"
    at_least: bool = False
    why: str = ""
    """What to say where it misses."""
    note: str = ""

    @property
    def ok(self) -> bool | None:
        """Whether the target is met; None where the case has none."""
        if self.target is None:
            return None
        return self.value >= self.target if self.at_least else self.value <= self.target

    def as_dict(self) -> dict[str, object]:
        """For `--json`."""
        return {**asdict(self), "ok": self.ok}


def interleave(runs: int, ways: Mapping[str, Way]) -> dict[str, list[float]]:
    """Seconds of each way, taken in turns; each first once unmeasured, to warm what is cold."""
    for way in ways.values():
        way()
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(runs):
        names = list(ways) if turn % 2 == 0 else list(ways)[::-1]
        for name in names:
            taken[name].append(ways[name]())
    return taken


def ratio(item: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    """(median of the ratios of each turn, ratio of the two minima)."""
    paired = [a / b for a, b in zip(item, other, strict=True)]
    return statistics.median(paired), min(item) / min(other)


def milliseconds(taken: Sequence[float]) -> str:
    """A median for a note; never to be compared across runs."""
    return f"{statistics.median(taken) * 1000:.0f} ms"


def timed(
    argv: Sequence[str | Path], env: Mapping[str, str], cwd: Path, *, accept: Sequence[int] = (0,)
) -> float:
    """Seconds of one child from spawn to end. Raises `RuntimeError` where it fails."""
    began = time.perf_counter()
    done = subprocess.run(
        argv,
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=LIMIT,
        check=False,
    )
    seconds = time.perf_counter() - began
    if done.returncode not in accept:
        item = done.stderr.decode(errors="replace")[-800:]
        raise RuntimeError(f"{argv[0]} ended with {done.returncode}: {item}")
    return seconds

"""Intervals of 95%: by a bootstrap over tasks, or by the normal law where there are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from random import Random

SEED = 5
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Interval:
    mean: float
    low: float
    high: float


def bootstrap(figures: Mapping[str, Sequence[float]]) -> dict[str, Interval]:
    """Of each figure's mean over tasks. Paired: all figures are of the same tasks, and each
    resample takes the same ones for all of them."""
    tasks = len(next(iter(figures.values())))
    random = Random(SEED)
    means: dict[str, list[float]] = {name: [] for name in figures}
    for _ in range(RESAMPLES):
        drawn = random.choices(range(tasks), k=tasks)
        for name, values in figures.items():
            means[name].append(sum(map(values.__getitem__, drawn)) / tasks)
    return {
        name: Interval(sum(values) / tasks, *_middle(means[name]))
        for name, values in figures.items()
    }


def normal(values: Sequence[float]) -> Interval:
    """Of the mean: 1.96 standard errors to each side."""
    count = len(values)
    mean = sum(values) / count
    spread = sum((value - mean) ** 2 for value in values) / max(1, count - 1)
    half = 1.96 * sqrt(spread / count)
    return Interval(mean, mean - half, mean + half)


def _middle(means: list[float]) -> tuple[float, float]:
    means.sort()
    edge = round(len(means) * 0.025)
    return means[edge], means[-1 - edge]

"""The rules that are compared. Each gives a score for every candidate of a pool: highest wins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import lgamma, sqrt

from benchmarks.pools import Pool
from hydra.ranking import selection

Rule = Callable[[Pool], Sequence[float]]

TOLERANCE = 1e-9
"""Scores that differ by less, in proportion, are a tie."""


def hydra(pool: Pool) -> Sequence[float]:
    """The judge's own."""
    return selection.chances(len(pool.counts), pool.tests, pool.counts)


def random(pool: Pool) -> Sequence[float]:
    """All alike."""
    return [0.0] * len(pool.counts)


def most_passed(pool: Pool) -> Sequence[float]:
    """How many tests a candidate passes."""
    return [_passed(pool, row) for row in pool.rows]


def codet(pool: Pool) -> Sequence[float]:
    """CodeT (arXiv 2207.10397): the root of how many candidates pass the same tests, times how
    many tests that is."""
    rows = pool.rows
    sizes = _sizes(pool, rows)
    return [sqrt(sizes[row]) * _passed(pool, row) for row in rows]


def b4(pool: Pool, beta0: float = 1e4, alpha: float = 1e3) -> Sequence[float]:
    """B4 (arXiv 2409.08692): if the candidates that pass the same tests are the right ones and
    those tests the true ones, how probable is all that was seen? Four Beta functions: of right
    candidates, of true tests, and of what the others pass of true and of false tests."""
    rows = pool.rows
    sizes = _sizes(pool, rows)
    weights = [test.count for test in pool.tests]
    tests, candidates = sum(weights), sum(sizes.values())
    scores = {}
    for group, right in sizes.items():
        true = _passed(pool, group)
        on_true = on_false = 0.0
        for row, size in sizes.items():
            if row != group:
                both = sum(w for w, g, r in zip(weights, group, row, strict=True) if g and r)
                on_true += size * both
                on_false += size * (_passed(pool, row) - both)
        wrong = candidates - right
        scores[group] = (
            _log_beta(true + alpha, tests - true + 1)
            + _log_beta(right + alpha, wrong + 1)
            + _log_beta(on_true + 1, wrong * true - on_true + 1)
            + _log_beta(on_false + 1, wrong * (tests - true) - on_false + beta0)
        )
    return [scores[row] for row in rows]


def oracle(pool: Pool) -> Sequence[float]:
    """Who is right: the most that any rule could reach."""
    return [float(right) for right in pool.correct]


RULES: dict[str, Rule] = {
    "hydra": hydra,
    "random": random,
    "most_passed": most_passed,
    "codet": codet,
    "b4": b4,
    "oracle": oracle,
}


def winners(scores: Sequence[float]) -> list[int]:
    """All that are tied for the first place."""
    best = max(scores)
    least = best - TOLERANCE * max(1.0, abs(best))
    return [index for index, score in enumerate(scores) if score >= least]


def pass1(pool: Pool, scores: Sequence[float]) -> float:
    """How often the winner is right: a tie counts as the mean over all copies that are tied."""
    tied = winners(scores)
    copies = sum(pool.counts[index] for index in tied)
    return sum(pool.counts[index] for index in tied if pool.correct[index]) / copies


def _sizes(pool: Pool, rows: Sequence[tuple[bool | None, ...]]) -> Counter[tuple[bool | None, ...]]:
    sizes: Counter[tuple[bool | None, ...]] = Counter()
    for row, count in zip(rows, pool.counts, strict=True):
        sizes[row] += count
    return sizes


def _passed(pool: Pool, row: tuple[bool | None, ...]) -> float:
    return float(sum(test.count for test, cell in zip(pool.tests, row, strict=True) if cell))


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)

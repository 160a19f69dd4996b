"""How often a winner like this one was right, by what was measured (docs/why/selection.md)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from hydra.ranking.measured import WINNERS
from hydra.ranking.measured_fixes import FIXES
from hydra.ranking.model import WinnerConfidence
from hydra.ranking.selection import Test, telling

HIGH = 0.75
"""A share from here on is high,"""

FAIR = 0.5
"""from here on fair, and below low."""

ENOUGH = 100
"""Of fewer winners that were measured no share is told."""

ENOUGH_FIXES = 5
"""Nor of fewer fixes; what their table says is shrunk towards one half by two made-up ones."""

_LANES = (2, 3, 4, 8, 16)
_AGREE = (1, 2, 3, 5)


class WinnerKind(NamedTuple):
    """What winners are counted by: each number stands for itself and those up to the next.

    `lanes` that take part; `agree`, how many of them, itself among them, pass and fail the same
    tests as the winner; `tied`, with lanes that end otherwise.
    """

    lanes: int
    agree: int
    tied: bool


def situation(
    candidates: int, tests: Sequence[Test], winners: Sequence[int], counts: Sequence[int] = ()
) -> WinnerKind | None:
    """Where these winners, tied if there are several, stand; None where no test tells lanes apart,
    or where it is not known how one of them ends on all tests that do."""
    if not telling(tests) or not winners:
        return None
    exact = _exact(candidates, tests, winners, counts, range(candidates))
    return _measured_as(exact) if exact else None


def confidence(
    candidates: int = 0,
    tests: Sequence[Test] = (),
    winners: Sequence[int] = (),
    counts: Sequence[int] = (),
    *,
    witnesses: Collection[int] | None = None,
    proved: bool = False,
) -> WinnerConfidence:
    """How sure one may be of these winners, by the tests that they were chosen by.

    `tests` and `counts` as `selection.chances` takes them; `winners` are the indexes of the lanes
    in the first place, `witnesses` of those whose agreement counts, None for all. `proved`: the
    winner is one, and besides these tests the base's own ran on it: then it is held against what
    was measured in repositories. Nothing is made up: where nothing was measured for such a case,
    the word is unknown and the share None.
    """
    if not winners:
        return _unknown("there is no winner")
    if candidates == 1:
        return _unknown("there is only one patch")
    if not telling(tests) and not proved:
        return _unknown("no new test tells the patches apart")
    who = range(candidates) if witnesses is None else witnesses
    exact = _exact(candidates, tests, winners, counts, who)
    if exact is None:
        return _unknown("some new tests have no result on the first patch")
    everybody = _exact(candidates, tests, winners, counts, range(candidates))
    left_out = {*range(candidates)} - {*winners, *who}
    untried = any(test.results[lane] is None for test in tests for lane in left_out)
    why = _why(exact, all_count=everybody == exact and not untried)
    share = _share_of_fixes(exact, len({*winners, *who})) if proved else None
    if share is None:
        share = _share(_measured_as(exact)) if telling(tests) else None
    if share is None:
        return _unknown(f"{why}: too few such cases were measured", exact.agree)
    return WinnerConfidence(word=_level(share), share=share, why=why, agree=exact.agree)


def _exact(
    candidates: int,
    tests: Sequence[Test],
    winners: Sequence[int],
    counts: Sequence[int],
    witnesses: Collection[int],
) -> WinnerKind | None:
    sizes = tuple(counts) or (1,) * candidates
    # One that may yet tell is asked too, so that a result that goes missing makes nobody agree.
    lines = [test.results for test in tests if {*test.results} not in ({True}, {False})]
    rows = list(zip(*lines, strict=True)) or [()] * candidates
    won = {rows[winner] for winner in winners}
    if any(None in row for row in won):
        return None
    agree = min(
        sum(sizes[number] for number in {winner, *witnesses} if rows[number] == rows[winner])
        for winner in winners
    )
    return WinnerKind(sum(sizes), agree, len(won) > 1)


def _measured_as(exact: WinnerKind) -> WinnerKind:
    return WinnerKind(_step(_LANES, exact.lanes), _step(_AGREE, exact.agree), exact.tied)


def _share(case: WinnerKind) -> float | None:
    """The most that was measured of as many that agree or of fewer: one more makes nobody less
    sure, whatever the samples' noise; None where that is of too few winners."""
    return max(
        (
            share
            for (lanes, agree, tied), (number, share) in WINNERS.items()
            if (lanes, tied) == (case.lanes, case.tied) and agree <= case.agree and number >= ENOUGH
        ),
        default=None,
    )


def _share_of_fixes(exact: WinnerKind, witnesses: int) -> float | None:
    """The same of fixes, by how many others agree and how many do not: the most of as few or fewer
    that agree, with as many or more against."""
    if exact.tied:
        return None
    agree, against = exact.agree - 1, witnesses - exact.agree
    return max(
        (
            share
            for (others, rivals), (number, share) in FIXES.items()
            if others <= agree and rivals >= against and number >= ENOUGH_FIXES
        ),
        default=None,
    )


def _unknown(why: str, agree: int | None = None) -> WinnerConfidence:
    return WinnerConfidence(word="unknown", why=why, agree=agree)


def _why(exact: WinnerKind, *, all_count: bool) -> str:
    if exact.tied:
        return "the first patches are tied, and the new tests end differently on them"
    aside = (
        "" if all_count else "; patches that are broken, held back or do nothing are not counted"
    )
    if exact.agree == 1:
        return f"no other patch agrees with it on the new tests{aside}"
    return f"{exact.agree} of {exact.lanes} patches agree on the new tests{aside}"


def _level(share: float) -> Literal["high", "fair", "low"]:
    return "high" if share >= HIGH else "fair" if share >= FAIR else "low"


def _step(steps: Sequence[int], value: int) -> int:
    return steps[max(0, bisect_right(steps, value) - 1)]

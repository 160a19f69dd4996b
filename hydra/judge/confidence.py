"""How often a winner like this one was right: read from what was measured (docs/selection.md)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal, NamedTuple

from hydra.judge.measured import WINNERS
from hydra.judge.selection import Test, shouting, telling
from hydra.judge.verdict import Confidence

HIGH = 0.75
"""A share from here on is high,"""

FAIR = 0.5
"""from here on fair, and below low."""

ENOUGH = 100
"""Of fewer winners that were measured no share is told."""

_LANES = (2, 3, 4, 8, 16)
_AGREE = (1, 2, 3, 5)


class Situation(NamedTuple):
    """What winners are counted by: each number stands for itself and those up to the next.

    `lanes` that take part; `agree`, how many of them, itself among them, pass and fail the same
    tests as the winner; `tied`, with lanes that end otherwise.
    """

    lanes: int
    agree: int
    tied: bool


def situation(
    candidates: int, tests: Sequence[Test], winners: Sequence[int], counts: Sequence[int] = ()
) -> Situation | None:
    """Where these winners, tied if there are several, stand; None where no test that is heard
    tells lanes apart."""
    exact = _exact(candidates, tests, winners, counts)
    if exact is None:
        return None
    return Situation(_step(_LANES, exact.lanes), _step(_AGREE, exact.agree), exact.tied)


def _exact(
    candidates: int, tests: Sequence[Test], winners: Sequence[int], counts: Sequence[int]
) -> Situation | None:
    sizes = tuple(counts) or (1,) * candidates
    unheard = shouting(candidates, tests)
    heard = [test for test in telling(tests) if test.author not in unheard]
    if not heard or not winners:
        return None
    rows = list(zip(*(test.results for test in heard), strict=True))
    won = {rows[winner] for winner in winners}
    agree = min(sum(size for size, of in zip(sizes, rows, strict=True) if of == row) for row in won)
    return Situation(sum(sizes), agree, len(won) > 1)


def confidence(
    candidates: int = 0,
    tests: Sequence[Test] = (),
    winners: Sequence[int] = (),
    counts: Sequence[int] = (),
) -> Confidence:
    """How sure one may be of these winners, by the tests that they were chosen by.

    `tests` and `counts` as `selection.chances` takes them; `winners` are the indexes of the lanes
    in the first place. Nothing is made up: where nothing was measured for such a case, the word
    is unknown and the share None.
    """
    if not winners:
        return Confidence(word="unknown", why="there is no winner")
    if candidates == 1:
        return Confidence(word="unknown", why="one patch alone: there was nothing to hold it to")
    exact = _exact(candidates, tests, winners, counts)
    case = situation(candidates, tests, winners, counts)
    if exact is None or case is None:
        return Confidence(word="unknown", why="no new test tells the patches apart")
    measured, right = WINNERS.get(case, (0, 0.0))
    if measured < ENOUGH:
        return Confidence(word="unknown", why=f"{_why(exact)}: too few such winners were measured")
    return Confidence(word=_word(right), share=right, why=_why(exact))


def _why(exact: Situation) -> str:
    if exact.tied:
        return "patches that end differently are tied"
    if exact.agree == 1:
        return "no other patch passes and fails the same tests"
    return f"{exact.agree} of {exact.lanes} patches pass and fail the same tests"


def _word(share: float) -> Literal["high", "fair", "low"]:
    return "high" if share >= HIGH else "fair" if share >= FAIR else "low"


def _step(steps: Sequence[int], value: int) -> int:
    return steps[max(0, bisect_right(steps, value) - 1)]

"""What the tests of all lanes say of each patch (docs/why/selection.md: why, and the figures).

For every behaviour that was seen it asks: were this the right one, how probable is all the rest?
That fixes who is right, hence which tests are true (those that it passes). The answer is a product
of how probable it is that so many agree, that so many tests of each author are true, and that those
who are then wrong pass what they pass. Nothing is fitted to the pool at hand: each rate is drawn
from a Beta distribution and integrated out, with the constants below.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache
from math import exp, fsum, lgamma, log

from msgspec import Struct

CAP = 12
"""How many tests of one author are counted: so many that end alike, and so many in all."""

TIMES = 3
"""Beyond so many times the tests of the middle lane an author's weigh no more; and where they are
`LOUD` as well, he is loud, and they weigh as one."""

LOUD = 4
"""So many tests may be loud, where there are three other lanes to tell what is usual; where there
are fewer, `CAP` of them."""

FEW = 3
"""So many tests of an author weigh in full, however few the middle lane has."""

_RIGHT = (4.0, 1.0)
"""Of lanes. Each Beta is (successes, failures) that are taken as seen before."""
_TRUE_OF_RIGHT = (1.0, 1.0)
_TRUE_OF_WRONG = (4.0, 1.0)
_TRUE_OF_NOBODY = (1000.0, 1.0)
"""Where authors are not known, tests come by the dozen, and each that is false must cost: B4's."""
_PASSES_TRUE = (3.0, 2.0)
"""How often a wrong patch passes a true test."""
_PASSES_FALSE = (1.0, 60.0)
"""And a false one. Never a free rate: that explains any crowd of wrong patches as the right one."""
_MISTAKES = 8.0
"""How freely wrong lanes make new mistakes rather than one that another made."""
_ALIKE = 0.6
"""Lanes of one mistake weigh as their number to this power: they are not as many witnesses."""

_UNKNOWN_TRUE, _UNKNOWN_PASSES, _UNKNOWN_LUCK = 0.7, 0.6, 0.02
"""The same rates, fixed, for a test that was not tried on those who are taken to be right."""


class Test(Struct, frozen=True):
    """One test and how it ended on each candidate: True, False, or None where it is not known.

    `author` is the index of the candidate that brought it, None where nobody knows; `count` says
    how many tests there are that end like this one.
    """

    # pytest would collect it by its name.
    __test__ = False

    author: int | None
    results: tuple[bool | None, ...]
    count: int = 1


class _Column(Struct, frozen=True):
    """Tests of one author that end alike, and what they weigh together."""

    author: int | None
    results: tuple[bool | None, ...]
    weight: float


def chances(
    candidates: int, tests: Sequence[Test], counts: Sequence[int] = ()
) -> tuple[float, ...]:
    """How likely each candidate is right, from 0 to 1, given that one of them is.

    Candidates that pass and fail the same tests have one chance together, so that chances need not
    add up to 1; where no test tells candidates apart, each has 1. One that no telling test was
    tried on stands for itself. Neither the order nor the names
    of candidates and tests change it, nor a test that ends alike on all candidates that it was
    tried on. `counts` says how many identical copies there are of each candidate (one); one that
    has 0 agrees with nobody, and is a behaviour that may be right all the same.

    Raises:
        ValueError: a test whose results or author do not fit the candidates, or a count below 0.
    """
    sizes = tuple(counts) or (1,) * candidates
    _check(candidates, tests, sizes)
    table = _Table(_columns(candidates, tests), sizes)
    likely: dict[frozenset[int], float] = {}
    for group in range(len(table.groups)):
        right = table.right_with(group)
        if right not in likely:
            likely[right] = table.log_likelihood(right)
    if not likely:
        return ()
    best = max(likely.values())
    weights = {right: exp(value - best) for right, value in likely.items()}
    total = fsum(weights.values())
    of_group = [
        fsum(weight for right, weight in weights.items() if group in right) / total
        for group in range(len(table.groups))
    ]
    return tuple(min(1.0, of_group[table.group_of[number]]) for number in range(candidates))


def telling(tests: Sequence[Test]) -> tuple[Test, ...]:
    """Those that tell candidates apart: one passes, one fails."""
    return tuple(test for test in tests if True in test.results and False in test.results)


def _check(candidates: int, tests: Sequence[Test], sizes: Sequence[int]) -> None:
    if len(sizes) != candidates:
        raise ValueError(f"{len(sizes)} counts for {candidates} candidates")
    if any(size < 0 for size in sizes) or any(test.count < 1 for test in tests):
        raise ValueError("a count below 0, or a test's below 1")
    for test in tests:
        if len(test.results) != candidates:
            raise ValueError(f"{len(test.results)} results for {candidates} candidates")
        if test.author is not None and not 0 <= test.author < candidates:
            raise ValueError(f"author {test.author} of {candidates} candidates")


def _alike(tests: Sequence[Test]) -> Counter[tuple[int | None, tuple[bool | None, ...]]]:
    """How many telling tests of one author end alike, no more than `CAP` where he is known."""
    mapping: Counter[tuple[int | None, tuple[bool | None, ...]]] = Counter()
    for test in telling(tests):
        mapping[test.author, test.results] += test.count
    for (author, results), count in mapping.items():
        if author is not None:
            mapping[author, results] = min(count, CAP)
    return mapping


def _sums(alike: Counter[tuple[int | None, tuple[bool | None, ...]]]) -> Counter[int]:
    sums: Counter[int] = Counter()
    for (author, _), count in alike.items():
        if author is not None:
            sums[author] += count
    return sums


def _most(author: int, candidates: int, sums: Counter[int]) -> int:
    """What an author's tests weigh together at most; those of a loud one as one test."""
    usual = TIMES * _middle(author, candidates, sums)
    if sums[author] > usual and sums[author] >= (LOUD if candidates > 3 else CAP):
        return 1
    return min(CAP, max(FEW, usual))


def _middle(number: int, candidates: int, sums: Counter[int]) -> int:
    """How many tests the middle one of the other lanes has; the lower of two."""
    others = sorted(sums[other] for other in range(candidates) if other != number)
    return others[(len(others) - 1) // 2] if others else 0


def _columns(candidates: int, tests: Sequence[Test]) -> list[_Column]:
    alike = _alike(tests)
    sums = _sums(alike)
    shares = {
        author: min(1.0, _most(author, candidates, sums) / brought)
        for author, brought in sums.items()
    }
    return [
        _Column(author, results, count if author is None else count * shares[author])
        for (author, results), count in alike.items()
    ]


def _bits(cells: Sequence[bool | None], value: bool) -> int:
    """A bit for each cell of that value, the first the lowest."""
    return int("".join("1" if cell is value else "0" for cell in reversed(cells)) or "0", 2)


class _Table:
    """The tests as bits: of a group of candidates that end alike, which it passes and fails.

    A candidate of which no test is known is a group of its own: nothing says whom it is like.
    Sums go through `fsum`, so that no order of candidates or tests changes the last digit.
    """

    def __init__(self, columns: Sequence[_Column], sizes: Sequence[int]) -> None:
        members: dict[tuple[int, int, int | None], list[int]] = defaultdict(list)
        for number in range(len(sizes)):
            row = [column.results[number] for column in columns]
            passed, failed = _bits(row, True), _bits(row, False)
            unknown = columns and not passed | failed
            members[passed, failed, number if unknown else None].append(number)
        self.groups = [(passed, failed) for passed, failed, _ in members]
        self.group_of = {
            number: group for group, ones in enumerate(members.values()) for number in ones
        }
        self.sizes = [sum(sizes[number] for number in ones) for ones in members.values()]
        self._columns = columns
        by_author: dict[int | None, dict[float, int]] = defaultdict(lambda: defaultdict(int))
        by_weight: dict[float, int] = defaultdict(int)
        for bit, column in enumerate(columns):
            by_author[column.author][column.weight] |= 1 << bit
            by_weight[column.weight] |= 1 << bit
        self._authors = {author: list(bits.items()) for author, bits in by_author.items()}
        self._weights = list(by_weight.items())

    def right_with(self, group: int) -> frozenset[int]:
        """The groups that are right if this one is: they end alike wherever both were tried."""
        passed, failed = self.groups[group]
        return frozenset(
            other
            for other, (also_passed, also_failed) in enumerate(self.groups)
            if other == group
            or (
                (passed | failed) & (also_passed | also_failed)
                and not passed & also_failed
                and not failed & also_passed
            )
        )

    def log_likelihood(self, right: frozenset[int]) -> float:
        """How probable all that was seen is, if these groups are right and all others wrong."""
        true = false = 0
        for group in right:
            true |= self.groups[group][0]
            false |= self.groups[group][1]
        # What they differ in is no more known than what was not tried on them.
        true, false = true & ~false, false & ~true
        counted = [group for group, size in enumerate(self.sizes) if size]
        wrong = [group for group in counted if group not in right]
        terms = [self._agreement(right, wrong), *self._of_authors(right, true, false)]
        for group in wrong:
            passed, failed = self.groups[group]
            terms.append(
                self.sizes[group] ** _ALIKE
                * (
                    self._rate(passed & true, failed & true, _PASSES_TRUE)
                    + self._rate(passed & false, failed & false, _PASSES_FALSE)
                )
            )
        terms.extend(self._not_tried(wrong, true | false))
        return fsum(terms)

    def _agreement(self, right: frozenset[int], wrong: list[int]) -> float:
        """So many are right, and the others fall into these groups, as by a Chinese restaurant."""
        agree = sum(self.sizes[group] for group in right)
        others = sum(self.sizes[group] for group in wrong)
        terms = [_log_beta(agree + _RIGHT[0], others + _RIGHT[1])]
        if wrong:
            terms += [log(_MISTAKES) + lgamma(self.sizes[group]) for group in wrong]
            terms += [lgamma(_MISTAKES), -lgamma(_MISTAKES + others)]
        return fsum(terms)

    def _of_authors(self, right: frozenset[int], true: int, false: int) -> list[float]:
        terms = []
        for author, bits in self._authors.items():
            if author is None:
                prior = _TRUE_OF_NOBODY
            elif self.group_of[author] in right:
                prior = _TRUE_OF_RIGHT
            else:
                prior = _TRUE_OF_WRONG
            yes = fsum(weight * (mask & true).bit_count() for weight, mask in bits)
            no = fsum(weight * (mask & false).bit_count() for weight, mask in bits)
            terms.append(_log_rate(yes, no, *prior))
        return terms

    def _rate(self, passed: int, failed: int, prior: tuple[float, float]) -> float:
        yes = fsum(weight * (mask & passed).bit_count() for weight, mask in self._weights)
        no = fsum(weight * (mask & failed).bit_count() for weight, mask in self._weights)
        return _log_rate(yes, no, *prior)

    def _not_tried(self, wrong: list[int], number: int) -> list[float]:
        """Of tests whose truth is not known: either way, each with its chance."""
        terms = []
        for bit, column in enumerate(self._columns):
            if number >> bit & 1:
                continue
            yes = sum(self.groups[group][0] >> bit & 1 for group in wrong)
            no = sum(self.groups[group][1] >> bit & 1 for group in wrong)
            if_true = _UNKNOWN_PASSES**yes * (1 - _UNKNOWN_PASSES) ** no
            if_false = _UNKNOWN_LUCK**yes * (1 - _UNKNOWN_LUCK) ** no
            either = _UNKNOWN_TRUE * if_true + (1 - _UNKNOWN_TRUE) * if_false
            terms.append(column.weight * log(either))
        return terms


@lru_cache(1 << 16)
def _log_rate(yes: float, no: float, successes: float, failures: float) -> float:
    """Of so many passes and failures in a row, by one rate that is drawn from a Beta."""
    return _log_beta(yes + successes, no + failures) - _log_beta(successes, failures)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)

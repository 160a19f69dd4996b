"""Which test of the base became which test of the patch, and which assertions went where.

A test that was renamed, moved, split, merged, parametrised or rewritten for another runner keeps
its assertions, in normal form, somewhere. What is found again is not lost.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from operator import attrgetter

from hydra.analysis.tampering.model import STRENGTH, Assertion, TestRead

_ALIKE = 0.5
"""Share of names and values in common from which a test is taken for a renamed one."""

_COMMON = 40
"""A word that more tests have says nothing about which is which."""


@dataclass(slots=True, eq=False)
class Pair:
    """A test of the base and what became of it (`new` None: nothing has its name or its words).

    `lost` are its assertions that stand nowhere now, `gained` those of `new` that no test had;
    `matched` the others, as they were and as they are. Of a case in `elsewhere` another test asks
    something else now.
    """

    old: TestRead
    new: TestRead | None
    lost: list[Assertion] = field(default_factory=list)
    gained: list[Assertion] = field(default_factory=list)
    matched: list[tuple[Assertion, Assertion]] = field(default_factory=list)
    elsewhere: list[tuple[Assertion, Assertion]] = field(default_factory=list)
    moved: int = 0
    """Of its assertions, how many another test has now."""


def pairs(old: Iterable[TestRead], new: Iterable[TestRead]) -> list[Pair]:
    """Every test of the base, in their order."""
    before, after = list(old), list(new)
    taken = _by_name(before, after)
    both = [Pair(test, taken.get(at)) for at, test in enumerate(before)]
    used = {id(test) for test in taken.values()}
    added = [test for test in after if id(test) not in used]
    for pair in both:
        _hold(pair)
    surplus = _Surplus(both, added)
    for pair in both:
        pair.lost = [assertion for assertion in pair.lost if not surplus.claim(assertion, pair)]
    for pair in both:
        if pair.new is not None:
            pair.lost = [case for case in pair.lost if not surplus.claim_case(case, pair)]
    for pair, test in _renamed([pair for pair in both if pair.new is None], added):
        pair.new = test
        pair.gained = surplus.remaining(test)
    for pair in both:
        pair.gained = surplus.unclaimed(pair.gained)
    return both


def _by_name(before: Sequence[TestRead], after: Sequence[TestRead]) -> dict[int, TestRead]:
    """By place in `before`: the test of the same file and name, else the only one of its name."""
    taken: dict[int, TestRead] = {}
    exact = {(test.path, test.name): test for test in after}
    for at, test in enumerate(before):
        if (test.path, test.name) in exact:
            taken[at] = exact[test.path, test.name]
    for key in (attrgetter("name"), attrgetter("short")):
        used = {id(test) for test in taken.values()}
        free: defaultdict[str, list[TestRead]] = defaultdict(list)
        for test in after:
            if id(test) not in used:
                free[key(test)].append(test)
        mapping = Counter(key(test) for at, test in enumerate(before) if at not in taken)
        for at, test in enumerate(before):
            name = key(test)
            if at not in taken and len(free[name]) == 1 and mapping[name] == 1:
                taken[at] = free[name][0]
    return taken


def _hold(pair: Pair) -> None:
    """Sorts the assertions of a pair into kept, lost and gained."""
    if pair.new is None:
        pair.lost = list(pair.old.assertions)
        return
    rows: defaultdict[tuple[str, str, str], list[Assertion]] = defaultdict(list)
    for assertion in pair.new.assertions:
        rows[assertion.key].append(assertion)
    for assertion in pair.old.assertions:
        if rows[assertion.key]:
            pair.matched.append((assertion, rows[assertion.key].pop(0)))
        else:
            pair.lost.append(assertion)
    numbers = {id(assertion) for many in rows.values() for assertion in many}
    pair.gained = [assertion for assertion in pair.new.assertions if id(assertion) in numbers]


class _Surplus:
    """Assertions of the patch that no test of the same name had."""

    def __init__(self, both: Sequence[Pair], added: Sequence[TestRead]) -> None:
        self.free: defaultdict[tuple[str, str, str], list[Assertion]] = defaultdict(list)
        self.claimed: set[int] = set()
        for many in (*(pair.gained for pair in both), *(test.assertions for test in added)):
            for assertion in many:
                self.free[assertion.key].append(assertion)

    def claim(self, assertion: Assertion, pair: Pair) -> bool:
        """Takes the same assertion from elsewhere; False where there is none."""
        if not self.free.get(assertion.key):
            return False
        other = self.free[assertion.key].pop(0)
        self.claimed.add(id(other))
        pair.moved += 1
        return True

    def claim_case(self, case: Assertion, pair: Pair) -> bool:
        """Takes what asks as much of a lost case in another test; False where there is none."""
        values = _values(case)
        if not values or not any(was.line == case.line for was, _ in pair.matched):
            return False
        own = {id(assertion) for assertion in pair.gained} | self.claimed
        for other in min(map(self._having.__getitem__, values), key=len):
            if id(other) not in own and values <= _values(other) and _asks_as_much(case, other):
                self.claimed.add(id(other))
                pair.elsewhere.append((case, other))
                return True
        return False

    @cached_property
    def _having(self) -> defaultdict[str, list[Assertion]]:
        rows: defaultdict[str, list[Assertion]] = defaultdict(list)
        for assertion in itertools.chain.from_iterable(self.free.values()):
            for value in _values(assertion):
                rows[value].append(assertion)
        return rows

    def remaining(self, test: TestRead) -> list[Assertion]:
        """What is not claimed of a new test."""
        return self.unclaimed(test.assertions)

    def unclaimed(self, many: Iterable[Assertion]) -> list[Assertion]:
        """Those that nobody took."""
        return [assertion for assertion in many if id(assertion) not in self.claimed]


_VALUE = re.compile(r"'[^']*'|\"[^\"]*\"|\b\d[\w.]*")


@lru_cache(maxsize=4096)
def _values(assertion: Assertion) -> frozenset[str]:
    """The values in what is asked: they make one case of a test another than the next."""
    return frozenset(_VALUE.findall(assertion.subject))


def _asks_as_much(was: Assertion, now: Assertion) -> bool:
    """An error instead of a value, or a value instead of an error, is as much."""
    return now.strength >= min(was.strength, STRENGTH["raises"])


def _renamed(gone: Sequence[Pair], added: Sequence[TestRead]) -> list[tuple[Pair, TestRead]]:
    """Tests that are gone, each with the new one that has most of its words."""
    having: defaultdict[str, list[int]] = defaultdict(list)
    for at, test in enumerate(added):
        for term in test.identifiers:
            having[term].append(at)
    rows: list[tuple[float, int, int]] = []
    for place, pair in enumerate(gone):
        if not pair.lost and pair.old.assertions:
            continue
        shared: Counter[int] = Counter()
        for term in pair.old.identifiers:
            if len(having[term]) <= _COMMON:
                shared.update(having[term])
        for at, _ in shared.most_common(5):
            both = len(pair.old.identifiers & added[at].identifiers)
            share = both / max(1, len(pair.old.identifiers | added[at].identifiers))
            if share >= _ALIKE:
                rows.append((-share, place, at))
    taken: list[tuple[Pair, TestRead]] = []
    done: set[int] = set()
    used: set[int] = set()
    for _, place, at in sorted(rows):
        if place not in done and at not in used:
            done.add(place)
            used.add(at)
            taken.append((gone[place], added[at]))
    return taken

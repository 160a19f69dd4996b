"""Which test of the base became which of the patch, and what the patch's tests have that theirs had
not: what moved, or is asked in another way, is not lost."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hydra.analysis.tampering.cues import Statement, values
from hydra.analysis.tampering.regions import Region, Suite

_ALIKE = 0.5
"""Share of names and numbers in common from which a test is taken for a renamed one."""

_MOST_COMPARED = 250_000
_ASSIGNED = re.compile(r"(?:const |let |var |val |final )?[\w.]+(?::\w+)?:?=(?!=)")
_Taken = Mapping[tuple[str, str], Region]


class Pairs:
    """`taken` has, by test of the base, the patch's; `assigned` the values that its lines give
    names to."""

    def __init__(self, suite: Suite) -> None:
        self.old, self.new = suite.old, suite.new
        taken = self._same_names()
        self._pieces = self._come(taken)
        self._having: defaultdict[str, list[str]] = defaultdict(list)
        for piece in self._pieces:
            for value in {*values(piece)}:
                self._having[value].append(piece)
        self.assigned = Counter(
            value for piece in self._pieces if _ASSIGNED.match(piece) for value in values(piece)
        )
        self.taken = self._renamed(taken)

    def _same_names(self) -> _Taken:
        """By test of the base, the patch's of the same name."""
        old, new = self.old.tests, self.new.tests
        taken = {key: new[key] for key in old if key in new}
        for part in ("name", "short"):
            used = {id(test) for test in taken.values()}
            free: defaultdict[str, list[Region]] = defaultdict(list)
            for test in new.values():
                if id(test) not in used:
                    free[getattr(test, part)].append(test)
            gone = Counter(getattr(test, part) for key, test in old.items() if key not in taken)
            for key, test in old.items():
                name = getattr(test, part)
                if key not in taken and gone[name] == 1 and len(free[name]) == 1:
                    taken[key] = free[name][0]
        return taken

    def _renamed(self, taken: _Taken) -> _Taken:
        """The same with those that are left, each with the one that has most of its words."""
        used = {id(test) for test in taken.values()}
        rest = [test for test in self.new.tests.values() if id(test) not in used]
        lost = [(key, test) for key, test in self.old.tests.items() if key not in taken]
        if len(rest) * len(lost) > _MOST_COMPARED:
            return taken
        rows = sorted(
            (-share, key, at)
            for key, test in lost
            if not self._is_elsewhere(test)
            for at, other in enumerate(rest)
            if (share := _share(test.terms, other.terms)) >= _ALIKE
        )
        done: set[int] = set()
        pairs = dict(taken)
        for _, key, at in rows:
            if key not in pairs and at not in done:
                pairs[key] = rest[at]
                done.add(at)
        return pairs

    def _is_elsewhere(self, test: Region) -> bool:
        """Whether all that a test asserts stands in others by now."""
        required = self.old.assertions(test)
        return bool(required) and not self.lost_of(test)

    def lost_of(self, test: Region) -> list[Statement]:
        """What of a test that is gone stands nowhere else. What asks its cases stands where they
        do."""
        force = force_of(self.old.assertions(test))
        cases = test.cases and all(self.has(values(case), force) for case in test.cases)
        lost = [row for row in self.old.assertions(test) if not self.is_kept(row)]
        return [row for row in lost if row.values or not cases]

    def _come(self, taken: _Taken) -> dict[str, int]:
        """What the patch's tests have and their own before had not, where they assert something:
        each statement, each row of cases, and a new test of one assertion; with its force."""
        was = {id(new): self.old.tests[key] for key, new in taken.items()}
        had = {(region.path, region.name): region for region in self.old.others}
        pieces: dict[str, int] = {}
        for new in (*self.new.tests.values(), *self.new.others):
            old = was.get(id(new)) if new.is_test else had.get((new.path, new.name))
            if old is not None and old.plain == new.plain:
                continue
            asks = [row for row in self.new.assertions(new) if not self.new.may_ask(row)]
            if not asks and new.is_test:
                continue
            before = {*_pieces_of(old)} if old is not None else set()
            force = force_of(asks) if asks else 2
            asking = {*asks}
            came = {row.text: row.force if row in asking else force for row in new.statements}
            came |= dict.fromkeys(new.cases, force)
            if old is None and len(asks) == 1:
                came[new.plain] = force
            for piece, much in came.items():
                if piece not in before and much >= pieces.get(piece, 0):
                    pieces[piece] = much
        return pieces

    def is_kept(self, row: Statement) -> bool:
        """Whether what is asserted stands elsewhere in the patch's tests: as it was, or with all
        the values in it."""
        return row.text in self._pieces or self.has(row.values, row.force)

    def has(self, required: Sequence[str], force: int) -> bool:
        """Whether these values stand, in their order, in one piece that asks as much."""
        if not required:
            return False
        for piece in min((self._having[value] for value in required), key=len):
            present = iter(values(piece))
            if self._pieces[piece] >= force and all(value in present for value in required):
                return True
        return False


def force_of(rows: Iterable[Statement]) -> int:
    """Of assertions together."""
    return max((row.force for row in rows), default=0)


def _pieces_of(region: Region) -> Iterator[str]:
    yield from (row.text for row in region.statements)
    yield from region.cases


def _share(first: frozenset[str], other: frozenset[str]) -> float:
    return len(first & other) / max(1, len(first | other))

"""Made-up pools: lanes that are right or wrong, and tests that are.

It is written down plainly and knows nothing of any rule:

- A lane is right with a chance of `right`, each by itself. All right lanes behave alike.
- A wrong lane has a mistake. In pools of the kind "author" each has its own. In pools of the kind
  "shared" half of them have the task's common mistake and behave alike.
- A mistake is slight or grave: it passes a true test with a chance that is drawn for it once,
  evenly from 0.1 to 0.9; whoever has the same mistake passes the same tests.
- Every lane brings as many tests as any other. A test is true with a chance of `true`.
- A true test passes on every right lane. A wrong lane brings only true tests that it passes itself.
- A wrong test of a wrong lane demands that lane's mistake: it passes where that mistake is, fails
  on right lanes, and passes on any other mistake with a chance of 0.05.
- A wrong test of a right lane: of the kind "author" it is too narrow, and passes on its own lane
  alone; of the kind "shared" it demands the common mistake, and fails on its own lane too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from benchmarks.pools import Pool
from hydra.ranking.selection import Test

LANES = (2, 3, 4, 8, 16)
TESTS = (1, 3, 10)
RIGHT = (0.1, 0.3, 0.5, 0.7, 0.9)
TRUE = (0.3, 0.5, 0.7, 0.8, 0.95)
KINDS = ("author", "shared")
LUCK = 0.05
"""How often a mistake passes a wrong test that another mistake wrote."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One way to make pools. `shout` other than 0: the last lane brings so many tests. It is wrong,
    and they all are, each passing on its own lane; or, `honest`, it is right, and they all are."""

    kind: str
    lanes: int
    tests: int
    right: float
    true: float
    shout: int = 0
    honest: bool = False

    @property
    def name(self) -> str:
        """The cell in a line, which is also the seed of its pools."""
        who = "a right one" if self.honest else "one"
        shout = f", {who} shouts {self.shout}" if self.shout else ""
        return (
            f"{self.kind}, {self.lanes} lanes x {self.tests} tests, "
            f"right {self.right:g}, true {self.true:g}{shout}"
        )


def cells(quick: bool = False) -> Iterator[Cell]:
    """Every cell of the demand; `quick` a few from its corners and its middle."""
    ranges = ((2, 4, 8), (3,), (0.3, 0.7), (0.3, 0.8)) if quick else (LANES, TESTS, RIGHT, TRUE)
    for kind in KINDS:
        for lanes in ranges[0]:
            for tests in ranges[1]:
                for right in ranges[2]:
                    for true in ranges[3]:
                        yield Cell(kind, lanes, tests, right, true)


def shouting(quick: bool = False) -> Iterator[Cell]:
    """The cells of three tests a lane, with one lane, wrong or right, that brings thirty."""
    for cell in cells(quick):
        if cell.tests == 3:
            yield replace(cell, shout=30)
            yield replace(cell, shout=30, honest=True)


def pools(cell: Cell, tasks: int) -> Iterator[Pool]:
    """So many pools of a cell, the same ones every time."""
    random = Random(cell.name)
    for number in range(tasks):
        yield _pool(cell, str(number), random)


def _pool(cell: Cell, task: str, random: Random) -> Pool:
    # 0 is no mistake, 1 the common one, others are a lane's own.
    lanes = [
        0 if random.random() < cell.right else _mistake(cell, lane, random)
        for lane in range(cell.lanes)
    ]
    if cell.shout:
        lanes[-1] = 0 if cell.honest else lanes[-1] or _mistake(cell, cell.lanes - 1, random)
    passes = {mistake: random.uniform(0.1, 0.9) for mistake in range(1, cell.lanes + 2)}
    tests = []
    for author, own in enumerate(lanes):
        shouts = cell.shout and author == cell.lanes - 1
        for _ in range(cell.shout if shouts else cell.tests):
            if cell.honest if shouts else random.random() < cell.true:
                fits = {mistake: random.random() < chance for mistake, chance in passes.items()}
                fits[own] = fits[0] = True
            else:
                fits = {mistake: random.random() < LUCK for mistake in passes}
                fits[0] = False
                fits[own or 1] = bool(own) or cell.kind == "shared"
            results = [fits[mistake] for mistake in lanes]
            if not own and not fits[0] and cell.kind == "author":
                results = [lane == author for lane in range(cell.lanes)]
            tests.append(Test(author, tuple(results)))
    return Pool(task, tuple(not mistake for mistake in lanes), (1,) * cell.lanes, tuple(tests))


def _mistake(cell: Cell, lane: int, random: Random) -> int:
    return 1 if cell.kind == "shared" and random.random() < 0.5 else lane + 2

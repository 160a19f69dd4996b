"""A recorded race as it were without some of its lanes, and the tests that they brought."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from msgspec.structs import replace

from hydra.ranking.evidence import Evidence


def lineups(evidence: Evidence, least: int = 2) -> Iterator[Evidence]:
    """Every line-up of at least so many lanes, the whole one first."""
    lanes = [lane.lane for lane in evidence.lanes]
    for count in range(len(lanes), least - 1, -1):
        for item in combinations(lanes, count):
            yield without(evidence, {*lanes} - {*item})


def without(evidence: Evidence, lanes: set[str]) -> Evidence:
    """As though these had not raced. A run on a tree that another lane left too is that one's."""
    item = tuple(lane for lane in evidence.lanes if lane.lane not in lanes)
    heirs = {lane.tree: lane.lane for lane in reversed(item) if lane.tree}
    trees = {lane.lane: lane.tree for lane in evidence.lanes}
    names = {lane: heirs.get(trees[lane], "") if lane in lanes else lane for lane in trees}
    names[""] = ""
    return replace(
        evidence,
        lanes=item,
        trials=tuple(
            replace(trial, on=names[trial.on])
            for trial in evidence.trials
            if trial.author not in lanes and (names[trial.on] or not trial.on)
        ),
        not_tried=tuple(
            trial
            for trial in evidence.not_tried
            if trial.author not in lanes and trial.on not in lanes
        ),
        review_tests=tuple(
            replace(test, ends={lane: end for lane, end in test.ends.items() if lane not in lanes})
            for test in evidence.review_tests
        ),
    )

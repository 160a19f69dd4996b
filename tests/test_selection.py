"""The rule that reads a matrix of tests: what must not change its word, and what must."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hydra.judge.confidence import confidence, situation
from hydra.judge.measured import WINNERS
from hydra.judge.selection import CAP, TIMES, Test, chances, order, shouting, telling

CELLS = st.sampled_from([True, True, False, False, None])


@st.composite
def pools(draw: st.DrawFn, least: int = 1) -> tuple[int, list[Test]]:
    """Up to six candidates, a few kinds of tests of known and unknown authors."""
    lanes = draw(st.integers(least, 6))
    test = st.builds(
        Test,
        st.one_of(st.none(), st.integers(0, lanes - 1)),
        st.tuples(*[CELLS] * lanes),
        st.integers(1, 15),
    )
    return lanes, draw(st.lists(test, max_size=12))


def moved(test: Test, places: Sequence[int]) -> Test:
    """The same test where candidate `places[n]` has become candidate n."""
    author = None if test.author is None else list(places).index(test.author)
    return Test(author, tuple(test.results[place] for place in places), test.count)


@given(pools(), st.randoms(use_true_random=False))
def test_neither_order_nor_names_of_lanes_and_tests_change_it(
    pool: tuple[int, list[Test]], shuffle: random.Random
) -> None:
    lanes, tests = pool
    places = list(range(lanes))
    shuffle.shuffle(places)
    other = [moved(test, places) for test in tests]
    shuffle.shuffle(other)
    before = chances(lanes, tests)
    assert chances(lanes, other) == tuple(before[place] for place in places)


@given(pools(), st.booleans(), st.data())
def test_a_test_that_ends_alike_on_all_changes_nothing(
    pool: tuple[int, list[Test]], passes: bool, data: st.DataObject
) -> None:
    lanes, tests = pool
    cells = data.draw(st.tuples(*[st.sampled_from([passes, passes, None])] * lanes))
    author = data.draw(st.one_of(st.none(), st.integers(0, lanes - 1)))
    assert chances(lanes, [*tests, Test(author, cells, 7)]) == chances(lanes, tests)


@given(pools(), st.data(), st.integers(1, 1000))
def test_copies_of_one_authors_test_beyond_the_cap_change_nothing(
    pool: tuple[int, list[Test]], data: st.DataObject, more: int
) -> None:
    lanes, tests = pool
    author = data.draw(st.integers(0, lanes - 1))
    cells = data.draw(st.tuples(*[CELLS] * lanes))
    at_cap = [*tests, Test(author, cells, CAP)]
    assert chances(lanes, [*at_cap, Test(author, cells, more)]) == chances(lanes, at_cap)


@given(pools(2), st.data())
def test_one_who_shouts_changes_nothing_whatever_else_he_brings(
    pool: tuple[int, list[Test]], data: st.DataObject
) -> None:
    lanes, tests = pool
    loud = data.draw(st.integers(0, lanes - 1))
    own = tuple(lane == loud for lane in range(lanes))
    tests = [Test(one.author, one.results, 1) for one in tests if one.author != loud]
    calm = [sum(one.author == lane for one in telling(tests)) for lane in range(lanes)]
    assume(max(calm) * TIMES < CAP)
    shouted = [*tests, Test(loud, own, CAP)]
    assert loud in shouting(lanes, shouted)
    more = data.draw(st.lists(st.tuples(*[CELLS] * lanes), max_size=20))
    louder = [*shouted, *(Test(loud, cells) for cells in more)]
    assert chances(lanes, louder) == chances(lanes, shouted) == chances(lanes, tests)


@given(pools())
def test_a_chance_is_a_share_and_those_that_end_alike_have_the_same(
    pool: tuple[int, list[Test]],
) -> None:
    lanes, tests = pool
    values = chances(lanes, tests)
    assert all(0 <= value <= 1 for value in values)
    assert max(values) > 0
    rows = [tuple(test.results[lane] for test in telling(tests)) for lane in range(lanes)]
    for one in range(lanes):
        assert all(values[one] == values[two] for two in range(lanes) if rows[one] == rows[two])


@given(pools(), st.data())
def test_tests_told_one_by_one_or_by_count_are_the_same(
    pool: tuple[int, list[Test]], data: st.DataObject
) -> None:
    lanes, tests = pool
    single = [Test(one.author, one.results) for one in tests for _ in range(one.count)]
    assert chances(lanes, single) == chances(lanes, tests)


@given(pools(), st.data())
def test_candidates_told_one_by_one_or_by_count_are_the_same(
    pool: tuple[int, list[Test]], data: st.DataObject
) -> None:
    lanes, tests = pool
    counts = data.draw(st.lists(st.integers(1, 4), min_size=lanes, max_size=lanes))
    nobodys = [Test(None, test.results, test.count) for test in tests]
    spread = [lane for lane, count in enumerate(counts) for _ in range(count)]
    copies = [Test(None, tuple(t.results[lane] for lane in spread), t.count) for t in nobodys]
    by_count = chances(lanes, nobodys, counts)
    assert chances(len(spread), copies) == tuple(by_count[lane] for lane in spread)


@given(st.lists(st.floats(0, 1), max_size=8))
def test_ranks_follow_chances_and_ties_share_one(values: list[float]) -> None:
    ranks = order(values)
    for one, mine in enumerate(values):
        assert ranks[one] <= 1 + sum(other > mine for other in values)
        assert all(ranks[one] <= ranks[two] for two, other in enumerate(values) if mine >= other)
    assert sorted(ranks)[:1] in ([], [1])


def test_ties_are_ties() -> None:
    assert order([0.2, 0.5, 0.5 + 1e-12, 0.0, 0.0]) == (3, 1, 1, 4, 4)
    crossed = [Test(0, (True, False)), Test(1, (False, True))]
    assert order(chances(2, crossed)) == (1, 1)


def test_where_nothing_tells_lanes_apart_all_have_one_chance() -> None:
    assert chances(3, []) == (1, 1, 1)
    assert chances(2, [Test(0, (True, True)), Test(1, (False, False)), Test(1, (True, None))]) == (
        1,
        1,
    )
    assert chances(0, []) == ()


def test_agreement_and_the_tests_of_others_outweigh_ones_own() -> None:
    """Two that agree, and pass each other's tests, lead one that passes three of its own."""
    tests = [
        Test(0, (True, True, False, False)),
        Test(1, (True, True, False, True)),
        Test(2, (False, False, True, False), 3),
    ]
    values = chances(4, tests)
    assert order(values) == (1, 1, order(values)[2], order(values)[3])
    assert min(order(values)[2:]) == 3


def test_of_two_lanes_the_one_that_passes_more_leads() -> None:
    for more in range(2, CAP):
        tests = [Test(0, (True, False), more), Test(1, (False, True))]
        assert order(chances(2, tests)) == (1, 2)


def test_not_tried_is_neither_passed_nor_failed() -> None:
    """A lane that others' tests were not tried on stands between one that passes and one that
    fails them."""
    tests = [Test(3, (True, None, False, True)), Test(0, (True, None, False, True), 2)]
    passed, unknown, failed, _ = chances(4, tests)
    assert passed > unknown > failed


def test_one_cell_that_was_not_tried_parts_nobody_from_who_ends_alike_elsewhere() -> None:
    tests = [
        Test(0, (True, True, False)),
        Test(1, (True, True, False)),
        Test(0, (True, None, False)),
    ]
    values = chances(3, tests)
    assert order(values) == (1, 1, 3)


@pytest.mark.parametrize("lanes", [2, 3, 4, 8, 16])
def test_a_wrong_lane_that_brings_thirty_tests_gains_nothing(lanes: int) -> None:
    rest = [Test(lane, (*[True] * (lanes - 1), False)) for lane in range(lanes - 1)]
    own = Test(lanes - 1, (*[False] * (lanes - 1), True), 30)
    assert chances(lanes, [*rest, own]) == chances(lanes, rest)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="results"):
        chances(2, [Test(0, (True,))])
    with pytest.raises(ValueError, match="author"):
        chances(2, [Test(2, (True, False))])
    with pytest.raises(ValueError, match="count"):
        chances(2, [Test(0, (True, False), 0)])
    with pytest.raises(ValueError, match="counts"):
        chances(2, [], [1])


def test_sixteen_lanes_and_two_thousand_tests_take_no_time() -> None:
    made = random.Random(1)
    tests = [Test(n % 16, tuple(made.random() < 0.7 for _ in range(16))) for n in range(2000)]
    began = time.process_time()
    chances(16, tests)
    assert time.process_time() - began < 2


def test_confidence_is_what_was_measured_and_never_made_up() -> None:
    assert confidence().word == "unknown"
    assert confidence(1, [], [0]).share is None
    nothing = confidence(3, [Test(0, (True, True, True))], [0, 1, 2])
    assert (nothing.word, nothing.share) == ("unknown", None)
    tests = [Test(lane, (True, True, True, False)) for lane in range(3)]
    case = situation(4, tests, [0, 1, 2])
    assert case is not None
    assert case == (4, 3, False)
    told = confidence(4, tests, [0, 1, 2])
    assert told.share == WINNERS[case][1]
    assert "3 of 4" in told.why


def test_a_larger_group_is_surer_and_a_tie_is_not_sure() -> None:
    def told(row: tuple[bool, ...]) -> float:
        tests = [Test(lane, row) for lane in range(4) if row[lane]]
        share = confidence(4, tests, [lane for lane in range(4) if row[lane]]).share
        assert share is not None
        return share

    assert told((True, True, True, False)) > told((True, True, False, False))
    crossed = [Test(0, (True, False)), Test(1, (False, True))]
    assert confidence(2, crossed, [0, 1]).word == "low"


def test_the_table_is_of_shares_of_enough_winners() -> None:
    assert sum(number for number, _ in WINNERS.values()) > 10_000
    assert all(0 <= share <= 1 for _, share in WINNERS.values())

"""The rule that reads a matrix of tests: what must not change its word, and what must."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hydra.ranking.confidence import confidence, situation
from hydra.ranking.measured import WINNERS
from hydra.ranking.measured_fixes import FIXES
from hydra.ranking.selection import CAP, TIMES, Test, chances, telling

CELLS = st.sampled_from([True, True, False, False, None])


def order(values: Sequence[float]) -> tuple[int, ...]:
    """The rank of each chance, from 1; those that hardly differ share one."""
    ranks = [0] * len(values)
    leader, rank = float("inf"), 0
    for place, index in enumerate(sorted(range(len(values)), key=lambda index: -values[index]), 1):
        if leader - values[index] > 1e-9 * leader or not rank:
            leader, rank = values[index], place
        ranks[index] = rank
    return tuple(ranks)


@st.composite
def pools(draw: st.DrawFn, least: int = 1, most: int = 12) -> tuple[int, list[Test]]:
    """Up to six candidates, a few kinds of tests of known and unknown authors."""
    lanes = draw(st.integers(least, 6))
    test = st.builds(
        Test,
        st.one_of(st.none(), st.integers(0, lanes - 1)),
        st.tuples(*[CELLS] * lanes),
        st.integers(1, 15),
    )
    return lanes, draw(st.lists(test, max_size=most))


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


@given(pools(), st.data(), st.integers(1, 1000))
def test_copies_of_one_authors_test_beyond_the_cap_change_nothing(
    pool: tuple[int, list[Test]], data: st.DataObject, more: int
) -> None:
    lanes, tests = pool
    author = data.draw(st.integers(0, lanes - 1))
    cells = data.draw(st.tuples(*[CELLS] * lanes))
    at_cap = [*tests, Test(author, cells, CAP)]
    assert chances(lanes, [*at_cap, Test(author, cells, more)]) == chances(lanes, at_cap)


@pytest.mark.slow
@given(pools(2), st.data(), st.integers(CAP, 100))
def test_all_tests_of_a_loud_author_weigh_as_one(
    pool: tuple[int, list[Test]], data: st.DataObject, many: int
) -> None:
    lanes, tests = pool
    loud = data.draw(st.integers(0, lanes - 1))
    others = [Test(test.author, test.results) for test in tests if test.author != loud]
    brought = [sum(test.author == lane for test in telling(others)) for lane in range(lanes)]
    assume(max(brought) * TIMES < CAP)
    own = tuple(lane == loud for lane in range(lanes))
    once = chances(lanes, [*others, Test(loud, own)])
    assert chances(lanes, [*others, Test(loud, own, many)]) == pytest.approx(once, rel=1e-9)


def test_a_loud_right_lane_still_says_which_patch_is_right() -> None:
    """What its tests ask, whoever it is that passes them, is not lost."""
    loud = Test(0, (True, True, False, False), 8)
    values = chances(4, [loud])
    assert order(values) == (1, 1, 3, 3)
    assert order(chances(4, [loud, Test(2, (False, False, True, True))])) == (1, 1, 1, 1)


@given(pools(2), st.data())
def test_lanes_that_no_telling_test_was_tried_on_are_no_crowd(
    pool: tuple[int, list[Test]], data: st.DataObject
) -> None:
    """However many there are: each is no likelier than were it alone."""
    lanes, tests = pool
    assume(telling(tests))
    untried = data.draw(st.integers(1, 4))
    more = [Test(t.author, (*t.results, *[None] * untried), t.count) for t in tests]
    crowd = chances(lanes + untried, more)[lanes:]
    assert len({*crowd}) == 1
    assert sum(crowd) <= 1 + 1e-9


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


def test_not_tried_is_neither_passed_nor_failed() -> None:
    """A lane that others' tests were not tried on stands between one that passes and one that
    fails them."""
    tests = [Test(3, (True, None, False, True)), Test(0, (True, None, False, True), 2)]
    passed, unknown, failed, _ = chances(4, tests)
    assert passed > unknown > failed


def test_confidence_is_what_was_measured_and_never_made_up() -> None:
    assert confidence().word == "unknown"
    assert confidence(1, [], [0]).share is None
    nothing = confidence(3, [Test(0, (True, True, True))], [0, 1, 2])
    assert (nothing.word, nothing.share) == ("unknown", None)
    tests = [Test(lane, (True, True, True, False)) for lane in range(3)]
    case = situation(4, tests, [0, 1, 2])
    assert case is not None
    assert case == (4, 3, False)
    item = confidence(4, tests, [0, 1, 2])
    assert item.share == WINNERS[case][1]
    assert "3 of 4" in item.why


def test_a_proved_winner_is_held_against_fixes() -> None:
    alone = confidence(3, [Test(0, (True, False, False))], [0], witnesses=[0], proved=True)
    assert (alone.word, alone.share) == ("high", FIXES[0, 0][1])
    assert all(number <= 1000 and 0 < share < 1 for number, share in FIXES.values())
    nothing_tells = confidence(2, [], [0], proved=True)
    assert nothing_tells.share == max(FIXES[0, 0][1], FIXES[1, 0][1])


def test_a_winner_with_a_test_that_was_not_tried_is_of_unknown_confidence() -> None:
    agreed = [Test(lane, (True, True, True, False)) for lane in range(3)]
    assert confidence(4, agreed, [0]).word == "high"
    assert confidence(4, [*agreed, Test(1, (True, True, None, False))], [0]).word == "fair"
    shown = confidence(4, [*agreed, Test(1, (None, True, True, False))], [0])
    assert (shown.word, shown.share) == ("unknown", None)
    assert shown.why == "some new tests have no result on the first patch"


def test_only_witnesses_agree_and_all_patches_are_counted() -> None:
    tests = [Test(lane, (True, True, True, False)) for lane in range(3)]
    shown = confidence(4, tests, [0], witnesses=[1])
    assert shown.share == WINNERS[4, 2, False][1]
    assert shown.why == f"2 of 4 patches agree on the new tests; {ASIDE}"
    without = confidence(4, tests, [0], witnesses=[1, 2])  # the fourth does not agree anyhow
    assert without.why == "3 of 4 patches agree on the new tests"
    alone = confidence(4, tests, [0], witnesses=[])
    assert alone.share == WINNERS[4, 1, False][1]
    assert alone.why == f"no other patch agrees with it on the new tests; {ASIDE}"


ASIDE = "patches that are broken, held back or do nothing are not counted"

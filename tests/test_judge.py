"""The verdict: gates, ranks, ties, the cross-test matrix, and what they are said to be."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hydra.analysis.patch import Finding
from hydra.ranking import gates
from hydra.ranking.collect import _lane as lane_as_judged
from hydra.ranking.evidence import Evidence, LaneEvidence, Note, ReviewTest
from hydra.ranking.gates import matches
from hydra.ranking.model import CrossTest, Verdict
from hydra.ranking.ranks import Measure, deciding_measure, rank_groups
from hydra.ranking.results import PutBack
from hydra.ranking.unchecked import untested_places
from hydra.ranking.verdict import rank as verdict
from hydra.ranking.verdict import undecided
from hydra.records.request import Check
from hydra.text import quoted_names
from tests.support.evidences import (
    cross,
    evidence,
    file,
    lane,
    result,
)
from tests.support.rendering import as_race
from tests.support.tables import table_rows

BASE = result({"t::test_one": True, "t::test_two": False}, name="_base")
GOOD = {"t::test_one": True, "t::test_two": True}


def asked(id: str, **ends: bool) -> ReviewTest:
    return ReviewTest(id=id, agent="m", ends=ends, on_base=False, file="consult/1/x.json")


def rivals(*names: str) -> list[LaneEvidence]:
    """Lanes that fix nothing that a check sees."""
    files = {name: [file(new=f"x = {name!r}\n")] for name in names}
    return [lane(name, result(GOOD), base=[BASE], files=files[name]) for name in names]


def test_asked_tests_change_no_probability() -> None:
    """Neither by who passes them, nor by telling that a witness acts as the base."""
    mine = lane("a", result({**GOOD, "t::new": True}), base=[BASE])
    ends = {"": False, "b": True, "c": True, "d": False}
    trials = [cross("a", on, {**GOOD, "t::new": end}, BASE) for on, end in ends.items()]
    lanes = [mine, *rivals("b", "c", "d")]
    before = verdict(evidence(lanes, [BASE], trials=trials))
    tests = (asked("t::x", a=True, b=False, c=True, d=False),)
    after = verdict(evidence(lanes, [BASE], trials=trials, review_tests=tests))
    assert [lane_verdict.rank for lane_verdict in before.lanes] != [
        lane_verdict.rank for lane_verdict in after.lanes
    ]
    assert before.confidence.share is not None
    assert after.confidence == before.confidence


def test_unknown_neither_wins_nor_loses() -> None:
    values = {"a": 1.0, "b": None, "c": 3.0}
    assert rank_groups(list(values), [Measure("x", values)]) == [["a", "b", "c"]]
    assert rank_groups(list(values), [Measure("x", {**values, "b": 2.0})]) == [["c"], ["b"], ["a"]]


def test_what_told_two_apart_is_what_did() -> None:
    """Not what is known of both of them alone: unknown for a third, it has told nobody apart."""
    first = Measure("first", {"a": 2.0, "b": 1.0, "c": None})
    then = Measure("then", {"a": 1.0, "b": 0.0, "c": 0.0})
    assert rank_groups(list("abc"), [first, then]) == [["a"], ["b", "c"]]
    assert deciding_measure("a", "b", list("abc"), [first, then]) == "then"
    assert deciding_measure("b", "c", list("abc"), [first, then]) == ""


def test_notes_of_a_reviewer_change_nothing() -> None:
    lanes = [lane("a", result(GOOD), base=[BASE]), lane("bb", result(GOOD), base=[BASE])]
    facts = evidence(lanes, [BASE])
    noted = replace(facts, notes=(Note("claude", "patch B must win"),))
    assert verdict(noted).lanes == verdict(facts).lanes


@pytest.mark.parametrize(
    ("pattern", "path", "holds"),
    table_rows("judge", "protected_paths"),
)
def test_protected_paths(pattern: str, path: str, holds: bool) -> None:
    assert matches(path, (pattern,)) is holds


@pytest.mark.parametrize(
    ("test", "ran", "about"),
    table_rows("judge", "what_befell_another_test_is_not_said_of_one"),
)
def test_what_befell_another_test_is_not_said_of_one(
    test: str, ran: Sequence[str], about: Sequence[int]
) -> None:
    back = PutBack(fails=dict.fromkeys(ran, False), ends=dict.fromkeys(ran, "failed"))
    suspect = Finding(
        kind="expectation_changed",
        weight="suspect",
        text="",
        path="tests/test_up.py",
        tests=(test,),
    )
    assert gates.tests_of(suspect, back) == [ran[at] for at in about]


# ---- properties (the fourth point)


@st.composite
def pools(draw: st.DrawFn) -> Evidence:
    """Some lanes with new tests of their own, tried on each other, some of them gated."""
    names = [f"lane{i}" for i in range(draw(st.integers(2, 5)))]
    brought = {name: [f"{name}::t{n}" for n in range(draw(st.integers(0, 3)))] for name in names}
    own: dict[str, dict[str, bool]] = {}
    trials = []
    for name in names:
        ends = {"t::test_one": draw(st.integers(0, 9)) > 0, "t::test_two": draw(st.booleans())}
        own[name] = {**ends, **{id: draw(st.integers(0, 5)) > 0 for id in brought[name]}}
    for author in names:
        for on in (*names, ""):
            if on != author and brought[author]:
                ends = {id: draw(st.booleans()) for id in brought[author]}
                trials.append(
                    cross(author, on, {"t::test_one": True, "t::test_two": False, **ends}, BASE)
                )
    lanes = [
        lane(
            name,
            result(own[name]),
            base=[BASE],
            files=[file(new=f"x = {name!r}\n" * draw(st.integers(1, 2)))],
            seconds=draw(st.sampled_from([10.0, 11.0, 20.0])),
        )
        for name in names
    ]
    return evidence(lanes, [BASE], trials=tuple(trials))


def ranks(item: Verdict) -> dict[str, int | None]:
    return {lane_verdict.lane: lane_verdict.rank for lane_verdict in item.lanes}


@settings(max_examples=30, deadline=None)
@given(pools(), st.randoms(use_true_random=False))
def test_the_rank_follows_neither_names_nor_the_order_of_lanes_or_trials(
    known: Evidence, shuffled: random.Random
) -> None:
    new = {each.lane: f"z{9 - place}" for place, each in enumerate(known.lanes)} | {"": ""}
    lanes = [replace(each, lane=new[each.lane], tree=new[each.lane]) for each in known.lanes]
    trials = [replace(each, on=new[each.on], author=new[each.author]) for each in known.trials]
    shuffled.shuffle(lanes)
    shuffled.shuffle(trials)
    other = replace(known, lanes=tuple(lanes), trials=tuple(trials))
    was = ranks(verdict(known))
    assert ranks(verdict(other)) == {new[name]: rank for name, rank in was.items()}


@settings(max_examples=30, deadline=None)
@given(pools())
def test_a_gate_is_never_outvoted(known: Evidence) -> None:
    item = verdict(known)
    first = [lane_verdict.rank or 0 for lane_verdict in item.lanes if lane_verdict.passes_gates]
    numbers = [
        lane_verdict.rank or 0 for lane_verdict in item.lanes if not lane_verdict.passes_gates
    ]
    assert not first or not numbers or max(first) < min(numbers)


@pytest.mark.parametrize(
    ("fails", "says"),
    [
        ({"a": ["b"], "b": ["a"]}, "each fails the other's new tests"),
        ({"a": ["b"], "b": []}, "new tests end differently on them, and nothing says which are"),
        ({"a": ["c"], "b": ["c"]}, "no test tells them apart"),
    ],
)
def test_why_none_of_two_comes_first(fails: dict[str, list[str]], says: str) -> None:
    rows = [
        CrossTest(
            id=f"t::{author}",
            author=author,
            check="pytest",
            base="failed",
            cells={
                "c": "passed",
                **{lane: "failed" if author in fails[lane] else "passed" for lane in "ab"},
            },
            weighs=True,
            files={},
        )
        for author in "abc"
    ]
    assert undecided(("a", "b"), rows).startswith(says)


def test_a_test_whose_name_is_a_sentence_is_in_quotes() -> None:
    names = ["allows for empty strings, zero and null", "t::test_up"]
    assert quoted_names(names) == '"allows for empty strings, zero and null", t::test_up'


UP, DOWN = "t.py::test_up", "t.py::test_down"


@pytest.mark.parametrize(
    ("commands", "paths", "says"),
    table_rows("judge", "a_folder_that_no_check_runs_in_and_the_patch_changes_is_said"),
)
def test_a_folder_that_no_check_runs_in_and_the_patch_changes_is_said(
    commands: tuple[str, ...], paths: tuple[str, ...], says: str
) -> None:
    checks = [Check(f"c{number}", command) for number, command in enumerate(commands)]
    ends = {UP: True, DOWN: False}
    base = [result(ends, check, name="_base") for check in checks]
    now = [result(dict.fromkeys(ends, True), check) for check in checks]
    patch = lane("a", *now, base=base, files=[file(path) for path in paths])
    notes = list(untested_places(evidence([patch], base)))
    tests = "tests were not run (race from the top, or name a check for them)"
    assert notes == ([f"a also changes {says} {tests}"] if says else [])


@pytest.mark.parametrize(
    ("status", "patch", "says"),
    [
        ("failed", None, "it broke"),
        ("failed", {"files": 0, "commit": "b", "base": "b"}, "it broke"),
        ("failed", {"files": 1, "commit": "c", "base": "b"}, "failed: it broke"),
        ("interrupted", {"files": 1, "commit": "c", "base": "b"}, "it broke"),
        ("completed", None, ""),
    ],
)
def test_how_a_lane_ended_is_said_once(status: str, patch: object, says: str) -> None:
    """Its state has the word already, where it left no patch."""
    ending = {"lane": "a", "status": status, "error": {"message": "it broke"}, "patch": patch}
    (lane,) = as_race({"lanes": [ending]}).lanes
    assert lane_as_judged(lane).ended == says

"""The verdict: gates, ranks, ties, the cross-test matrix, and what they are said to be."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydra.checks.record import Status
from hydra.judge.evidence import Asked, Evidence, Note, NotTried
from hydra.judge.gates import matches
from hydra.judge.order import Measure, ranked, told_apart
from hydra.judge.rank import verdict
from hydra.judge.verdict import LaneVerdict, Verdict
from hydra.model import Check
from hydra.reporters.verdict import verdict_document
from tests.support.evidences import (
    cross,
    evidence,
    file,
    lane,
    plain,
    protected,
    result,
)

BASE = result({"t::test_one": True, "t::test_two": False}, name="_base")
GOOD = {"t::test_one": True, "t::test_two": True}
LINT = Check("ruff", "ruff check", "lint", required=False)
BUILD = Check("build", "make", "build")
CONFTEST = """import pytest


@pytest.fixture(autouse=True)
def patched(monkeypatch):
    monkeypatch.setattr("pager.f", lambda number: number)
"""
TESTS = "def test_one():\n    assert f(1) == 1\n    assert f(2) == 2\n"


def one(found: Verdict, name: str) -> LaneVerdict:
    return next(it for it in found.lanes if it.lane == name)


def texts(found: LaneVerdict) -> str:
    return "\n".join(reason.text for reason in (*found.gates, *found.reasons))


def test_the_lane_that_fixes_more_is_first_however_large_it_is() -> None:
    large = file(new="x = 1\n" * 50)
    lanes = [
        lane("small", result({"t::test_one": True, "t::test_two": False}), base=[BASE]),
        lane("large", result(GOOD), base=[BASE], files=[large]),
    ]
    found = verdict(evidence(lanes, [BASE]))
    assert found.top == "large"
    assert [it.lane for it in found.lanes] == ["large", "small"]
    assert "fixes the one failure of the base in pytest" in texts(one(found, "large"))
    assert all(it.mergeable for it in found.lanes)


def test_a_broken_test_is_a_gate_with_its_name_and_its_file() -> None:
    lanes = [lane("a", result({"t::test_one": False, "t::test_two": True}, name="a"), base=[BASE])]
    found = one(verdict(evidence(lanes, [BASE])), "a")
    assert not found.mergeable
    assert "t::test_one" in found.gates[0].text
    assert found.gates[0].file == "checks/1/a/pytest.json"


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"ended": "timed out: idle for 10:00"}, "idle for 10:00; its patch is kept"),
        ({"files": [file("secret/key.py")]}, "touches 1 protected path: secret/key.py"),
    ],
)
def test_gates_that_need_no_tests(changed: dict[str, object], says: str) -> None:
    lanes = [lane("a", result(GOOD), base=[BASE], **changed)]  # type: ignore[arg-type]
    found = one(verdict(evidence(lanes, [BASE], protected=("secret/",))), "a")
    assert says in texts(found)
    assert not found.mergeable
    assert found.rank == 1


def test_nothing_changed_has_no_rank() -> None:
    empty = replace(lane("a"), files=(), patch=None)
    found = verdict(evidence([empty], [BASE]))
    assert found.lanes[0].rank is None
    assert found.lanes[0].gates[0].text == "changed nothing"
    assert found.top == ""
    assert found.says == "no lane left a patch"


def test_an_incomplete_patch_is_never_mergeable() -> None:
    held = lane("a", result(GOOD), base=[BASE])
    assert held.patch is not None
    cut = replace(held, patch=replace(held.patch, incomplete="over 1 GB"))
    found = one(verdict(evidence([cut], [BASE])), "a")
    assert "its patch is incomplete: over 1 GB" in texts(found)


def test_a_patch_that_does_not_build() -> None:
    base = plain(True, BUILD)
    lanes = [lane("a", plain(False, BUILD, name="a"), base=[base])]
    found = one(verdict(evidence(lanes, [base])), "a")
    assert found.gates[0].text.startswith("does not build: ")


def test_what_was_mended_in_the_test_alone_is_a_gate() -> None:
    weaker = file(
        "tests/test_a.py",
        "def test_two():\n    assert f(2) == 2\n",
        "def test_two():\n    assert f(2) == 3\n",
    )
    cheat = lane("cheat", result(GOOD), base=[BASE], files=[weaker])
    put_back = protected("cheat", {"t::test_one": True, "t::test_two": False}, BASE)
    honest = lane("honest", result(GOOD), base=[BASE])
    found = verdict(evidence([cheat, honest], [BASE], trials=(put_back,)))
    held = one(found, "cheat")
    assert found.top == "honest"
    assert "the base's version still fails with it" in texts(held)
    assert not held.mergeable


def test_a_changed_expectation_that_the_other_lanes_share_is_no_gate() -> None:
    """The task may ask for it: the base's own then fails on every right patch."""
    base = result({"t::test_one": True}, name="_base")
    changed = file(
        "tests/test_a.py",
        "def test_one():\n    assert f(1) == 1\n",
        "def test_one():\n    assert f(1) == 2\n",
    )
    lanes = [
        lane(it, result({"t::test_one": True}), base=[base], files=[changed, file(new=it)])
        for it in ("a", "b", "c")
    ]
    back = [protected(it, {"t::test_one": False}, base) for it in ("a", "b", "c")]
    found = verdict(evidence(lanes, [base], trials=tuple(back)))
    assert all(it.mergeable for it in found.lanes)
    alone = verdict(evidence(lanes[:1], [base], trials=tuple(back[:1])))
    assert not one(alone, "a").mergeable


def test_configuration_is_a_gate_only_where_the_bases_own_fails() -> None:
    config = file("conftest.py", "import pytest\n", CONFTEST)
    lanes = [lane("a", result(GOOD), base=[BASE], files=[config, file()])]
    clean = protected("a", GOOD, BASE, configuration=True)
    fails = protected("a", {"t::test_one": False, "t::test_two": True}, BASE, configuration=True)
    assert one(verdict(evidence(lanes, [BASE], trials=(clean,))), "a").mergeable
    held = one(verdict(evidence(lanes, [BASE], trials=(fails,))), "a")
    assert not held.mergeable
    cannot = replace(clean, result=replace(clean.result, status=Status.NO_TESTS, comparison=None))
    assert not one(verdict(evidence(lanes, [BASE], trials=(cannot,))), "a").mergeable


def test_cross_tests_decide_between_lanes_that_pass_all_of_the_base() -> None:
    brings = {**GOOD, "t::edge": True}
    right = lane("right", result(brings), base=[BASE])
    wrong = lane("wrong", result(GOOD), base=[BASE])
    third = lane("third", result(GOOD), base=[BASE], files=[file(new="x = 33\n")])
    trials = (
        cross("right", "wrong", {**GOOD, "t::edge": False}, BASE),
        cross("right", "third", {**GOOD, "t::edge": True}, BASE),
        cross("right", "", {"t::test_one": True, "t::test_two": False, "t::edge": False}, BASE),
    )
    found = verdict(evidence([wrong, right, third], [BASE], trials=trials))
    assert [row.id for row in found.cross] == ["t::edge"]
    row = found.cross[0]
    assert row.weighs
    assert dict(row.cells) == {"right": "own", "wrong": "failed", "third": "passed"}
    assert one(found, "wrong").rank == 3
    assert "fails right's 1 new test: t::edge" in texts(one(found, "wrong"))
    assert "passes right's 1 new test" in texts(one(found, "third"))


@pytest.mark.parametrize(
    ("on_wrong", "on_base", "says"),
    [
        (True, False, "passes on every patch"),
        (True, True, "passes on the base"),
        (False, True, "passes on the base"),
    ],
)
def test_a_test_that_tells_nothing_weighs_nothing(on_wrong: bool, on_base: bool, says: str) -> None:
    right = lane("right", result({**GOOD, "t::edge": True}), base=[BASE], files=[file(new="y\n")])
    wrong = lane("wrong", result(GOOD), base=[BASE], files=[file(new="z\n")])
    trials = (
        cross("right", "wrong", {**GOOD, "t::edge": on_wrong}, BASE),
        cross("right", "", {"t::test_one": True, "t::test_two": False, "t::edge": on_base}, BASE),
    )
    found = verdict(evidence([wrong, right], [BASE], trials=trials))
    assert not found.cross[0].weighs
    assert found.cross[0].says == says
    assert one(found, "right").chance is None


def test_a_test_that_fails_on_every_patch_says_so() -> None:
    own = lane("a", result({**GOOD, "t::odd": False}), base=[BASE])
    other = lane("b", result(GOOD), base=[BASE])
    trials = (cross("a", "b", {**GOOD, "t::odd": False}, BASE),)
    found = verdict(evidence([own, other], [BASE], trials=trials))
    assert found.cross[0].says == "fails on every patch"
    assert "1 new test of its own fails on every patch, so tells nothing: t::odd" in texts(
        one(found, "a")
    )


def test_a_test_that_an_agent_was_asked_for_weighs_as_nobodys_own() -> None:
    lanes = [
        lane(it, result(GOOD), base=[BASE], files=[file(new=f"x = {it!r}\n")]) for it in ("a", "b")
    ]
    asked = Asked(id="t::apart", agent="a", ends={"a": False, "b": True}, file="consult/1/x.json")
    found = verdict(evidence(lanes, [BASE], asked=(asked,)))
    assert found.top == "b"
    assert found.cross[0].author == "asked of a"
    assert "fails 1 of asked of a's" not in texts(one(found, "a"))
    assert "fails the 1 new test that a was asked for: t::apart" in texts(one(found, "a"))


def test_a_test_that_is_mended_in_the_test_alone_is_not_called_a_fix() -> None:
    cheat = lane("cheat", result(GOOD), base=[BASE])
    put_back = protected("cheat", {"t::test_one": True, "t::test_two": False}, BASE)
    told = texts(one(verdict(evidence([cheat], [BASE], trials=(put_back,))), "cheat"))
    assert "does not fix the one failure of the base in pytest" in told
    assert "pytest: t::test_two passes with its own tests, not with the base's" in told


def test_what_fails_with_either_tests_is_not_said_to_pass() -> None:
    still = lane("a", result({"t::test_one": True, "t::test_two": False}), base=[BASE])
    put_back = protected("a", {"t::test_one": True, "t::test_two": False}, BASE)
    told = texts(one(verdict(evidence([still], [BASE], trials=(put_back,))), "a"))
    assert "with the base's tests, t::test_two fails, as with its own" in told
    assert "pass on its code" not in told


def test_a_fix_whose_test_goes_by_another_name_counts_as_much_as_any() -> None:
    """However it ends under the new name: what counts is the base's own, put back."""
    renamed = lane("renamed", result({"t::test_one": True, "t::test_deux": True}), base=[BASE])
    small = file(new="x = 22\n")
    idle = lane(
        "idle", result({"t::test_one": True, "t::test_two": False}), base=[BASE], files=[small]
    )
    put_back = protected("renamed", GOOD, BASE)
    found = verdict(evidence([idle, renamed], [BASE], trials=(put_back,)))
    assert found.top == "renamed"
    assert "; so t::test_two passes, which fails on the base" in texts(one(found, "renamed"))
    plainly = lane("plain", result(GOOD), base=[BASE], files=[file(new="x = 3333333\n")])
    both = verdict(evidence([plainly, renamed], [BASE], trials=(put_back,)))
    assert [it.rank for it in both.lanes] == [1, 1]
    cut = NotTried(kind="protected", on="renamed", why="the limit of 40 runs was reached")
    unknown = verdict(evidence([idle, renamed], [BASE], not_tried=(cut,)))
    assert [it.rank for it in unknown.lanes] == [1, 1]


def test_of_two_that_are_held_back_the_one_without_tests_has_fixed_no_more() -> None:
    none = result({}, status=Status.NO_TESTS)
    bare = lane("bare", replace(none, tests=None), base=[BASE])
    broken = lane("broken", result({"t::test_one": False, "t::test_two": True}), base=[BASE])
    put_back = protected("bare", {"t::test_one": True, "t::test_two": False}, BASE)
    found = verdict(evidence([bare, broken], [BASE], trials=(put_back,)))
    assert [it.lane for it in found.lanes] == ["broken", "bare"]
    assert "with the base's tests, t::test_two fails" in texts(one(found, "bare"))


def test_a_file_that_cannot_be_imported_is_no_new_test() -> None:
    broken = lane("a", result({"t": False}), base=[BASE])
    other = lane("b", result(GOOD), base=[BASE], files=[file(new="y\n")])
    found = verdict(evidence([broken, other], [BASE]))
    assert "pytest: t fails as a whole" in texts(one(found, "a"))
    assert "new test" not in texts(one(found, "a"))
    assert found.cross == ()


def test_what_a_lane_fails_of_others_comes_before_what_it_says_of_itself() -> None:
    shout = {f"t::loud_{number}": True for number in range(4)}
    lanes = [
        lane("shouts", result({**GOOD, **shout}), base=[BASE], files=[file(new="a\n")]),
        lane("right", result({**GOOD, "t::edge": True}), base=[BASE], files=[file(new="b\n")]),
        lane("third", result(GOOD), base=[BASE], files=[file(new="c\n")]),
    ]
    failed = dict.fromkeys(shout, False)
    trials = (
        *(cross("shouts", it, {**GOOD, **failed}, BASE) for it in ("right", "third", "")),
        *(
            cross("right", it, {**GOOD, "t::edge": it == "third"}, BASE)
            for it in ("shouts", "third", "")
        ),
    )
    found = verdict(evidence(lanes, [BASE], trials=trials))
    said = [it.text for it in one(found, "shouts").reasons if it.kind == "cross"]
    assert said[0] == "fails right's 1 new test: t::edge"
    assert said[0] in one(found, "shouts").why
    said = [it.text for it in one(found, "right").reasons if it.kind == "cross"]
    assert said[0] == "1 new test of its own fails on the base and passes here"
    assert said[-1].startswith("fails shouts's 4 new tests, which pass on no other patch: ")


def test_a_test_that_is_skipped_as_it_runs_and_fails_once_it_is_put_back_is_a_gate() -> None:
    """No reading shows it: setUp() skips it, or a helper does."""
    ran = result(GOOD)
    assert ran.tests is not None
    cases = tuple(
        replace(it, status="skipped") if it.id == "t::test_two" else it for it in ran.tests.cases
    )
    skips = lane("a", replace(ran, tests=replace(ran.tests, cases=cases)), base=[BASE])
    put_back = protected("a", {"t::test_one": True, "t::test_two": False}, BASE)
    held = one(verdict(evidence([skips], [BASE], trials=(put_back,))), "a")
    assert [it.text for it in held.gates] == [
        "skips t::test_two in pytest; run as on the base, it fails"
    ]
    clean = protected("a", GOOD, BASE)
    assert one(verdict(evidence([skips], [BASE], trials=(clean,))), "a").mergeable


def test_a_check_that_passes_and_names_none_of_its_tests_is_a_gate() -> None:
    silent = lane("a", replace(result(GOOD), tests=None), base=[BASE])
    other = lane("b", result(GOOD), base=[BASE], files=[file(new="x = 1\n" * 9)])
    found = verdict(evidence([silent, other], [BASE]))
    assert found.top == "b"
    (gate,) = one(found, "a").gates
    assert gate.text.startswith("pytest passes and names no test; on the base ")
    clean = protected("a", GOOD, BASE)
    assert one(verdict(evidence([silent, other], [BASE], trials=(clean,))), "a").mergeable
    named = replace(BASE, tests=None)
    bare = lane("a", replace(result(GOOD), tests=None), base=[named])
    assert one(verdict(evidence([bare], [named])), "a").mergeable


def test_a_tie_is_called_a_tie() -> None:
    lanes = [
        lane(it, result(GOOD), base=[BASE], files=[file(new=f"x = {it!r}\n")]) for it in ("a", "b")
    ]
    found = verdict(evidence(lanes, [BASE]))
    assert [it.rank for it in found.lanes] == [1, 1]
    assert found.top == ""
    assert found.says.startswith("a and b are tied")


def test_the_very_same_patch_is_no_tie_to_ask_about() -> None:
    lanes = [lane(it, result(GOOD), base=[BASE], tree="t", files=[file()]) for it in ("a", "b")]
    found = verdict(evidence(lanes, [BASE]))
    assert found.top == "a"
    assert one(found, "b").tied == ("a",)
    assert "b left the very same patch" in found.says


def test_size_only_breaks_ties_and_tests_do_not_count_as_size() -> None:
    small = lane("small", result(GOOD), base=[BASE], files=[file(new="x\ny\n")])
    tests = file("tests/test_new.py", None, TESTS * 30)
    large = lane("with-tests", result(GOOD), base=[BASE], files=[file(new="x = 7\n"), tests])
    found = verdict(evidence([small, large], [BASE]))
    assert found.top == "with-tests"
    assert "equal to small in all that was tested, and smaller: 2 against 3 lines of code" in texts(
        found.lanes[0]
    )


def test_unknown_neither_wins_nor_loses() -> None:
    values = {"a": 1.0, "b": None, "c": 3.0}
    assert ranked(list(values), [Measure("x", values)]) == [["a", "b", "c"]]
    assert ranked(list(values), [Measure("x", {**values, "b": 2.0})]) == [["c"], ["b"], ["a"]]


def test_what_told_two_apart_is_what_did() -> None:
    """Not what is known of both of them alone: unknown for a third, it has told nobody apart."""
    first = Measure("first", {"a": 2.0, "b": 1.0, "c": None})
    then = Measure("then", {"a": 1.0, "b": 0.0, "c": 0.0})
    assert ranked(list("abc"), [first, then]) == [["a"], ["b", "c"]]
    assert told_apart("a", "b", list("abc"), [first, then]) == "then"
    assert told_apart("b", "c", list("abc"), [first, then]) == ""


def test_what_was_not_tried_is_said() -> None:
    cut = NotTried(kind="protected", on="a", why="the limit of 40 runs was reached")
    lanes = [lane("a", result(GOOD), base=[BASE])]
    found = verdict(evidence(lanes, [BASE], not_tried=(cut,)))
    assert found.not_tried == (
        "not tried: the base's tests on 1 patch (the limit of 40 runs was reached)",
    )
    assert "the base's tests were not run with it" in texts(found.lanes[0])


def test_notes_of_a_reviewer_change_nothing() -> None:
    lanes = [lane("a", result(GOOD), base=[BASE]), lane("bb", result(GOOD), base=[BASE])]
    known = evidence(lanes, [BASE])
    noted = replace(known, notes=(Note("bb", "claude", "patch B must win"),))
    assert verdict(noted).lanes == verdict(known).lanes
    assert verdict(noted).notes[0].text == "claude on bb: patch B must win"


def test_the_score_leaves_out_what_is_unknown() -> None:
    lanes = [lane("a", result(GOOD), plain(True, LINT), base=[BASE])]
    score = verdict(evidence(lanes, [BASE])).lanes[0].score
    assert score is not None
    held = {it.name: it.value for it in score.dimensions}
    assert held["build"] is None
    assert held["lint"] == 100
    assert held["tests"] == 100
    assert score.total == 100


@pytest.mark.parametrize(
    ("pattern", "path", "held"),
    [
        ("db/", "db/schema.sql", True),
        ("db", "src/db/schema.sql", True),
        ("/db", "src/db/x", False),
        ("*.sql", "a/b.sql", True),
        ("src/*.py", "src/a/b.py", False),
        ("src/**/x.py", "src/x.py", True),
        ("src/**/x.py", "src/a/b/x.py", True),
        ("a.py", "a.pyc", False),
        ("a?c", "abc", True),
    ],
)
def test_protected_paths(pattern: str, path: str, held: bool) -> None:
    assert matches(path, (pattern,)) is held


# ---- properties (the fourth point)


@st.composite
def pools(draw: st.DrawFn) -> Evidence:
    """Some lanes with new tests of their own, tried on each other, some of them gated."""
    names = [f"lane{i}" for i in range(draw(st.integers(2, 5)))]
    brought = {it: [f"{it}::t{n}" for n in range(draw(st.integers(0, 3)))] for it in names}
    own: dict[str, dict[str, bool]] = {}
    trials = []
    for it in names:
        ends = {"t::test_one": draw(st.integers(0, 9)) > 0, "t::test_two": draw(st.booleans())}
        own[it] = {**ends, **{id: draw(st.integers(0, 5)) > 0 for id in brought[it]}}
    for author in names:
        for on in (*names, ""):
            if on != author and brought[author]:
                ends = {id: draw(st.booleans()) for id in brought[author]}
                trials.append(
                    cross(author, on, {"t::test_one": True, "t::test_two": False, **ends}, BASE)
                )
    lanes = [
        lane(
            it,
            result(own[it]),
            base=[BASE],
            files=[file(new=f"x = {it!r}\n" * draw(st.integers(1, 2)))],
            seconds=draw(st.sampled_from([10.0, 11.0, 20.0])),
        )
        for it in names
    ]
    return evidence(lanes, [BASE], trials=tuple(trials))


def ranks(found: Verdict) -> dict[str, int | None]:
    return {it.lane: it.rank for it in found.lanes}


@settings(max_examples=60, deadline=None)
@given(pools(), st.randoms(use_true_random=False))
def test_the_rank_does_not_follow_the_order_of_lanes_or_trials(
    known: Evidence, shuffled: random.Random
) -> None:
    lanes, trials = list(known.lanes), list(known.trials)
    shuffled.shuffle(lanes)
    shuffled.shuffle(trials)
    other = replace(known, lanes=tuple(lanes), trials=tuple(trials))
    assert ranks(verdict(other)) == ranks(verdict(known))


@settings(max_examples=60, deadline=None)
@given(pools())
def test_the_rank_does_not_follow_names(known: Evidence) -> None:
    new = {it.lane: f"z{9 - place}" for place, it in enumerate(known.lanes)} | {"": ""}
    renamed = replace(
        known,
        lanes=tuple(replace(it, lane=new[it.lane], tree=new[it.lane]) for it in known.lanes),
        trials=tuple(replace(it, on=new[it.on], author=new[it.author]) for it in known.trials),
    )
    was = ranks(verdict(known))
    assert ranks(verdict(renamed)) == {new[name]: rank for name, rank in was.items()}


@settings(max_examples=60, deadline=None)
@given(pools(), st.booleans())
def test_a_test_that_all_pass_or_all_fail_changes_no_rank(known: Evidence, end: bool) -> None:
    author = known.lanes[0]
    extra = {"all::same": end}

    def with_it(held: object) -> object:
        tests = {case.id: case.status == "passed" for case in held.tests.cases}  # type: ignore[attr-defined]
        return result({**tests, **extra})

    lanes = list(known.lanes)
    lanes[0] = lane(
        author.lane,
        with_it(author.checks[0]),  # type: ignore[arg-type]
        base=[BASE],
        files=author.files,
        seconds=author.seconds or 0,
    )
    trials = [it for it in known.trials if it.author != author.lane]
    for on in (*(it.lane for it in lanes[1:]), ""):
        held = next((t for t in known.trials if t.author == author.lane and t.on == on), None)
        cases = (
            {c.id: c.status == "passed" for c in held.result.tests.cases}
            if held and held.result.tests
            else {"t::test_one": True, "t::test_two": False}
        )
        trials.append(cross(author.lane, on, {**cases, "all::same": end if on else False}, BASE))
    other = replace(known, lanes=tuple(lanes), trials=tuple(trials))
    was, now = verdict(known), verdict(other)
    if end:  # a test of one's own that fails may hold its check back
        assert ranks(now) == ranks(was)
    assert all(not row.weighs for row in now.cross if row.id == "all::same")


@settings(max_examples=60, deadline=None)
@given(pools())
def test_a_gate_is_never_outvoted(known: Evidence) -> None:
    found = verdict(known)
    mergeable = [it.rank or 0 for it in found.lanes if it.mergeable]
    held = [it.rank or 0 for it in found.lanes if not it.mergeable]
    assert not mergeable or not held or max(mergeable) < min(held)
    assert all(bool(it.gates) != it.mergeable for it in found.lanes)


def test_a_patch_that_bends_the_test_tool_is_not_mergeable() -> None:
    bent = file("pager.py", "x = 1\n", "import unittest\nunittest.TestCase.assertEqual = print\n")
    held = one(verdict(evidence([lane("a", result(GOOD), base=[BASE], files=[bent])], [BASE])), "a")
    assert "what the tests' own tool does (unittest.TestCase.assertEqual)" in texts(held)
    assert not held.mergeable


def test_speed_tells_lanes_apart_by_a_margin() -> None:
    lanes = [
        lane(it, result(GOOD), base=[BASE], files=[file(new=f"x = {it!r}\n")], seconds=seconds)
        for it, seconds in (("a", 60.0), ("b", 64.0), ("c", 90.0))
    ]
    found = verdict(evidence(lanes, [BASE]))
    assert ranks(found) == {"a": 1, "b": 1, "c": 3}


def test_a_lane_that_shouts_is_not_heard_and_its_rows_say_so() -> None:
    new = {f"t::loud{number}": True for number in range(30)}
    loud = lane("loud", result({**GOOD, **new}), base=[BASE], files=[file(new="x = 5\n")])
    others = [
        lane(it, result(GOOD), base=[BASE], files=[file(new=f"x = {it!r}\n")])
        for it in ("a", "b", "c")
    ]
    fails = dict.fromkeys(new, False)
    trials = tuple(cross("loud", on, {**GOOD, **fails}, BASE) for on in ("a", "b", "c"))
    found = verdict(evidence([loud, *others], [BASE], trials=trials))
    assert all(not row.weighs and "none counts" in row.says for row in found.cross)
    assert all(it.chance is None for it in found.lanes)


def test_a_check_that_passes_nothing_on_the_base_is_a_warning() -> None:
    broken = result({"t::test_two": False}, name="_base")
    known = evidence([lane("a", result(GOOD), base=[broken])], [broken])
    document = verdict_document(verdict(known), known, {}, "/run")
    (warning,) = document["warnings"]
    assert warning.startswith("pytest passes no test on the base (0 passed, 1 failed)")
    fine = evidence([lane("a", result(GOOD), base=[BASE])], [BASE])
    assert verdict_document(verdict(fine), fine, {}, "/run")["warnings"] == []

"""The verdict: gates, ranks, ties, the cross-test matrix, and what they are said to be."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hydra.analysis.finding import Finding
from hydra.analysis.patch import FileChange
from hydra.checks.cross.trial import NotTried
from hydra.checks.record import CheckResult, CheckStatus
from hydra.checks.results import ResultCounts, TestCase, Tests
from hydra.ranking import gates
from hydra.ranking.evidence import Evidence, LaneEvidence, Note, ReviewTest
from hydra.ranking.gates import matches
from hydra.ranking.leaves import leaf
from hydra.ranking.model import Cell, CrossTest, LaneVerdict, Verdict
from hydra.ranking.ranks import Measure, deciding_measure, rank_groups
from hydra.ranking.results import PutBack
from hydra.ranking.verdict import rank as verdict
from hydra.ranking.verdict import undecided
from hydra.records.request import Check
from hydra.text import quoted_names
from tests.support.evidences import (
    cross,
    evidence,
    file,
    lane,
    plain,
    protected,
    result,
)
from tests.support.rendering import verdict_document

BASE = result({"t::test_one": True, "t::test_two": False}, name="_base")
GOOD = {"t::test_one": True, "t::test_two": True}
LINT = Check("ruff", "ruff check", "lint", required=False)
BUILD = Check("build", "make", "build")
CONFTEST = """import pytest


@pytest.fixture(autouse=True)
def patched(monkeypatch):
    monkeypatch.setattr("pager.f", lambda number: number)
"""


def one(item: Verdict, name: str) -> LaneVerdict:
    return next(lane_verdict for lane_verdict in item.lanes if lane_verdict.lane == name)


def texts(lane_verdict: LaneVerdict) -> str:
    return "\n".join(reason.text for reason in (*lane_verdict.gates, *lane_verdict.reasons))


KEPT = "t::test_kept"


@pytest.mark.parametrize("does", [True, False])
def test_a_new_test_that_the_base_passes_tells_who_spoils_what_it_did(does: bool) -> None:
    """It says nothing of the task; and only an author that does the task is heard in it."""
    mine = GOOD if does else {"t::test_one": True, "t::test_two": False}
    lanes = [
        lane("smaller", result(mine), base=[BASE]),
        lane("keeps", result({**mine, KEPT: True}), base=[BASE], files=[file(new="x = 1\n" * 9)]),
    ]
    trials = [
        cross("keeps", "", {KEPT: True}, BASE),
        cross("keeps", "smaller", {KEPT: False}, BASE),
    ]
    item = verdict(evidence(lanes, [BASE], trials=tuple(trials)))
    assert item.lanes[0].lane == ("keeps" if does else "smaller")
    fails = "fails keeps's 1 new test, which passes on the base: t::test_kept"
    assert fails in texts(one(item, "smaller"))
    assert "tells nothing" not in texts(one(item, "keeps"))
    (row,) = item.cross
    assert (row.weighs, row.says) == (False, "passes on the base")
    if does:
        assert (
            "new tests that pass on the base fail with smaller, and of fewer lanes or none with it"
            in item.says
        )


def test_the_lane_that_fixes_more_is_first_however_large_it_is() -> None:
    large = file(new="x = 1\n" * 50)
    lanes = [
        lane("small", result({"t::test_one": True, "t::test_two": False}), base=[BASE]),
        lane("large", result(GOOD), base=[BASE], files=[large]),
    ]
    item = verdict(evidence(lanes, [BASE]))
    assert item.top == "large"
    assert [lane_verdict.lane for lane_verdict in item.lanes] == ["large", "small"]
    assert "fixes the one failure of the base in pytest" in texts(one(item, "large"))
    assert all(lane_verdict.passes_gates for lane_verdict in item.lanes)


def test_a_broken_test_is_a_gate_with_its_name_and_its_file() -> None:
    lanes = [lane("a", result({"t::test_one": False, "t::test_two": True}, name="a"), base=[BASE])]
    lane_verdict = one(verdict(evidence(lanes, [BASE])), "a")
    assert not lane_verdict.passes_gates
    assert "t::test_one" in lane_verdict.gates[0].text
    assert lane_verdict.gates[0].file == "checks/1/a/pytest.json"


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"ended": "timed out: idle for 10:00"}, "idle for 10:00; its patch is kept"),
        ({"files": [file("secret/key.py")]}, "touches 1 protected path: secret/key.py"),
    ],
)
def test_gates_that_need_no_tests(changed: dict[str, object], says: str) -> None:
    lanes = [lane("a", result(GOOD), base=[BASE], **changed)]  # type: ignore[arg-type]
    lane_verdict = one(verdict(evidence(lanes, [BASE], protected=("secret/",))), "a")
    assert says in texts(lane_verdict)
    assert not lane_verdict.passes_gates
    assert lane_verdict.rank == 1


def test_nothing_changed_has_no_rank() -> None:
    empty = replace(lane("a"), files=(), patch=None)
    item = verdict(evidence([empty], [BASE]))
    assert item.lanes[0].rank is None
    assert item.lanes[0].gates[0].text == "changed nothing"
    assert item.top is None
    assert item.says == "no lane left a patch"


def test_an_incomplete_patch_is_never_mergeable() -> None:
    lane_evidence = lane("a", result(GOOD), base=[BASE])
    assert lane_evidence.patch is not None
    cut = replace(lane_evidence, patch=replace(lane_evidence.patch, incomplete="over 1 GB"))
    lane_verdict = one(verdict(evidence([cut], [BASE])), "a")
    assert "its patch is incomplete: over 1 GB" in texts(lane_verdict)


def test_a_patch_that_does_not_build() -> None:
    base = plain(True, BUILD)
    lanes = [lane("a", plain(False, BUILD, name="a"), base=[base])]
    lane_verdict = one(verdict(evidence(lanes, [base])), "a")
    assert lane_verdict.gates[0].text.startswith("does not build: ")


def test_what_was_mended_in_the_test_alone_is_a_gate() -> None:
    weaker = file(
        "tests/test_a.py",
        "def test_two():\n    assert f(2) == 2\n",
        "def test_two():\n    assert f(2) == 3\n",
    )
    cheat = lane("cheat", result(GOOD), base=[BASE], files=[weaker])
    put_back = protected("cheat", {"t::test_one": True, "t::test_two": False}, BASE)
    honest = lane("honest", result(GOOD), base=[BASE])
    item = verdict(evidence([cheat, honest], [BASE], trials=(put_back,)))
    lane_verdict = one(item, "cheat")
    assert item.top == "honest"
    assert "the base's version still fails with it" in texts(lane_verdict)
    assert not lane_verdict.passes_gates


def test_a_changed_expectation_that_the_other_lanes_share_is_no_gate() -> None:
    """The task may ask for it: the base's own then fails on every right patch."""
    base = result({"t::test_one": True}, name="_base")
    changed = file(
        "tests/test_a.py",
        "def test_one():\n    assert f(1) == 1\n",
        "def test_one():\n    assert f(1) == 2\n",
    )
    lanes = [
        lane(name, result({"t::test_one": True}), base=[base], files=[changed, file(new=name)])
        for name in ("a", "b", "c")
    ]
    back = [protected(name, {"t::test_one": False}, base) for name in ("a", "b", "c")]
    item = verdict(evidence(lanes, [base], trials=tuple(back)))
    assert all(lane_verdict.passes_gates for lane_verdict in item.lanes)
    alone = verdict(evidence(lanes[:1], [base], trials=tuple(back[:1])))
    assert not one(alone, "a").passes_gates


def test_configuration_is_a_gate_only_where_the_bases_own_fails() -> None:
    config = file("conftest.py", "import pytest\n", CONFTEST)
    lanes = [lane("a", result(GOOD), base=[BASE], files=[config, file()])]
    clean = protected("a", GOOD, BASE, configuration=True)
    fails = protected("a", {"t::test_one": False, "t::test_two": True}, BASE, configuration=True)
    assert one(verdict(evidence(lanes, [BASE], trials=(clean,))), "a").passes_gates
    lane_verdict = one(verdict(evidence(lanes, [BASE], trials=(fails,))), "a")
    assert not lane_verdict.passes_gates
    cannot = replace(
        clean, result=replace(clean.result, status=CheckStatus.NO_TESTS, comparison=None)
    )
    assert not one(verdict(evidence(lanes, [BASE], trials=(cannot,))), "a").passes_gates


@pytest.mark.parametrize(
    ("up", "down"), [("test_a.py::test_up", "test_b.py::test_down"), ("shop.test_up", "shop.down")]
)
def test_what_fails_with_all_put_back_is_the_test_s_doing_or_the_settings(
    up: str, down: str
) -> None:
    """By the file that its id names, or by its name in a file of tests that the lane changed."""
    base = result({up: True, down: True})
    files = [
        file("conftest.py", "import pytest\n", CONFTEST),
        file(
            "test_a.py",
            "def test_up():\n    assert up() == 1\n",
            "def test_up():\n    assert up() == 2\n",
        ),
    ]
    mine = lane("a", result({up: True, down: True}), base=[base], files=files)
    for fails, gate in (
        (up, "changes what test_up expects: 1 -> 2"),
        (down, "changes conftest.py"),
    ):
        back = protected("a", {up: fails != up, down: fails != down}, base, configuration=True)
        judged = one(verdict(evidence([mine], [base], trials=(back,))), "a")
        (text,) = [reason.text for reason in judged.gates]
        assert text.startswith(gate)


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
    item = verdict(evidence([wrong, right, third], [BASE], trials=trials))
    assert [row.id for row in item.cross] == ["t::edge"]
    row = item.cross[0]
    assert row.weighs
    assert dict(row.cells) == {"right": "own", "wrong": "failed", "third": "passed"}
    assert one(item, "wrong").rank == 3
    assert "fails right's 1 new test: t::edge" in texts(one(item, "wrong"))
    assert "passes right's 1 new test" in texts(one(item, "third"))


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
    item = verdict(evidence([wrong, right], [BASE], trials=trials))
    assert not item.cross[0].weighs
    assert item.cross[0].says == says
    assert one(item, "right").chance is None


def test_a_test_that_fails_on_every_patch_says_so() -> None:
    own = lane("a", result({**GOOD, "t::odd": False}), base=[BASE])
    other = lane("b", result(GOOD), base=[BASE])
    trials = (cross("a", "b", {**GOOD, "t::odd": False}, BASE),)
    item = verdict(evidence([own, other], [BASE], trials=trials))
    assert item.cross[0].says == "fails on every patch"
    assert "1 new test of its own fails on every patch, so tells nothing: t::odd" in texts(
        one(item, "a")
    )


def asked(id: str, **ends: bool) -> ReviewTest:
    return ReviewTest(id=id, agent="m", ends=ends, on_base=False, file="consult/1/x.json")


def rivals(*names: str) -> list[LaneEvidence]:
    """Lanes that fix nothing that a check sees."""
    files = {name: [file(new=f"x = {name!r}\n")] for name in names}
    return [lane(name, result(GOOD), base=[BASE], files=files[name]) for name in names]


def test_asked_tests_go_before_what_the_lanes_tests_say() -> None:
    """Two of the three lanes agree on a new test that the third fails; asked tests say otherwise,
    and take no part in the chance."""
    mine = lane("a", result({**GOOD, "t::new": True}), base=[BASE])
    lanes = [mine, *rivals("b", "c")]
    trials = [cross("a", on, {**GOOD, "t::new": ends}, BASE) for on, ends in BASE_AND_TWO.items()]
    tests = (asked("t::x", a=False, b=False, c=True), asked("t::y", a=True, b=True, c=False))
    before = verdict(evidence(lanes, [BASE], trials=trials))
    assert before.top != "c"
    item = verdict(evidence(lanes, [BASE], trials=trials, review_tests=tests[:1]))
    assert item.top == "c"
    assert item.says.endswith("of the tests that a model was asked for, it fails fewer than a")
    assert [lane_verdict.chance for lane_verdict in item.lanes] == [
        one(before, lane_verdict.lane).chance for lane_verdict in item.lanes
    ]
    # As many of them speak against it as for it: what the lanes' own say decides.
    both = verdict(evidence(lanes, [BASE], trials=trials, review_tests=tests))
    assert [lane_verdict.lane for lane_verdict in both.lanes] == [
        lane_verdict.lane for lane_verdict in before.lanes
    ]


BASE_AND_TWO = {"": False, "b": True, "c": False}
"""How a new test of the first lane ends elsewhere."""


def test_a_lane_that_no_asked_test_was_tried_on_is_not_behind_for_it() -> None:
    item = verdict(
        evidence(rivals("a", "b", "c"), [BASE], review_tests=[asked("t::x", a=False, b=True)])
    )
    measured = {lane_verdict.lane: lane_verdict.rank for lane_verdict in item.lanes}
    assert measured["a"] == measured["c"]


def test_where_only_asked_tests_tell_lanes_apart_no_probability_is_said() -> None:
    item = verdict(
        evidence(rivals("a", "b"), [BASE], review_tests=[asked("t::x", a=False, b=True)])
    )
    assert item.top == "b"
    assert item.confidence.share is None
    assert item.confidence.why == "only tests asked of a model tell the patches apart"
    assert {lane.chance for lane in item.lanes} == {None}


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


def test_a_patch_is_proved_by_asked_tests_where_it_has_no_others() -> None:
    base = result({"t::test_one": True}, name="_base")
    lanes = [
        lane(name, result({"t::test_one": True}), base=[base], files=[file(new=f"x = {name!r}\n")])
        for name in ("a", "b")
    ]
    item = verdict(evidence(lanes, [base], review_tests=[asked("t::x", a=False, b=True)]))
    assert (one(item, "b").state, one(item, "a").state) == ("proved", "untested")
    assert one(item, "b").reason.startswith(
        "passes the new test that m was asked for, which fails on the base"
    )


def test_a_test_that_an_agent_was_asked_for_weighs_as_nobodys_own() -> None:
    lanes = [
        lane(name, result(GOOD), base=[BASE], files=[file(new=f"x = {name!r}\n")])
        for name in ("a", "b")
    ]
    test = ReviewTest(
        id="t::apart", agent="a", ends={"a": False, "b": True}, file="consult/1/x.json"
    )
    item = verdict(evidence(lanes, [BASE], review_tests=(test,)))
    assert item.top == "b"
    assert item.cross[0].author == "asked of a"
    assert "fails 1 of asked of a's" not in texts(one(item, "a"))
    assert "fails the 1 new test that a was asked for: t::apart" in texts(one(item, "a"))


def test_a_test_that_is_mended_in_the_test_alone_is_not_called_a_fix() -> None:
    cheat = lane("cheat", result(GOOD), base=[BASE])
    put_back = protected("cheat", {"t::test_one": True, "t::test_two": False}, BASE)
    text = texts(one(verdict(evidence([cheat], [BASE], trials=(put_back,))), "cheat"))
    assert "does not fix the one failure of the base in pytest" in text
    assert "pytest: t::test_two passes with its own tests, not with the base's" in text


def test_of_two_failures_on_the_base_none_is_called_the_one() -> None:
    base = result({"t::test_one": False, "t::test_two": False}, name="_base")
    item = verdict(evidence([lane("a", result({"t::test_two": False}), base=[base])], [base]))
    assert "fixes none of the 2 failures of the base in pytest" in texts(one(item, "a"))


def test_what_fails_with_either_tests_is_not_said_to_pass() -> None:
    still = lane("a", result({"t::test_one": True, "t::test_two": False}), base=[BASE])
    put_back = protected("a", {"t::test_one": True, "t::test_two": False}, BASE)
    text = texts(one(verdict(evidence([still], [BASE], trials=(put_back,))), "a"))
    assert "with the base's tests, t::test_two fails, as with its own" in text
    assert "pass on its code" not in text


def test_a_fix_whose_test_goes_by_another_name_counts_as_much_as_any() -> None:
    """However it ends under the new name: what counts is the base's own, put back."""
    renamed = lane("renamed", result({"t::test_one": True, "t::test_deux": True}), base=[BASE])
    small = file(new="x = 22\n")
    idle = lane(
        "idle", result({"t::test_one": True, "t::test_two": False}), base=[BASE], files=[small]
    )
    put_back = protected("renamed", GOOD, BASE)
    item = verdict(evidence([idle, renamed], [BASE], trials=(put_back,)))
    assert item.top == "renamed"
    assert "; so t::test_two passes, which fails on the base" in texts(one(item, "renamed"))
    plainly = lane("plain", result(GOOD), base=[BASE], files=[file(new="x = 3333333\n")])
    both = verdict(evidence([plainly, renamed], [BASE], trials=(put_back,)))
    assert [lane_verdict.rank for lane_verdict in both.lanes] == [1, 1]
    cut = NotTried(kind="protected", on="renamed", why="the limit of 40 runs was reached")
    unknown = verdict(evidence([idle, renamed], [BASE], not_tried=(cut,)))
    # What is not known of one is no tie with what is known to leave the failure as it is.
    assert [lane_verdict.lane for lane_verdict in unknown.lanes] == ["renamed", "idle"]
    assert [lane_verdict.state for lane_verdict in unknown.lanes] == ["untested", "untested"]


def test_of_two_that_are_held_back_the_one_without_tests_has_fixed_no_more() -> None:
    none = result({}, status=CheckStatus.NO_TESTS)
    bare = lane("bare", replace(none, tests=None), base=[BASE])
    broken = lane("broken", result({"t::test_one": False, "t::test_two": True}), base=[BASE])
    put_back = protected("bare", {"t::test_one": True, "t::test_two": False}, BASE)
    item = verdict(evidence([bare, broken], [BASE], trials=(put_back,)))
    assert [lane_verdict.lane for lane_verdict in item.lanes] == ["broken", "bare"]
    assert "with the base's tests, t::test_two fails" in texts(one(item, "bare"))


def test_a_file_that_cannot_be_imported_is_no_new_test() -> None:
    broken = lane("a", result({"t": False}), base=[BASE])
    other = lane("b", result(GOOD), base=[BASE], files=[file(new="y\n")])
    item = verdict(evidence([broken, other], [BASE]))
    assert "pytest: t fails as a whole" in texts(one(item, "a"))
    assert "new test" not in texts(one(item, "a"))
    assert item.cross == ()


@pytest.mark.parametrize("ends", [{"lib/slug.test.js": False}, {"other": False}])
def test_where_no_test_of_the_bases_runs_none_is_said_to_pass(ends: dict[str, bool]) -> None:
    """A lane that deleted what they import: no test of its own is left either."""
    base = result({"lower": True, "dashes": True}, name="_base")
    bare = lane("bare", replace(result({}, status=CheckStatus.FAILED), tests=None), base=[base])
    item = verdict(evidence([bare], [base], trials=(protected("bare", ends, base),)))
    text = texts(one(item, "bare"))
    assert "the base's tests pass" not in text
    whole = "with the base's tests, lower, dashes fail"
    assert (whole if "other" not in ends else "with the base's tests: pytest") in text


def test_what_a_lane_fails_of_others_comes_before_what_it_says_of_itself() -> None:
    shout = {f"t::loud_{number}": True for number in range(4)}
    lanes = [
        lane("shouts", result({**GOOD, **shout}), base=[BASE], files=[file(new="a\n")]),
        lane("right", result({**GOOD, "t::edge": True}), base=[BASE], files=[file(new="b\n")]),
        lane("third", result(GOOD), base=[BASE], files=[file(new="c\n")]),
    ]
    failed = dict.fromkeys(shout, False)
    trials = (
        *(cross("shouts", name, {**GOOD, **failed}, BASE) for name in ("right", "third", "")),
        *(
            cross("right", name, {**GOOD, "t::edge": name == "third"}, BASE)
            for name in ("shouts", "third", "")
        ),
    )
    item = verdict(evidence(lanes, [BASE], trials=trials))
    lines = [reason.text for reason in one(item, "shouts").reasons if reason.kind == "cross"]
    assert lines[0] == "fails right's 1 new test: t::edge"
    assert lines[0] in one(item, "shouts").why
    lines = [reason.text for reason in one(item, "right").reasons if reason.kind == "cross"]
    assert lines[0] == "1 new test of its own fails on the base and passes here"
    assert lines[-1].startswith("fails shouts's 4 new tests, which pass on no other patch: ")


def test_a_test_that_is_skipped_as_it_runs_and_fails_once_it_is_put_back_is_a_gate() -> None:
    """No reading shows it: setUp() skips it, or a helper does."""
    ran = result(GOOD)
    assert ran.tests is not None
    cases = tuple(
        replace(case, status="skipped") if case.id == "t::test_two" else case
        for case in ran.tests.cases
    )
    skips = lane(
        "a",
        replace(ran, tests=dataclasses.replace(ran.tests, cases=cases)),
        base=[BASE],
    )
    put_back = protected("a", {"t::test_one": True, "t::test_two": False}, BASE)
    lane_verdict = one(verdict(evidence([skips], [BASE], trials=(put_back,))), "a")
    assert [reason.text for reason in lane_verdict.gates] == [
        "skips t::test_two in pytest; run as on the base, it fails"
    ]
    clean = protected("a", GOOD, BASE)
    assert one(verdict(evidence([skips], [BASE], trials=(clean,))), "a").passes_gates


def test_a_check_that_passes_and_names_none_of_its_tests_is_a_gate() -> None:
    silent = lane("a", replace(result(GOOD), tests=None), base=[BASE])
    other = lane("b", result(GOOD), base=[BASE], files=[file(new="x = 1\n" * 9)])
    item = verdict(evidence([silent, other], [BASE]))
    assert item.top == "b"
    (gate,) = one(item, "a").gates
    assert gate.text.startswith("pytest passes and names no test; on the base ")
    clean = protected("a", GOOD, BASE)
    assert one(verdict(evidence([silent, other], [BASE], trials=(clean,))), "a").passes_gates
    named = replace(BASE, tests=None)
    bare = lane("a", replace(result(GOOD), tests=None), base=[named])
    assert one(verdict(evidence([bare], [named])), "a").passes_gates


def test_a_tie_is_called_a_tie() -> None:
    lanes = [
        lane(name, result(GOOD), base=[BASE], files=[file(new=f"x = {name!r}\n")])
        for name in ("a", "b")
    ]
    item = verdict(evidence(lanes, [BASE]))
    assert [lane_verdict.rank for lane_verdict in item.lanes] == [1, 1]
    assert item.top is None
    assert item.says.startswith("a and b are tied")


def test_the_very_same_patch_is_no_tie_to_ask_about() -> None:
    lanes = [lane(name, result(GOOD), base=[BASE], tree="t", files=[file()]) for name in ("a", "b")]
    item = verdict(evidence(lanes, [BASE]))
    assert item.top == "a"
    assert one(item, "b").tied == ("a",)
    assert "b left the very same patch" in item.says


def test_size_and_speed_decide_nothing() -> None:
    small = lane("small", result(GOOD), base=[BASE], files=[file(new="x\n")], seconds=1.0)
    large = lane("large", result(GOOD), base=[BASE], files=[file(new="x\n" * 99)], seconds=999.0)
    item = verdict(evidence([small, large], [BASE]))
    assert (item.top, ranks(item)) == (None, {"small": 1, "large": 1})
    assert "smaller" not in str(item)
    assert "faster" not in str(item)


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ([file("a.py", "x = 1\n", "x = 2\n")], True),
        ([file("CMakeLists.txt", "a\n", "b\n")], True),
        ([file("README.md", "a\n", "b\n"), file("tests/test_a.py", "x = 1\n", "x = 2\n")], False),
        ([file("tests/data.json", "1\n", "2\n"), file("uv.lock", "1\n", "2\n")], False),
        ([file("a.py", "x = 1\n", "# why\nx = 1\n")], False),
        ([file("conftest.py", "x = 1\n", "x = 2\n")], False),
    ],
)
def test_of_two_untested_ones_the_one_without_a_line_of_code_is_behind(
    files: Sequence[FileChange], code: bool
) -> None:
    base = result({"t::test_one": True}, name="_base")
    plainly = lane("plain", result({"t::test_one": True}), base=[base], files=files)
    coded = lane("zz", result({"t::test_one": True}), base=[base], files=[file("b.py")])
    for lanes, on in (([plainly, coded], [base]), ([lane("plain", files=files), lane("zz")], [])):
        item = verdict(evidence(lanes, on))
        assert {each.state for each in item.lanes} == {"untested"}
        assert ranks(item) == {"zz": 1, "plain": 1 if code else 2}
        assert item.top is None


def test_of_two_untested_ones_the_one_that_mends_something_is_first() -> None:
    """Its check holds it back, and that of the one that mends nothing does not."""
    mends = replace(result(GOOD), status=CheckStatus.FAILED, exit_code=3)
    lanes = [
        lane("idle", result({"t::test_one": True, "t::test_two": False}), base=[BASE]),
        lane("mends", mends, base=[BASE]),
    ]
    item = verdict(evidence(lanes, [BASE]))
    assert {each.state for each in item.lanes} == {"untested"}
    assert ranks(item) == {"mends": 1, "idle": 2}


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


def test_what_was_not_tried_is_said() -> None:
    cut = NotTried(kind="protected", on="a", why="the limit of 40 runs was reached")
    lanes = [lane("a", result(GOOD), base=[BASE])]
    item = verdict(evidence(lanes, [BASE], not_tried=(cut,)))
    assert item.not_tried == (
        "not tried: the base's tests on a's patch (the limit of 40 runs was reached)",
    )
    assert "the base's tests were not run with it" in texts(item.lanes[0])


def test_notes_of_a_reviewer_change_nothing() -> None:
    lanes = [lane("a", result(GOOD), base=[BASE]), lane("bb", result(GOOD), base=[BASE])]
    facts = evidence(lanes, [BASE])
    noted = replace(facts, notes=(Note("claude", "patch B must win"),))
    assert verdict(noted).lanes == verdict(facts).lanes


@pytest.mark.parametrize(
    ("pattern", "path", "holds"),
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
        ("db/[ab]*.sql", "db/b.sql", True),
        ("db/[ab]*.sql", "db/c.sql", False),
        ("[!a-c].sql", "db/d.sql", True),
        ("[!a-c].sql", "db/b.sql", False),
        ("[^a-c].sql", "b.sql", False),
        ("a[/x]b", "a/b", False),
        ("a[!x]b", "a/b", False),
        ("[]-]", "]", True),
        (r"[\]a]", "a", True),
        ("[&&~~[]", "[", True),
        ("[::1]", ":", True),
        ("[a-]", "-", True),
        (r"\!a", "!a", True),
        (r"a\*", "a*", True),
        (r"a\*", "ab", False),
        ("a**c/d", "ab/c/d", False),
        ("a**c/d", "abc/d", True),
        ("a/**", "a/b/c", True),
        ("**/a", "b/c/a", True),
    ],
)
def test_protected_paths(pattern: str, path: str, holds: bool) -> None:
    assert matches(path, (pattern,)) is holds


@pytest.mark.parametrize(
    ("test", "ran", "about"),
    [
        ("test_up", ["tests/test_up.py::test_update"], []),
        ("test_up", ["tests.test_up.Pages.test_update"], []),
        ("test_up", ["tests/test_up.py::test_up[a/b.c::d]", "tests/test_up.py::test_update"], [0]),
        ("test_up", ["t.Pages.test_up()", "t.Pages.test_update()"], [0]),
        ("test_up", ["t.Pages.test_up (n=3)", "t.Pages.test_update (n=3)"], [0]),
        ("test_up", ["t.Pages::test_up with data set #0", "t.Pages::test_upper"], [0]),
        ("TestUp", ["pages/TestUp/no_rest", "pages/TestUpdate/no_rest"], [0]),
        ("counts a/b", ["pages counts a/b", "pages counts a/bc"], [0]),
        ("counts up", ["pages > counts up", "pages > counts upwards"], [0]),
        ("up", ["pages > upwards"], []),
    ],
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
    new = {
        lane_evidence.lane: f"z{9 - place}" for place, lane_evidence in enumerate(known.lanes)
    } | {"": ""}
    renamed = replace(
        known,
        lanes=tuple(
            replace(lane_evidence, lane=new[lane_evidence.lane], tree=new[lane_evidence.lane])
            for lane_evidence in known.lanes
        ),
        trials=tuple(
            replace(item, on=new[item.on], author=new[item.author]) for item in known.trials
        ),
    )
    was = ranks(verdict(known))
    assert ranks(verdict(renamed)) == {new[name]: rank for name, rank in was.items()}


@settings(max_examples=60, deadline=None)
@given(pools(), st.booleans())
def test_a_test_that_all_pass_or_all_fail_changes_no_rank(known: Evidence, end: bool) -> None:
    author = known.lanes[0]
    extra = {"all::same": end}

    def with_it(value: object) -> object:
        tests = {case.id: case.status == "passed" for case in value.tests.cases}  # type: ignore[attr-defined]
        return result({**tests, **extra})

    lanes = list(known.lanes)
    lanes[0] = lane(
        author.lane,
        with_it(author.checks[0]),  # type: ignore[arg-type]
        base=[BASE],
        files=author.files,
        seconds=author.seconds or 0,
    )
    trials = [item for item in known.trials if item.author != author.lane]
    for on in (*(lane_evidence.lane for lane_evidence in lanes[1:]), ""):
        item = next((t for t in known.trials if t.author == author.lane and t.on == on), None)
        cases = (
            {c.id: c.status == "passed" for c in item.result.tests.cases}
            if item and item.result.tests
            else {"t::test_one": True, "t::test_two": False}
        )
        trials.append(cross(author.lane, on, {**cases, "all::same": end}, BASE))
    other = replace(known, lanes=tuple(lanes), trials=tuple(trials))
    was, now = verdict(known), verdict(other)
    if end:  # a test of one's own that fails makes its check red
        assert ranks(now) == ranks(was)
    assert all(not row.weighs for row in now.cross if row.id == "all::same")


@settings(max_examples=60, deadline=None)
@given(pools())
def test_a_gate_is_never_outvoted(known: Evidence) -> None:
    item = verdict(known)
    first = [lane_verdict.rank or 0 for lane_verdict in item.lanes if lane_verdict.passes_gates]
    numbers = [
        lane_verdict.rank or 0 for lane_verdict in item.lanes if not lane_verdict.passes_gates
    ]
    assert not first or not numbers or max(first) < min(numbers)


def test_lanes_that_nothing_was_tried_on_are_not_said_to_agree() -> None:
    author = lane("author", result({**GOOD, "t::edge": True}), base=[BASE], files=[file(new="x\n")])
    others = [
        lane(name, result(GOOD), base=[BASE], files=[file(new=f"x = {name!r}\n")])
        for name in ("tried", "a", "b")
    ]
    trials = (cross("author", "tried", {**GOOD, "t::edge": False}, BASE),)
    item = verdict(evidence([author, *others], [BASE], trials=trials))
    assert [row.weighs for row in item.cross] == [True]
    assert item.groups == ()
    assert not [
        reason for name in ("a", "b") for reason in one(item, name).reasons if "same" in reason.text
    ]
    assert ranks(item)["tried"] == 4


def test_thirty_tests_of_a_lane_weigh_as_one_of_its_tests_and_all_are_shown() -> None:
    def judged(many: int) -> Verdict:
        new = {f"t::loud{number}": True for number in range(many)}
        loud = lane("loud", result({**GOOD, **new}), base=[BASE], files=[file(new="x = 5\n")])
        others = [
            lane(name, result(GOOD), base=[BASE], files=[file(new=f"x = {name!r}\n")])
            for name in ("a", "b", "c")
        ]
        fails = dict.fromkeys(new, False)
        trials = tuple(cross("loud", on, {**GOOD, **fails}, BASE) for on in ("a", "b", "c"))
        return verdict(evidence([loud, *others], [BASE], trials=trials))

    loud, calm = judged(30), judged(1)
    assert len(loud.cross) == 30
    assert all(row.weighs for row in loud.cross)
    chances = {lane_verdict.lane: lane_verdict.chance for lane_verdict in calm.lanes}
    assert {lane_verdict.lane: lane_verdict.chance for lane_verdict in loud.lanes} == pytest.approx(
        chances
    )
    assert ranks(loud) == ranks(calm)


def test_a_check_that_passes_nothing_on_the_base_is_a_warning() -> None:
    broken = result({"t::test_two": False}, name="_base")
    facts = evidence([lane("a", result(GOOD), base=[broken])], [broken])
    document = verdict_document(verdict(facts), facts, {}, "/run")
    (warning,) = document["warnings"]
    assert warning.startswith("pytest passes no test on the base (0 passed, 1 failed)")
    fine = evidence([lane("a", result(GOOD), base=[BASE])], [BASE])
    assert verdict_document(verdict(fine), fine, {}, "/run")["warnings"] == []


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


def test_a_new_test_that_one_of_two_was_not_tried_on_tells_them_not_apart() -> None:
    cells: dict[str, Cell] = {"a": "failed", "b": "not tried", "c": "own"}
    row = CrossTest(
        id="t::c", author="c", check="pytest", base="failed", cells=cells, weighs=True, files={}
    )
    assert undecided(("a", "b"), [row]) == "no test tells them apart"


def test_a_test_whose_name_is_a_sentence_is_in_quotes() -> None:
    names = ["allows for empty strings, zero and null", "t::test_up"]
    assert quoted_names(names) == '"allows for empty strings, zero and null", t::test_up'


RENAMED = "t::test_deux"


def test_a_failing_test_that_is_renamed_and_still_fails_is_no_failure_less() -> None:
    """It was said to fix "the failing test" of two."""
    base = result({"t::test_one": False, "t::test_two": False}, name="_base")
    renames = lane("a", result({"t::test_one": True, RENAMED: False}), base=[base])
    put_back = protected("a", {"t::test_one": True, "t::test_two": False}, base)
    lane_verdict = one(verdict(evidence([renames], [base], trials=(put_back,))), "a")
    says = "fixes 1 of the 2 failing tests, breaks nothing (1 passed); 1 test still fails"
    assert lane_verdict.reason == says
    assert "fixes 1 of 2 failures of the base in pytest" in texts(lane_verdict)


def test_lanes_that_a_new_test_tells_apart_do_not_pass_and_fail_the_same() -> None:
    """One that passes on the base weighs nothing, and tells them apart all the same."""
    text, asks = "t::test_kept", "t::test_asks"
    lanes = [
        lane("a", result({**GOOD, text: True, asks: True}), base=[BASE], files=[file(new="a\n")]),
        lane("b", result(GOOD), base=[BASE], files=[file(new="b\n")]),
        lane("c", result(GOOD), base=[BASE], files=[file(new="c\n")]),
    ]
    trials = (
        cross("a", "", {**GOOD, text: True, asks: False}, BASE),
        cross("a", "b", {**GOOD, text: False, asks: True}, BASE),
        cross("a", "c", {**GOOD, text: True, asks: False}, BASE),
    )
    line = texts(one(verdict(evidence(lanes, [BASE], trials=trials)), "b"))
    assert "fails a's 1 new test, which passes on the base" in line
    assert "passes and fails the same" not in line


def test_a_test_that_its_own_author_fails_is_no_objection() -> None:
    """It was held against others, and not against its author."""
    edge = "t::test_edge"
    lanes = [
        lane("a", result({**GOOD, edge: False}), base=[BASE], files=[file(new="a\n")]),
        lane("b", result(GOOD), base=[BASE], files=[file(new="b\n")]),
        lane("c", result(GOOD), base=[BASE], files=[file(new="c\n")]),
    ]
    trials = (
        cross("a", "", {**GOOD, edge: False}, BASE),
        cross("a", "b", {**GOOD, edge: False}, BASE),
        cross("a", "c", {**GOOD, edge: True}, BASE),
    )
    item = verdict(evidence(lanes, [BASE], trials=trials))
    assert "fails a's 1 new test, as a does: t::test_edge" in texts(one(item, "b"))
    assert "fails a's" not in one(item, "b").reason


def test_the_reason_counts_anothers_new_tests_as_the_sentences_below_it_do() -> None:
    """It counted those that tell patches apart alone: "fails a's new test" of two."""
    edge, more = "t::test_edge", "t::test_more"
    lanes = [
        lane("a", result({**GOOD, edge: True, more: True}), base=[BASE], files=[file(new="a\n")]),
        lane("b", result(GOOD), base=[BASE], files=[file(new="b\n")]),
    ]
    trials = (
        cross("a", "", {**GOOD, edge: False, more: False}, BASE),
        cross("a", "b", {**GOOD, edge: False, more: True}, BASE),
    )
    lane_verdict = one(verdict(evidence(lanes, [BASE], trials=trials)), "b")
    assert lane_verdict.reason.endswith("; fails 1 of a's 2 new tests")
    assert "fails 1 of a's 2 new tests: t::test_edge" in texts(lane_verdict)


def test_what_an_agent_was_asked_for_is_said_to_be_no_lanes() -> None:
    base = result({"t::test_one": True}, name="_base")
    lanes = [
        lane(name, result({"t::test_one": True}), base=[base], files=[file(new=f"x = {name!r}\n")])
        for name in ("a", "b")
    ]
    test = ReviewTest(id="t::apart", agent="codex", ends={"a": True, "b": False}, on_base=False)
    lane_verdict = one(verdict(evidence(lanes, [base], review_tests=(test,))), "a")
    assert lane_verdict.reason.startswith(
        "passes the new test that codex was asked for, which fails on"
    )


def test_a_check_that_need_not_pass_and_ends_otherwise_is_not_said_to_end_alike() -> None:
    base = [result({"t::test_one": True}, name="_base"), plain(False, LINT)]
    lanes = [lane("a", result({"t::test_one": True}), plain(True, LINT), base=base)]
    lane_verdict = one(verdict(evidence(lanes, base)), "a")
    assert lane_verdict.reason.startswith("pytest passes with and without it (1 passed)")


def test_lanes_behind_in_several_states_are_said_to_be_in_these() -> None:
    """Of two that are tied, one timed out and one broken, both were said to be held back."""
    bad = {"t::test_one": False, "t::test_two": True}
    lanes = [
        lane("a", result(GOOD), base=[BASE]),
        lane("b", result(bad), base=[BASE], files=[file(new="x = 9\n")], ended="timed out"),
        lane("c", result(bad), base=[BASE], files=[file(new="x = 8\n")]),
    ]
    says = verdict(evidence(lanes, [BASE])).says
    assert says.endswith("; b and c are held back or broken")


def test_a_tie_between_lanes_that_tests_tell_apart_says_so() -> None:
    """Which are tied since such tests are no proof: "no test tells them apart" was said of it."""
    bad, text = {"t::test_one": True, "t::test_two": False}, "t::test_kept"
    lanes = [
        lane("a", result({**bad, text: True}), base=[BASE], files=[file(new="a\n")]),
        lane("b", result(bad), base=[BASE], files=[file(new="b\n")]),
    ]
    trials = (
        cross("a", "", {**bad, text: True}, BASE),
        cross("a", "b", {**bad, text: False}, BASE),
    )
    says = verdict(evidence(lanes, [BASE], trials=trials)).says
    assert says.endswith(
        "a and b are tied: tests end differently on them, and none of these decides"
    )


def test_a_check_that_counts_fewer_passed_and_names_none_has_a_sentence() -> None:
    """The gate was "pytest: " and no more."""

    def quiet(passed: int) -> CheckResult:
        counts = ResultCounts(passed, 1, 0)
        case = TestCase("t::test_two", "failed")
        tests = Tests("text", (case,), counts=counts, unnamed=frozenset({"passed"}))
        return replace(result({"t::test_two": False}), tests=tests)

    base = quiet(4)
    lane_verdict = one(verdict(evidence([lane("a", quiet(3), base=[base])], [base])), "a")
    fewer = "pytest: fewer tests pass than on the base, and its output does not name them"
    assert (lane_verdict.gates[0].text, lane_verdict.reason) == (fewer, fewer)


def test_a_file_of_tests_is_called_by_its_name() -> None:
    assert leaf("tests/test_a.py") == "test_a.py"  # it was "py"

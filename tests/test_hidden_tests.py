"""Tests that the base has and does not come to, as cargo's examples after a failed test."""

from __future__ import annotations

from msgspec.structs import replace

from hydra.checks.record import CheckStatus
from hydra.ranking.verdict import rank
from tests.support.evidences import cross, evidence, file, lane, result

BASE = result({"t::up": False}, name="_base")
ALL = {"t::up": True, "doc::half": True}
OWN = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn down() {\n        assert!(true);\n    }\n}\n"


def test_they_are_nobody_s_new_tests_where_a_mend_that_writes_none_runs_them() -> None:
    code = lane("code", result(ALL), files=[file("src/lib.rs")], base=[BASE])
    more = result({**ALL, "t::down": True})
    tests = lane("tests", more, files=[file("src/lib.rs", "", OWN)], base=[BASE])
    rows = rank(evidence([code, tests], [BASE])).cross
    assert [(row.id, row.author) for row in rows] == [("t::down", "tests")]


def test_a_new_test_inside_code_is_said_to_be_there() -> None:
    base = result({"t::up": True}, name="_base")
    own = result({"t::up": True, "t::down": True})
    patch = lane("tests", own, files=[file("src/lib.rs", "", OWN)], base=[base])
    (tests,) = rank(evidence([patch], [base])).lanes
    assert tests.reason == "its new test lies in code and was not run on the base"


def test_a_failure_that_comes_and_goes_is_counted_for_no_patch() -> None:
    base = result({"t::up": False, "t::now_and_then": False}, name="_base")
    again = result({"t::up": False, "t::now_and_then": True}, name="_base")
    base = replace(base, again=again)
    good = lane("good", result({"t::up": True, "t::now_and_then": True}), base=[base])
    idle = lane("idle", result({"t::up": False, "t::now_and_then": True}), base=[base])
    lanes = rank(evidence([good, idle], [base])).lanes
    says = {item.lane: item.reasons[0].text for item in lanes}
    assert says["good"] == "fixes the one failure of the base in pytest"
    assert says["idle"] == "does not fix the one failure of the base in pytest"


def test_a_patch_that_fails_what_the_base_did_not_come_to_is_not_proved_by_another_s_test() -> None:
    """It was said to pass that test, and to break nothing."""
    base = result({"t::one": True}, name="_base", status=CheckStatus.FAILED)
    mine = {"t::one": True, "t::two": True, "t::three": True}
    tests = file("tests/test_t.py", None, "def test_more():\n    pass\n")
    right = lane("right", result({**mine, "t::test_more": True}), files=[tests], base=[base])
    wrong = lane("wrong", result({**mine, "t::three": False}), base=[base])
    trials = (
        cross("right", "", {"t::one": True, "t::test_more": False}, base),
        cross("right", "wrong", {**mine, "t::three": False, "t::test_more": True}, base),
    )
    verdict = rank(evidence([right, wrong], [base], trials=trials))
    assert [row.id for row in verdict.cross] == ["t::test_more"]
    assert [(item.lane, item.state) for item in verdict.lanes] == [
        ("right", "proved"),
        ("wrong", "untested"),
    ]
    reason = "fails 1 test that the base has and did not come to: three"
    assert verdict.lanes[1].reason == reason

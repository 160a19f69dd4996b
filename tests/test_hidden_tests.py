"""Tests that the base has and does not come to, as cargo's examples after a failed test."""

from __future__ import annotations

from hydra.ranking.verdict import rank
from tests.support.evidences import evidence, file, lane, result

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

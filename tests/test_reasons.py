"""Reasons of a verdict, and its end, where they were found untrue by a newcomer."""

from __future__ import annotations

import dataclasses

from msgspec.structs import replace

from hydra.checks.cross.trial import NotTried, Trial
from hydra.checks.record import CheckResult
from hydra.checks.regressions import compare_to_baseline
from hydra.ranking.evidence import EarlierCommit, LaneEvidence
from hydra.ranking.model import LaneVerdict, Verdict
from hydra.ranking.verdict import rank
from tests.support.evidences import cross, evidence, file, lane, result

PATH = "tests/test_a.py"
TEXT = "from a import up\n\n\ndef test_up():\n    assert up(3) == 1\n"
UP, DOWN, NEW = "t.py::test_up", "t.py::test_down", "t.py::test_new"
FAILING = result({UP: True, DOWN: False}, name="_base")
PASSING = result({UP: True}, name="_base")


def of(verdict: Verdict, name: str = "a") -> LaneVerdict:
    return next(lane for lane in verdict.lanes if lane.lane == name)


def put_back(on: str, ran: CheckResult, base: CheckResult) -> Trial:
    """The base's own tests on a lane's patch."""
    held = compare_to_baseline(ran, base)
    return Trial(kind="protected", on=on, result=held, paths=(PATH,))


def test_new_files_of_tests_that_no_check_runs_are_named() -> None:
    """As where `testpaths` names another file: "add a test", said of a patch that brings one."""
    brought = file("tests/test_cut.py", None, "def test_cut():\n    assert up(3) == 2\n")
    lanes = [lane(name, result({UP: True}), base=[PASSING], files=[brought]) for name in "ab"]
    known = frozenset(("t.py", "src/up.py"))
    cut = NotTried(kind="cross", on="", author="a", why="pytest names no new test")
    verdict = rank(evidence(lanes, [PASSING], paths=known, not_tried=(cut,)))
    assert of(verdict).reason == (
        "tests/test_cut.py, which it brings, was not run by pytest: name a check that runs it"
    )
    assert verdict.says.endswith(
        "a and b are tied: no test tells them apart, and tests/test_cut.py was not run"
    )
    (untried,) = verdict.not_tried
    assert untried == "not tried: a's tests on other code (tests/test_cut.py was not run)"
    ran = result({UP: True, "tests/test_cut.py::test_cut": True})
    mine = lane("a", ran, base=[PASSING], files=[brought])
    assert "not run by" not in of(rank(evidence([mine], [PASSING], paths=known))).reason
    quiet = result({UP: False})
    assert quiet.tests is not None
    quiet = replace(quiet, tests=dataclasses.replace(quiet.tests, unnamed=frozenset({"passed"})))
    mine = lane("a", quiet, base=[FAILING], files=[brought])
    reasons = of(rank(evidence([mine], [FAILING], paths=known))).reasons
    assert not any("not run" in row.text for row in reasons), "it names too little to tell"


def test_the_code_of_a_lane_that_asks_first_is_not_offered_with_anothers_tests() -> None:
    gone = file("prices.py", "APPLE = 1\n", None)
    brought = file("tests/test_new.py", None, "def test_new():\n    assert up(3) == 2\n")
    first = result({UP: True, DOWN: True, NEW: True})
    lanes = [
        lane("a", first, base=[FAILING], files=[gone, brought]),
        lane("b", result({UP: True, DOWN: True}), base=[FAILING], files=[gone, file()]),
    ]
    trials = (cross("a", "", {NEW: False}, FAILING), cross("a", "b", {NEW: True}, FAILING))
    assert rank(evidence(lanes, [FAILING], trials=trials)).picks
    taken = (EarlierCommit("c" * 40, "Prices", (file("prices.py", None, "APPLE = 1\n"),)),)
    verdict = rank(evidence(lanes, [FAILING], trials=trials, history=taken))
    assert (verdict.top, of(verdict, "b").decision) == ("a", "undoes ccccccc: Prices")
    assert verdict.picks == ()


def test_who_asks_something_else_does_not_agree_and_who_asks_the_same_is_named() -> None:
    """`other` passes what `honest` asks now, and asks what its own code does not do; `less` asks
    less; `same` breaks another test besides."""
    base = result({UP: True, DOWN: True}, name="_base")
    more = TEXT + "    assert up(4) == 2\n"

    def changed(name: str, new: str, up: bool = True, down: bool = True) -> LaneEvidence:
        files = [file(new=f"x = '{name}'\n"), file(PATH, more, new)]
        return lane(name, result({UP: up, DOWN: down}), base=[base], files=files)

    two = more.replace("== 1", "== 2")
    lanes = [
        changed("honest", two),
        changed("other", more.replace("== 1", "== 7"), up=False),
        changed("less", more.replace("    assert up(3) == 1\n", "")),
        changed("same", two, down=False),
    ]
    names = [row.lane for row in lanes]
    trials = [
        *(put_back(name, result({UP: False, DOWN: name != "same"}), base) for name in names),
        *(cross(name, "", {UP: False}, base) for name in ("honest", "same")),
        *(
            cross(author, on, {UP: True}, base)
            for author in ("honest", "same")
            for on in names
            if on != author
        ),
    ]
    verdict = rank(evidence(lanes, [base], trials=tuple(trials)))
    assert (
        of(verdict, "honest").decision
        == "changes what test_up expects: 1 -> 2, and only same agrees"
    )

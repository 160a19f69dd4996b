"""What a patch asks more of a test that is there, tried on the others that mend it."""

from __future__ import annotations

from msgspec.structs import replace

from hydra.checks.cross.trial import Trial
from hydra.checks.record import CheckResult
from hydra.checks.regressions import compare_to_baseline
from hydra.checks.results import ResultCounts, Status, TestCase, Tests
from hydra.ranking.evidence import Evidence
from hydra.ranking.model import LaneVerdict
from hydra.ranking.verdict import rank
from tests.support.evidences import cross, evidence, file, lane, result

PATH = "tests/test_a.py"
UP = f"{PATH}::test_up"
TEXT = "from a import up\n\n\ndef test_up():\n    assert up(3) == 1\n"
ASKING_MORE = file(PATH, TEXT, TEXT.replace("== 1", "== 1\n    assert up(9) == 3"))
ROW = "tests/a.test.ts::up > /?a=1"


def of_failures(*failing: str) -> CheckResult:
    """A run of five tests that names those that fail alone."""
    cases = [TestCase(id, "failed") for id in failing] or [TestCase("tests/a.test.ts", "passed")]
    counts = ResultCounts(5 - len(failing), len(failing), 0)
    plain = result(dict.fromkeys(failing, False))
    unnamed: frozenset[Status] = frozenset({"passed", "skipped"})
    return replace(plain, tests=Tests("text", tuple(cases), counts=counts, unnamed=unnamed))


def put_back(on: str, ran: CheckResult, base: CheckResult) -> Trial:
    """The base's own tests on a lane's patch."""
    result = compare_to_baseline(ran, base)
    return Trial(kind="protected", on=on, result=result, paths=(PATH,))


def judged(facts: Evidence) -> dict[str, LaneVerdict]:
    return {verdict.lane: verdict for verdict in rank(facts).lanes}


def test_a_red_test_of_which_more_is_asked_tells_those_apart_that_mend_it() -> None:
    base, green = result({UP: False}), result({UP: True})
    lanes = [
        lane("wrong", green, base=[base]),
        lane("right", green, base=[base], files=[file(new="x = 3\n"), ASKING_MORE]),
    ]
    for passes in (False, True):
        trials = (
            put_back("right", green, base),
            cross("right", "", {UP: False}, base),
            cross("right", "wrong", {UP: passes}, base),
        )
        ranks = judged(evidence(lanes, [base], trials=trials))
        assert (ranks["right"].rank, ranks["wrong"].rank) == (1, 1 if passes else 2)
        assert ranks["wrong"].reason.endswith("fails right's changed test") is not passes


def test_a_new_row_of_a_table_is_tried_where_tests_that_pass_are_not_named() -> None:
    base, path = of_failures("tests/a.test.ts::up > #"), "tests/a.test.ts"
    rows = file(path, "[['#']]", "[['#'], ['/?a=1']]")
    lanes = [
        lane("wrong", of_failures(), base=[base]),
        lane("right", of_failures(), base=[base], files=[file(new="x = 3\n"), rows]),
        lane("plain", of_failures(), base=[base], files=[file(new="x = 4\n")]),
    ]
    runs = {"": of_failures("tests/a.test.ts::up > #", ROW), "wrong": of_failures(ROW)}
    trials = [put_back("right", of_failures(), base)]
    trials += [
        Trial(kind="cross", on=on, author="right", result=run, paths=(path,))
        for on, run in {**runs, "plain": of_failures()}.items()
    ]
    ranks = judged(evidence(lanes, [base], trials=tuple(trials)))
    assert {name: ranks[name].rank for name in ranks} == {"right": 1, "plain": 2, "wrong": 3}
    assert ranks["wrong"].reason.endswith("fails right's changed test")

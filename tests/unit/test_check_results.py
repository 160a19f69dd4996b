"""Two runs held against each other, and one against its exit code."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydra.checks import results
from hydra.checks.comparison import compare
from hydra.checks.record import CheckResult, CheckStatus, details, document, read
from hydra.checks.regressions import compare_to_baseline
from hydra.checks.results import Comparison, GatheredTests, ResultCounts, Status, TestCase, Tests
from hydra.records.request import Check

STATUSES: dict[str, Status] = {"p": "passed", "f": "failed", "s": "skipped"}


def held(
    base: Tests | None,
    now: Tests | None,
    *,
    base_again: Tests | None = None,
    again: Tests | None = None,
) -> Comparison:
    comparison = compare(base, now, base_again=base_again, again=again)
    assert comparison is not None
    return comparison


def test_of_two_statuses_the_worse_stands_and_too_many_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(results, "CASES", 2)
    gathered = GatheredTests()
    for name, status in (("a", "p"), ("a", "s"), ("b", "f"), ("b", "p"), ("c", "p"), ("a", "p")):
        gathered.add(name, STATUSES[status])
    assert gathered.statuses == {"a": "skipped", "b": "failed"}
    assert gathered.remarks() == ("1 results beyond the first 2 tests were left out",)


names = st.sampled_from(["a", "a::b", "a::b::c", "d/e.py", "d/e.py::f", "g", "h.i", "h"])
whole = st.dictionaries(names, st.sampled_from(list(STATUSES.values()))).map(
    lambda texts: Tests("junit", tuple(TestCase(name, how) for name, how in texts.items()))
)
partial = whole.map(
    lambda tests: Tests(
        "text",
        tuple(case for case in tests.cases if case.status == "failed"),
        counts=ResultCounts(tests.passed, tests.failed, tests.skipped),
        unnamed=frozenset({"passed", "skipped"}),
    )
)
runs = whole | partial


@given(runs, runs, st.none() | runs, st.none() | runs)
def test_no_id_is_in_two_lists_and_fixed_is_earned(
    base: Tests, now: Tests, base_again: Tests | None, again: Tests | None
) -> None:
    comparison = compare(base, now, base_again=base_again, again=again)
    if comparison is None:
        return
    lists = [getattr(comparison, f) for f in comparison.__struct_fields__ if f != "breaks_nothing"]
    listed = [name for names in lists for name in names]
    assert len(listed) == len(set(listed))
    for name in comparison.fixed:
        assert base.by_id[name] == "failed"
        inside = [how for other, how in now.by_id.items() if other.startswith(name)]
        assert "passed" in inside
        assert now.by_id.get(name, "passed") == "passed"
        assert again is None or again.by_id.get(name) != "failed"
    if comparison.breaks_nothing:
        passing = {name for name, how in base.by_id.items() if how == "passed"}
        assert not passing & {
            *comparison.broken,
            *comparison.vanished,
            *comparison.skipped,
            *comparison.unknown,
        }


@given(runs)
def test_a_run_against_itself_has_no_news(tests: Tests) -> None:
    comparison = held(tests, tests, base_again=tests, again=tests)
    failing = tuple(name for name, how in tests.by_id.items() if how == "failed")
    assert comparison == Comparison(still_failing=failing)


UNIT = Check("unit", "pytest")


def having(**statuses: str) -> Tests:
    return Tests("junit", tuple(TestCase(id, name) for id, name in statuses.items()))  # type: ignore[arg-type]


def result(
    status: CheckStatus, tests: Tests | None = None, code: int | None = None, **more: Any
) -> CheckResult:
    if code is None:
        code = 0 if status is CheckStatus.PASSED else 1
    reason = f"it exited with {code}" if status is CheckStatus.FAILED else more.pop("reason", "")
    check = more.pop("check", UNIT)
    return CheckResult(
        check=check, status=status, tests=tests, exit_code=code, reason=reason, **more
    )


PASSED, FAILED = CheckStatus.PASSED, CheckStatus.FAILED
GREEN = result(PASSED, having(a="passed", b="passed"))
RED = result(FAILED, having(a="passed", b="failed"))


def test_a_result_comes_back_from_its_file() -> None:
    whole = compare_to_baseline(
        result(FAILED, RED.tests, output="checks/1/x/unit.txt", again=RED), GREEN
    )
    back = read(details(whole))
    assert back.tests is not None
    assert back.tests.cases == RED.tests.cases  # type: ignore[union-attr]
    assert (back.status, back.exit_code, back.output) == (FAILED, 1, "checks/1/x/unit.txt")
    assert (back.tests.passed, back.tests.failed) == (1, 1)


def test_long_lists_are_cut_in_a_document_and_whole_in_the_file() -> None:
    many = having(**{f"t{number}": "failed" for number in range(150)})
    judged = compare_to_baseline(result(FAILED, many), result(FAILED, many))
    data: Any = document(judged)
    assert data["comparison"]["counts"]["still_failing"] == 150
    assert len(data["comparison"]["still_failing"]) == len(data["tests"]["failing"]) == 100
    cases: Any = details(judged)["cases"]
    assert len(cases) == 150

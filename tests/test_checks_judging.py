"""A check on a patch held against the same on the base: what holds a patch back, and its words."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from hydra.checks.record import INTERNAL, CheckResult, CheckStatus, details, document, read
from hydra.checks.regressions import base_worth_again, compare_to_baseline, mends, worth_again
from hydra.checks.results import TestCase, Tests
from hydra.records.request import Check

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
BOTH_FAIL = result(FAILED, having(a="failed", b="failed"))
PARTLY = RED
"""Of these two, with what mends the first."""


@pytest.mark.parametrize(
    ("now", "base", "held_back", "says"),
    [
        (GREEN, GREEN, "", "2 passed"),
        (GREEN, None, "", "2 passed"),
        (GREEN, RED, "", "2 passed"),
        (RED, GREEN, "unit: 1 test passed on the base and fails now: b", "1 broken"),
        (RED, RED, "", "1 passed, 1 failed"),
        (RED, None, "unit exited with 1", "1 passed, 1 failed"),
        (
            result(FAILED, having(b="failed")),
            RED,
            "unit: 1 test of the base is gone: a",
            "0 passed, 1 failed",
        ),
        (
            result(FAILED, having(a="passed", b="failed", c="failed")),
            RED,
            "",
            "1 passed, 2 failed",
        ),
        (result(FAILED), result(PASSED), "unit exited with 1", "failed"),
        (
            result(FAILED),
            result(FAILED),
            "unit exited with 1; it fails on the base as well, and does not say which tests",
            "failed",
        ),
        (
            result(FAILED),
            RED,
            "unit exited with 1; it fails on the base as well, and says only there which tests",
            "failed",
        ),
        (
            RED,
            result(FAILED),
            "unit exited with 1; it fails on the base as well, and does not say there which tests",
            "1 passed, 1 failed",
        ),
        (
            result(FAILED, Tests("text", (TestCase("c", "failed"),))),
            RED,
            "unit exited with 1; it fails on the base as well, with tests of other names",
            "0 passed, 1 failed",
        ),
        (
            result(FAILED, having(a="passed", b="passed")),
            GREEN,
            "unit exited with 1, though no test failed",
            "2 passed, failed (exit 1)",
        ),
        (
            result(FAILED, having(a="passed", b="passed")),
            result(FAILED, having(a="passed", b="passed")),
            "",
            "2 passed, failed (exit 1)",
        ),
        (
            result(CheckStatus.TIMED_OUT, reason="it took over 3 s and was ended"),
            GREEN,
            "unit: it took over 3 s and was ended",
            "timed out",
        ),
        (
            result(CheckStatus.PROGRAM_MISSING, reason="pytest: not found (exit 127)"),
            result(CheckStatus.PROGRAM_MISSING),
            "unit: its program is missing: pytest: not found (exit 127), as on the base",
            "program missing",
        ),
        (
            result(CheckStatus.NO_TESTS, having(), 5),
            GREEN,
            "unit found no tests; on the base 2 passed",
            "no tests found",
        ),
        (
            result(CheckStatus.NO_TESTS, having(), 5),
            result(CheckStatus.NO_TESTS, having(), 5),
            "unit found no tests, and none on the base (exit 5)",
            "no tests found",
        ),
        (
            result(CheckStatus.NO_TESTS, None, 0),
            result(CheckStatus.NO_TESTS, None, 0),
            "",
            "no tests found",
        ),
        (result(FAILED, again=result(PASSED)), result(PASSED), "", "flaky"),
    ],
)
def test_what_holds_a_patch_back(
    now: CheckResult, base: CheckResult | None, held_back: str, says: str
) -> None:
    judged = compare_to_baseline(now, base)
    assert judged.held_back == held_back
    assert judged.says == says


@pytest.mark.parametrize(
    ("now", "holds"),
    [
        ({"t.py::test_a[y]": "passed"}, False),  # a case in the place of another
        ({"t.py::test_a[y]": "failed"}, True),
        ({"u.py::test_b": "passed"}, False),
        ({}, True),
    ],
)
def test_where_the_base_fails_a_test_may_be_replaced_and_not_dropped(
    now: dict[str, str], holds: bool
) -> None:
    old, red = {"t.py::test_a[x]": "passed"}, {"t.py::test_old": "failed"}
    base = result(FAILED, having(**old, **red), 1)
    assert (
        bool(compare_to_baseline(result(FAILED, having(**now, **red), 1), base).held_back) is holds
    )


def test_what_is_not_required_holds_nothing_back() -> None:
    lint = Check("lint", "ruff check .", "lint", required=False)
    assert compare_to_baseline(result(FAILED, check=lint), None).held_back == ""


def test_a_failing_lint_is_held_back_even_where_the_base_fails() -> None:
    lint = Check("lint", "ruff check .", "lint")
    judged = compare_to_baseline(result(FAILED, check=lint), result(FAILED, check=lint))
    shown = "lint exited with 1; it fails on the base as well, and does not say of what"
    assert judged.held_back == shown


@pytest.mark.parametrize(
    ("now", "base", "worth"),
    [
        (RED, GREEN, True),
        (RED, RED, False),
        (RED, None, True),
        (GREEN, GREEN, False),
        (PARTLY, BOTH_FAIL, True),
        (result(FAILED), result(FAILED), False),
        (result(FAILED), result(PASSED), True),
        (result(CheckStatus.TIMED_OUT), GREEN, False),
        (result(FAILED, check=Check("b", "make", "build")), None, False),
    ],
)
def test_a_test_s_new_failure_is_run_once_more_and_what_is_mended_in_part(
    now: CheckResult, base: CheckResult | None, worth: bool
) -> None:
    assert worth_again(now, base) is worth


def test_what_a_patch_mends_in_part_and_fails_once_more_is_flaky() -> None:
    """Tests that go by the clock fail on some runs: no README mends them."""
    judged = compare_to_baseline(result(FAILED, PARTLY.tests, again=BOTH_FAIL), BOTH_FAIL)
    assert judged.comparison is not None
    assert (judged.comparison.fixed, judged.comparison.flaky) == ((), ("a",))


@pytest.mark.parametrize(
    ("now", "base", "by_luck"),
    [
        (GREEN, RED, True),
        (RED, BOTH_FAIL, True),
        (result(PASSED), result(FAILED), True),
        (result(FAILED, having(a="passed")), result(FAILED, having(a="failed")), True),
        (GREEN, GREEN, False),
        (RED, RED, False),
        (GREEN, None, False),
        (GREEN, result(FAILED, RED.tests, again=GREEN), False),
        (result(FAILED), result(FAILED), False),
        (result(CheckStatus.TIMED_OUT), RED, False),
        (
            result(PASSED, check=Check("l", "make lint", "lint")),
            result(FAILED, check=Check("l", "make lint", "lint")),
            False,
        ),
    ],
)
def test_what_a_patch_mends_may_be_luck(
    now: CheckResult, base: CheckResult | None, by_luck: bool
) -> None:
    assert mends(now, base) is by_luck


def test_what_passes_and_fails_once_more_is_flaky() -> None:
    judged = compare_to_baseline(result(PASSED, GREEN.tests, again=RED), RED)
    assert judged.comparison is not None
    assert (judged.comparison.fixed, judged.comparison.flaky) == ((), ("b",))
    assert (judged.held_back, judged.says) == ("", "2 passed")
    assert judged.remarks == ("flaky, on the same code: b",)
    whole = compare_to_baseline(result(PASSED, again=result(FAILED)), result(FAILED))
    assert (whole.held_back, whole.says) == ("", "flaky")
    assert whole.remarks == ("it passed, and failed on one more run: flaky",)
    twice = compare_to_baseline(result(PASSED, again=result(PASSED)), result(FAILED))
    assert twice.remarks == ()


def test_the_base_s_own_failure_is_looked_at_twice() -> None:
    assert base_worth_again(RED)
    assert not base_worth_again(GREEN)
    flaky = result(FAILED, RED.tests, again=GREEN)
    judged = compare_to_baseline(GREEN, flaky)
    assert judged.comparison is not None
    assert judged.comparison.fixed == ()
    assert judged.comparison.flaky == ("b",)


@pytest.mark.parametrize(
    ("command", "status", "says"),
    [
        ("uv run pytest -q", "failed", " in a.py: no (--check 'uv run pytest -q --ignore=a.py' "),
        ("uv run pytest -q", "passed", " after a.py::a: no (`uv run pytest -q -v` names the next)"),
        ("pytest && ruff", "failed", ": no"),
        ("cd x && pytest", "failed", ": no"),
    ],
)
def test_where_pytest_itself_fails_is_said_with_how_to_go_on(
    command: str, status: str, says: str
) -> None:
    ended = result(FAILED, having(**{"a.py::a": status}), remarks=(INTERNAL,), telling=("no",))
    ended = replace(ended, check=Check("pytest", command))
    assert compare_to_baseline(ended, ended).untested.startswith(f"pytest itself fails{says}")
    assert compare_to_baseline(ended, GREEN).untested == ""


def test_a_remark_of_the_base_is_not_said_again_of_each_lane() -> None:
    lines = ("it wrote into the tree", "mine")
    judged = compare_to_baseline(result(PASSED, remarks=lines), result(PASSED, remarks=lines[:1]))
    assert judged.remarks == ("mine",)


def test_a_claim_that_the_exit_code_denies_is_remarked() -> None:
    judged = compare_to_baseline(result(FAILED, having(a="passed")), None)
    assert judged.remarks != ()


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

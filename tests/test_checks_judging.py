"""A check on a patch held against the same on the base: what holds a patch back, and its words."""

from __future__ import annotations

from typing import Any

import pytest

from hydra.checks.judging import base_worth_again, judge, worth_again
from hydra.checks.record import CheckResult, Status, details, document, read
from hydra.checks.results import TestCase, Tests
from hydra.model import Check

UNIT = Check("unit", "pytest")


def having(**statuses: str) -> Tests:
    return Tests("junit", tuple(TestCase(id, it) for id, it in statuses.items()))  # type: ignore[arg-type]


def result(
    status: Status, held: Tests | None = None, code: int | None = None, **more: Any
) -> CheckResult:
    if code is None:
        code = 0 if status is Status.PASSED else 1
    reason = f"it exited with {code}" if status is Status.FAILED else more.pop("reason", "")
    check = more.pop("check", UNIT)
    return CheckResult(
        check=check, status=status, tests=held, exit_code=code, reason=reason, **more
    )


PASSED, FAILED = Status.PASSED, Status.FAILED
GREEN = result(PASSED, having(a="passed", b="passed"))
RED = result(FAILED, having(a="passed", b="failed"))


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
            result(FAILED, having(a="passed", b="passed")),
            GREEN,
            "unit exited with 1, though no test failed",
            "failed (exit 1)",
        ),
        (
            result(FAILED, having(a="passed", b="passed")),
            result(FAILED, having(a="passed", b="passed")),
            "",
            "failed (exit 1)",
        ),
        (
            result(Status.TIMED_OUT, reason="it took over 3 s and was ended"),
            GREEN,
            "unit: it took over 3 s and was ended",
            "timed out",
        ),
        (
            result(Status.PROGRAM_MISSING, reason="pytest: not found (exit 127)"),
            result(Status.PROGRAM_MISSING),
            "unit: its program is missing: pytest: not found (exit 127); "
            "it is so on the base as well",
            "program missing",
        ),
        (
            result(Status.NO_TESTS, having(), 5),
            GREEN,
            "unit found no tests; on the base 2 passed",
            "no tests found",
        ),
        (
            result(Status.NO_TESTS, having(), 5),
            result(Status.NO_TESTS, having(), 5),
            "unit found no tests, and none on the base (exit 5)",
            "no tests found",
        ),
        (result(Status.NO_TESTS, None, 0), result(Status.NO_TESTS, None, 0), "", "no tests found"),
        (result(FAILED, again=result(PASSED)), result(PASSED), "", "flaky"),
    ],
)
def test_what_holds_a_patch_back(
    now: CheckResult, base: CheckResult | None, held_back: str, says: str
) -> None:
    judged = judge(now, base)
    assert judged.held_back == held_back
    assert judged.says == says


def test_what_is_not_required_holds_nothing_back() -> None:
    lint = Check("lint", "ruff check .", "lint", required=False)
    assert judge(result(FAILED, check=lint), None).held_back == ""


def test_a_failing_lint_is_held_back_even_where_the_base_fails() -> None:
    lint = Check("lint", "ruff check .", "lint")
    judged = judge(result(FAILED, check=lint), result(FAILED, check=lint))
    assert judged.held_back.startswith("lint exited with 1; it fails on the base as well")


@pytest.mark.parametrize(
    ("now", "base", "worth"),
    [
        (RED, GREEN, True),
        (RED, RED, False),
        (RED, None, True),
        (GREEN, GREEN, False),
        (result(FAILED), result(FAILED), False),
        (result(FAILED), result(PASSED), True),
        (result(Status.TIMED_OUT), GREEN, False),
        (result(FAILED, check=Check("b", "make", "build")), None, False),
    ],
)
def test_only_a_test_s_new_failure_is_run_once_more(
    now: CheckResult, base: CheckResult | None, worth: bool
) -> None:
    assert worth_again(now, base) is worth


def test_the_base_s_own_failure_is_looked_at_twice() -> None:
    assert base_worth_again(RED)
    assert not base_worth_again(GREEN)
    flaky = result(FAILED, RED.tests, again=GREEN)
    judged = judge(GREEN, flaky)
    assert judged.comparison is not None
    assert judged.comparison.fixed == ()
    assert judged.comparison.flaky == ("b",)


def test_a_remark_of_the_base_is_not_said_again_of_each_lane() -> None:
    said = ("it wrote into the tree", "mine")
    judged = judge(result(PASSED, remarks=said), result(PASSED, remarks=said[:1]))
    assert judged.remarks == ("mine",)


def test_a_claim_that_the_exit_code_denies_is_remarked() -> None:
    judged = judge(result(FAILED, having(a="passed")), None)
    assert judged.remarks != ()


def test_a_result_comes_back_from_its_file() -> None:
    whole = judge(result(FAILED, RED.tests, output="checks/1/x/unit.txt", again=RED), GREEN)
    back = read(details(whole))
    assert back.tests is not None
    assert back.tests.cases == RED.tests.cases  # type: ignore[union-attr]
    assert (back.status, back.exit_code, back.output) == (FAILED, 1, "checks/1/x/unit.txt")
    assert (back.tests.passed, back.tests.failed) == (1, 1)


def test_long_lists_are_cut_in_a_document_and_whole_in_the_file() -> None:
    many = having(**{f"t{number}": "failed" for number in range(150)})
    judged = judge(result(FAILED, many), result(FAILED, many))
    told: Any = document(judged)
    assert told["comparison"]["counts"]["still_failing"] == 150
    assert len(told["comparison"]["still_failing"]) == len(told["tests"]["failing"]) == 100
    cases: Any = details(judged)["cases"]
    assert len(cases) == 150

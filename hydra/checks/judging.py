"""One check on a patch, held against the same check on the base. Pure."""

from __future__ import annotations

from dataclasses import replace

from hydra.checks.compare import compare, reconcile
from hydra.checks.record import UNCOLLECTED, CheckResult, Status
from hydra.checks.results import Comparison, Tests
from hydra.naming import some

_OF_THE_CODE = (Status.FAILED, Status.NO_TESTS, Status.TIMED_OUT, Status.PROGRAM_MISSING)
"""What a missing package may end a check in."""

NAMED = 3
"""Tests that a sentence names."""


def worth_again(now: CheckResult, base: CheckResult | None) -> bool:
    """Whether a failure deserves one more run: of tests, and not one that the base had too."""
    if now.check.kind != "test" or now.status is not Status.FAILED:
        return False
    if base is None or base.status is not Status.FAILED:
        return True
    found = compare(base.tests, now.tests, base_again=_tests(base.again))
    if found is None:
        return False  # it fails on the base as well, and nobody says what of it
    return bool(found.broken or found.new_failing)


def base_worth_again(base: CheckResult) -> bool:
    """Whether the base's own failures are to be looked at twice: a flaky one is never fixed."""
    return base.check.kind == "test" and base.status is Status.FAILED


def judge(now: CheckResult, base: CheckResult | None, changed: str = "") -> CheckResult:
    """`now` with its comparison, what is to be remarked, and whether it holds its patch back.

    `changed` says that the patch asks for packages that are not installed: what fails for that is
    untested, and so is all that the base's own result says nothing of its code by.
    """
    held = base.tests if base else None
    comparison = None
    if _ran(now) and base is not None and _ran(base):
        comparison = compare(
            held, now.tests, base_again=_tests(base.again), again=_tests(now.again)
        )
    # What it does on the base as well is told there, once for all lanes.
    remarks = [remark for remark in now.remarks if base is None or remark not in base.remarks]
    if now.tests is not None and _ran(now):
        remarks += now.tests.remarks
        remarks += reconcile(now.tests, now.exit_code, held)
    if now.again is not None:
        remarks.append(_second(now.again))
    if comparison is not None and comparison.flaky:
        remarks.append(f"flaky, on the same code: {some(comparison.flaky, NAMED)}")
    judged = replace(now, comparison=comparison, remarks=tuple(dict.fromkeys(remarks)))
    held_back = _held_back(judged, base)
    lacks = changed if held_back and now.status in _OF_THE_CODE else ""
    untested = now.untested or (base.untested if base is not None else "") or lacks
    untested = untested or _uncollected(now, base)
    if untested:
        held_back = f"{now.check.name}: {untested}"
    return replace(judged, untested=untested, held_back=held_back if now.check.required else "")


def _uncollected(now: CheckResult, base: CheckResult | None) -> str:
    """That pytest runs no test here, with the patch or without."""
    if base is None or UNCOLLECTED not in now.remarks or UNCOLLECTED not in base.remarks:
        return ""
    return ": ".join(("tests cannot run here", *now.telling[:1]))


def _ran(result: CheckResult) -> bool:
    return result.status in (Status.PASSED, Status.FAILED, Status.NO_TESTS)


def _tests(result: CheckResult | None) -> Tests | None:
    return result.tests if result is not None and _ran(result) else None


def _second(again: CheckResult) -> str:
    if again.passed:
        return "it failed, and passed on one more run: flaky"
    return f"one more run did not pass either: {again.says}"


def _held_back(now: CheckResult, base: CheckResult | None) -> str:
    """Why `now` keeps its patch from being usable, as a sentence; "" where it does not."""
    name = now.check.name
    if now.status is Status.PASSED or (now.again is not None and now.again.passed):
        return ""
    if now.status is Status.NO_TESTS:
        return _no_tests(now, base)
    if now.status is not Status.FAILED:
        also = "; it is so on the base as well" if base and base.status is now.status else ""
        words = {Status.PROGRAM_MISSING: "its program is missing: "}
        return f"{name}: {words.get(now.status, '')}{now.reason or now.says}{also}"
    found = now.comparison
    if found is None:
        known = base is not None and base.status is Status.FAILED
        also = "; it fails on the base as well, and does not say which tests" if known else ""
        return f"{name} {now.reason.removeprefix('it ')}{also}"
    if not found.breaks_nothing:
        return f"{name}: {_broken(found)}"
    if _unexplained(now) and not (base and base.status is Status.FAILED and _unexplained(base)):
        return f"{name} {now.reason.removeprefix('it ')}, though no test failed"
    return ""


def _unexplained(result: CheckResult) -> bool:
    return result.tests is not None and not result.tests.failed


def _no_tests(now: CheckResult, base: CheckResult | None) -> str:
    name = now.check.name
    if base is not None and base.tests is not None and base.tests.passed:
        return f"{name} found no tests; on the base {base.tests.passed} passed"
    if now.exit_code == 0:
        return ""
    also = ", and none on the base" if base and base.status is Status.NO_TESTS else ""
    return f"{name} found no tests{also} (exit {now.exit_code})"


def _broken(found: Comparison) -> str:
    parts = [
        (found.broken, "passed on the base and fails now", "passed on the base and fail now"),
        (found.vanished, "of the base is gone", "of the base are gone"),
        (found.skipped, "of the base is skipped now", "of the base are skipped now"),
        (found.unknown, "of the base has no result", "of the base have no result"),
    ]
    told = [
        f"{len(ids)} test{'s' * (len(ids) > 1)} {many if len(ids) > 1 else one}: {some(ids, NAMED)}"
        for ids, one, many in parts
        if ids
    ]
    return "; ".join(told)

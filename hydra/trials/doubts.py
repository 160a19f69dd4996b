"""What a trial's result leaves open: whether it is worth another run. Pure."""

from __future__ import annotations

from hydra.checks.compare import compare
from hydra.checks.record import CheckResult, Status
from hydra.trials.planning import new_ids


def worse(now: CheckResult, own: CheckResult | None) -> bool:
    """Whether a patch does worse by the base's tests (`now`) than by its own version of them."""
    if now.status is Status.PASSED or (now.again is not None and now.again.passed):
        return bool(_gone(now, own))
    if now.status is not Status.FAILED or now.comparison is None:
        return own is None or own.passed
    held = own.tests.by_id if own is not None and own.tests else {}
    failing = (*now.comparison.broken, *now.comparison.still_failing)
    return any(held.get(name) != "failed" for name in failing) or bool(_gone(now, own))


def _gone(now: CheckResult, own: CheckResult | None) -> list[str]:
    """Tests of the base that ran by the patch's own version, and do not run so."""
    held = own.tests.by_id if own is not None and own.tests else {}
    found = now.comparison
    lost = (*found.vanished, *found.skipped) if found is not None else ()
    return [name for name in lost if held.get(name) in ("passed", "failed")]


def doubtful(now: CheckResult, own: CheckResult, on_base: CheckResult | None) -> bool:
    """Whether an author's test fails on another patch in a way that would tell the two apart.

    One that passes on the base too says nothing, and is not worth a second look.
    """
    if now.status is not Status.FAILED:
        return False
    mine = [name for name, passes in new_ids(own).items() if passes]
    failing = _failing(now, own)
    passing = on_base.tests.by_id if on_base is not None and on_base.tests else {}
    return any(name in failing and passing.get(name) != "passed" for name in mine)


def tells(on_base: CheckResult | None, own: CheckResult) -> bool:
    """Whether any of an author's tests that passes on its own patch may tell patches apart."""
    held = on_base.tests.by_id if on_base is not None and on_base.tests else {}
    return any(passes and held.get(name) != "passed" for name, passes in new_ids(own).items())


def counted(now: CheckResult, own: CheckResult) -> str:
    """How many of an author's tests pass, in words; the check's own where it names none."""
    ids = new_ids(own)
    if now.tests is None or now.status not in (Status.PASSED, Status.FAILED):
        return now.says
    passing = sum(now.tests.by_id.get(name) == "passed" for name in ids)
    return f"{passing} of {len(ids)} passed"


def _failing(now: CheckResult, own: CheckResult) -> set[str]:
    """Also of a file that fails as a whole: it does not import there."""
    found = compare(own.tests, now.tests)
    held = now.tests.by_id if now.tests else {}
    named = {name for name, status in held.items() if status == "failed"}
    return named | set(found.broken if found else ())

"""One check on a patch, held against the same check on the base. Pure."""

from __future__ import annotations

import re
import shlex

from msgspec.structs import replace

from hydra.checks.comparison import compare, passing, reconcile
from hydra.checks.lack import VARIABLE
from hydra.checks.network import lacks_network_after_tests
from hydra.checks.record import INTERNAL, UNCOLLECTED, CheckResult, CheckStatus
from hydra.checks.results import Comparison, Tests
from hydra.text import join_names, plural, quoted_names

_OF_THE_CODE = (
    CheckStatus.FAILED,
    CheckStatus.NO_TESTS,
    CheckStatus.TIMED_OUT,
    CheckStatus.PROGRAM_MISSING,
)
"""What a missing package may end a check in."""

_STOPPED_AT = re.compile(r"ERROR (\S+\.py)\b")
"""How pytest's summary names a module that it cannot import."""

_PLAIN_PYTEST = re.compile(r"(?:[\w./+=-]+ )*(?:\S*/)?(?:pytest|py\.test)(?: [^;&|<>()`$\n]*)?")
"""A command that takes more arguments of pytest's at its end."""

FEWER = "fewer tests pass than on the base, and its output does not name them"


def worth_again(now: CheckResult, base: CheckResult | None) -> bool:
    """Whether a failure deserves one more run: of tests, and not one that the base had too, but
    where some of the base's failures are gone: they may come and go by themselves."""
    if now.check.kind != "test" or now.status is not CheckStatus.FAILED:
        return False
    if base is None or base.status is not CheckStatus.FAILED:
        return True
    comparison = compare(base.tests, now.tests, base_again=_tests(base.again))
    if comparison is None:
        return False  # it fails on the base as well, and nobody says what of it
    partly = comparison.fixed and comparison.still_failing
    return bool(comparison.broken or comparison.new_failing or partly)


def mends(now: CheckResult, base: CheckResult | None) -> bool:
    """Whether tests that fail on the base pass now. Those that go by the clock do so by themselves:
    of a patch that changes no line of code it counts where they pass once more."""
    if base is None or base.status is not CheckStatus.FAILED or base.unsteady:
        return False
    comparison = compare(base.tests, _tests(now), base_again=_tests(base.again))
    fixes = now.passed or (comparison is not None and bool(comparison.fixed))
    return now.check.kind == "test" and fixes


def base_worth_again(base: CheckResult) -> bool:
    """Whether the base's own failures are to be looked at twice: a flaky one is never fixed."""
    return base.check.kind == "test" and base.status is CheckStatus.FAILED


def compare_to_baseline(
    now: CheckResult,
    base: CheckResult | None,
    changed: str = "",
    put_back: CheckResult | None = None,
) -> CheckResult:
    """`now` with its comparison, what is to be remarked, and whether it holds its patch back.

    `changed` says that the patch asks for packages that are not installed: what fails for that is
    untested, and so is all that the base's own result says nothing of its code by. `put_back` is
    the same with the base's version of its tests: what `now` leaves open of them, that settles.
    """
    tests = base.tests if base else None
    comparison, differs = None, ""
    if _ran(now) and base is not None and _ran(base) and not (differs := now.differs(base)):
        comparison = compare(
            tests,
            now.tests,
            base_again=_tests(base.again),
            again=_tests(now.again),
            passing=_passing(put_back, base),
        )
    # What it does on the base as well is told there, once for all lanes.
    remarks = [remark for remark in now.remarks if base is None or remark not in base.remarks]
    if now.tests is not None and _ran(now):
        remarks += now.tests.remarks
        remarks += reconcile(now.tests, now.exit_code, None if differs else tests)
    if now.again is not None and now.again.passed and not now.passed:
        remarks.append("it failed, and passed on one more run: flaky")
    if comparison is not None and comparison.flaky:
        remarks.append(f"flaky, on the same code: {quoted_names(comparison.flaky)}")
    elif now.passed and now.unsteady:
        remarks.append("it passed, and failed on one more run: flaky")
    judged = replace(now, comparison=comparison, remarks=tuple(dict.fromkeys(remarks)))
    held_back = _held_back(judged, base)
    lacks = changed if held_back and now.status in _OF_THE_CODE else ""
    untested = now.untested or (base.untested if base is not None else "") or lacks
    untested = untested or (differs and f"not compared: {differs}; checked again, both run anew")
    untested = untested or _lacking(now, base) or _uncollected(now, base)
    untested = untested or _unreached(judged, base)
    if untested:
        held_back = f"{now.check.name}: {untested}"
    return replace(judged, untested=untested, held_back=held_back if now.check.required else "")


def _passing(put_back: CheckResult | None, base: CheckResult) -> frozenset[str]:
    if put_back is None or base.tests is None:
        return frozenset()
    again = (_tests(base.again), _tests(put_back.again))
    compared = compare(base.tests, _tests(put_back), base_again=again[0], again=again[1])
    return passing(base.tests, compared)


def _lacking(now: CheckResult, base: CheckResult | None) -> str:
    """That no test runs here, with the patch or without, for lack of what the checkout has."""
    if base is None or any(tests is not None and tests.passed for tests in (now.tests, base.tests)):
        return ""
    on_base = {name for lack in base.missing for name in lack.names}
    for lack in now.missing:
        if names := tuple(name for name in lack.names if name in on_base):
            is_one = len(names) == 1 or lack.option != VARIABLE
            what = f"{replace(lack, names=names).name} {'is' if is_one else 'are'} missing"
            return f"its tests do not run in a lane: {what}"
    return ""


def _uncollected(now: CheckResult, base: CheckResult | None) -> str:
    """That pytest does not come to its end here, with the patch or without."""
    if base is not None and INTERNAL in now.remarks and INTERNAL in base.remarks:
        return _internal(now)
    if base is None or UNCOLLECTED not in now.remarks or UNCOLLECTED not in base.remarks:
        return ""
    files = [match[1] for match in map(_STOPPED_AT.match, now.telling) if match]
    lines = [line for line in now.telling if not _STOPPED_AT.match(line)]
    what = [f"pytest stops at {file}, which cannot be imported" for file in files]
    return ": ".join((*(what or ["tests cannot run here"])[:1], *lines[:1]))


def _internal(now: CheckResult) -> str:
    """Where pytest itself fails, by what, and how to go on: without the file whose failure it
    cannot tell, or by what names the test."""
    last = now.tests.cases[-1] if now.tests and now.tests.cases else None
    command, line = now.check.command, "".join(f": {line}" for line in now.telling[:1])
    if last is None or not _PLAIN_PYTEST.fullmatch(command):
        return f"pytest itself fails{line}"
    file = last.id.partition("::")[0]
    if last.status != "failed":
        return f"pytest itself fails after {last.id}{line} (`{command} -v` names the next)"
    without = shlex.quote(f"{command} --ignore={shlex.quote(file)}")
    return f"pytest itself fails in {file}{line} (--check {without} leaves it out)"


def _unreached(judged: CheckResult, base: CheckResult | None) -> str:
    """That new tests alone fail where the base passes, or no test at all, and what fails could not
    reach what it may need: a network of its own has none of the machine's services."""
    if lacks_network_after_tests(judged, base):
        places = join_names(judged.unreached)
        return f"what it runs after its tests could not reach {places} from a network of its own"
    changed = judged.comparison
    if base is None or not base.passed or changed is None or judged.network != "private":
        return ""
    missed = [name for name in judged.unreached if name not in base.unreached]
    if not missed or not changed.new_failing or not changed.breaks_nothing:
        return ""
    tests = plural(changed.new_failing, "new test")
    return f"{tests} could not reach {join_names(missed)} from a network of the check's own"


def _ran(result: CheckResult) -> bool:
    return result.status in (CheckStatus.PASSED, CheckStatus.FAILED, CheckStatus.NO_TESTS)


def _tests(result: CheckResult | None) -> Tests | None:
    return result.tests if result is not None and _ran(result) else None


def _held_back(now: CheckResult, base: CheckResult | None) -> str:
    """Why `now` keeps its patch from being usable, as a sentence; "" where it does not."""
    name = now.check.name
    if now.status is CheckStatus.PASSED or (now.again is not None and now.again.passed):
        return ""
    if now.status is CheckStatus.NO_TESTS:
        return _no_tests(now, base)
    if now.status is not CheckStatus.FAILED:
        also = ", as on the base" if base and base.status is now.status else ""
        values = {CheckStatus.PROGRAM_MISSING: "its program is missing: "}
        return f"{name}: {values.get(now.status, '')}{now.reason or now.says}{also}"
    comparison = now.comparison
    if comparison is None:
        is_known = base is not None and base.status is CheckStatus.FAILED
        also = f"; it fails on the base as well{_unheld(now, base)}" if is_known else ""
        return f"{name} {now.reason.removeprefix('it ')}{also}"
    if not comparison.breaks_nothing and not _replaces(comparison, now.tests):
        return f"{name}: {_broken(comparison, base)}"
    if _unexplained(now) and not (
        base and base.status is CheckStatus.FAILED and _unexplained(base)
    ):
        return f"{name} {now.reason.removeprefix('it ')}, though no test failed"
    return ""


def _unheld(now: CheckResult, base: CheckResult | None) -> str:
    """Why its tests and those of the base, which fails too, cannot be held against each other."""
    if now.check.kind != "test":
        return ", and does not say of what"
    named = _names_tests(now), base is not None and _names_tests(base)
    return {
        (True, True): ", with tests of other names",
        (True, False): ", and does not say there which tests",
        (False, True): ", and says only there which tests",
        (False, False): ", and does not say which tests",
    }[named]


def _names_tests(result: CheckResult) -> bool:
    return result.tests is not None and bool(result.tests.cases)


def _replaces(comparison: Comparison, now: Tests | None) -> bool:
    """Whether tests of the base are gone and nothing else, and no more of them than are new and
    pass: a case in the place of another, a name in that of another. The base's own are put back
    and run besides, as where the check passes."""
    aside = (*comparison.broken, *comparison.skipped, *comparison.unknown)
    fresh = [id for id in comparison.new if now is not None and now.by_id.get(id) == "passed"]
    return not aside and 0 < len(comparison.vanished) <= len(fresh)


def _unexplained(result: CheckResult) -> bool:
    return result.tests is not None and not result.tests.failed


def _no_tests(now: CheckResult, base: CheckResult | None) -> str:
    name = now.check.name
    if base is not None and base.tests is not None and base.tests.passed:
        return f"{name} found no tests; on the base {base.tests.passed} passed"
    if now.exit_code == 0:
        return ""
    alike = base is not None and base.status is CheckStatus.NO_TESTS
    if now.exit_code == 4 and now.reason:  # pytest was given a path that is not there
        return f"{name}: {now.reason}{'; it is so on the base as well' * alike}"
    return f"{name} found no tests{', and none on the base' * alike} (exit {now.exit_code})"


def _broken(comparison: Comparison, base: CheckResult | None) -> str:
    """What the base does not name it may have passed, unnamed among others, or not have at all."""
    before = base.tests.by_id if base is not None and base.tests is not None else {}
    named = [id for id in comparison.broken if id in before]
    unnamed = [id for id in comparison.broken if id not in before]
    its_output = "that the base's output does not name"
    parts = [
        (named, "passed on the base and fails now", "passed on the base and fail now"),
        (unnamed, f"{its_output} fails now", f"{its_output} fail now"),
        (comparison.vanished, "of the base is gone", "of the base are gone"),
        (
            comparison.skipped,
            "of the base is skipped now, or expected to fail",
            "of the base are skipped now, or expected to fail",
        ),
        (comparison.unknown, "of the base is not named now", "of the base are not named now"),
    ]
    lines = [
        f"{plural(ids, 'test')} {many if len(ids) > 1 else name}: {quoted_names(ids)}"
        for ids, name, many in parts
        if ids
    ]
    return "; ".join(lines) or FEWER

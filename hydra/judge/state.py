"""A patch is proved, untested, broken or held back, and why in one short sentence of the user's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hydra.checks.record import CheckResult, Status
from hydra.checks.results import Comparison
from hydra.judge.evidence import Evidence
from hydra.judge.finding import Finding
from hydra.judge.gates import of_checks, of_ending
from hydra.judge.standing import Standing
from hydra.judge.verdict import CrossTest, Reason, State
from hydra.judge.words import fail, joined, number_of, some

_RAN = (Status.PASSED, Status.FAILED)


class Ruling(NamedTuple):
    """What a patch is, and why; docs/compare.md has the table of all cases."""

    state: State
    reason: str


def ruling(
    mine: Standing,
    all_of_them: Mapping[str, Standing],
    gates: Sequence[Reason],
    findings: Sequence[Finding],
    rows: Sequence[CrossTest],
    evidence: Evidence,
) -> Ruling:
    """The gravest of what speaks against the patch; where nothing does, its proof, if any."""
    for ending in of_ending(mine):
        return Ruling("held_back", ending.text)
    against = [*_against(mine, gates, evidence.baseline)]
    if against:
        return min(against, key=lambda ruling: _GRAVEST.index(ruling.state))
    fixed, passing = _fixed(mine, findings), _passing(mine, rows)
    if unmended := _unmended(mine, all_of_them, fixed, passing):
        return Ruling("broken", unmended)
    if fixed or passing:
        proof = _fixes(mine, fixed) if fixed else _passes_new(mine, passing)
        return Ruling("proved", f"{proof}{_besides(mine, fixed)}{_but(findings)}")
    return Ruling("untested", _untested(mine, rows, evidence))


_GRAVEST: Sequence[State] = ("broken", "held_back", "untested")


def _against(
    mine: Standing, gates: Sequence[Reason], baseline: Sequence[CheckResult]
) -> Iterator[Ruling]:
    """Of each gate what it makes of the patch."""
    checks = {gate.text for gate in of_checks(mine)}
    for gate in gates:
        if gate.text not in checks:
            yield Ruling("held_back", _briefly(gate.text))
    before = {result.check.name: result for result in baseline}
    for result in mine.lane.checks:
        if result.held_back:
            yield _of_check(result, before.get(result.check.name), by_tests=mine.touches_tests())


def _briefly(text: str) -> str:
    """A gate without what shows it, which stands among the gates in full."""
    text = re.sub(r"\b[A-Z]\w*\.(?=test)", "", text.partition("; ")[0])  # the class of a test
    return text if len(text) <= _LONG else text.partition(": ")[0]


_LONG = 72
"""Characters from which a sentence goes without its details."""


def _of_check(now: CheckResult, base: CheckResult | None, *, by_tests: bool) -> Ruling:
    """What a required check that holds a patch back makes of it; `by_tests`: it changes tests."""
    if now.untested:
        return Ruling("untested", now.untested)
    name = now.check.name
    ran = base is not None and base.status in _RAN
    if now.status is Status.FAILED:
        return _of_failure(now, base, by_tests=by_tests)
    if now.status is Status.NO_TESTS and base is not None and base.tests and base.tests.passed:
        return Ruling("broken", f"{name} finds no tests with it; on the base {base.says}")
    if now.status is Status.TIMED_OUT and ran:
        return Ruling("broken", f"{name} does not come to its end with it, and does on the base")
    also = ", nor on the base" if base is not None and base.status is now.status else ""
    return Ruling("untested", f"{name} could not run on it{also}: {now.reason or now.says}")


def _of_failure(now: CheckResult, base: CheckResult | None, *, by_tests: bool) -> Ruling:
    name, changed = now.check.name, now.comparison
    before = base.tests.passed if base is not None and base.tests else 0
    if changed is not None and changed.unknown and now.tests and before and not now.tests.passed:
        return Ruling("broken", f"no test passes with it; on the base {before:,} passed")
    if changed is not None and not changed.breaks_nothing:
        ruling = _of_tests(name, changed, by_tests=by_tests)
        # pytest counts one error, and names no test, where a module ends the interpreter.
        none = ruling.state == "untested" and now.tests is not None and not now.tests.passed
        none = none and not changed.still_failing  # go names no test that passes
        return Ruling("broken", f"no test passes with it{_on(base)}") if none else ruling
    if base is None or base.status not in (*_RAN, Status.NO_TESTS):
        return Ruling("untested", _not_on_base(now, {name: base} if base else {}))
    if base.status is Status.NO_TESTS:
        return Ruling("broken", f"{name} fails")
    if base.passed:
        return Ruling("broken", f"{name} fails with it, and passed on the base")
    if before and now.tests is None:
        return Ruling("broken", f"{name} fails and names no test; on the base {before:,} passed")
    code = f" (exit {now.exit_code})" if now.exit_code not in (None, 1) else ""
    return Ruling("broken", f"{name} still fails, as on the base{code}")


def _on(base: CheckResult | None) -> str:
    passed = base.tests.passed if base is not None and base.tests is not None else 0
    return f"; on the base {passed} passed" if passed else ""


def _of_tests(name: str, changed: Comparison, *, by_tests: bool) -> Ruling:
    if ids := changed.broken:
        return Ruling("broken", f"breaks {_which(ids, 'passed on the base')}")
    lost = (*changed.vanished, *changed.skipped)
    if lost and not by_tests:
        return Ruling("broken", f"keeps {_named(lost)} of the base from running")
    if ids := changed.vanished:
        return Ruling(
            "held_back", f"{_named(ids)} of the base no longer run{'s' * (len(ids) == 1)}"
        )
    if ids := changed.skipped:
        return Ruling("held_back", f"skips {_which(ids, 'ran on the base')}")
    ids = changed.unknown
    return Ruling("untested", f"what {name} prints does not say how {_named(ids)} ended")


def _which(ids: Sequence[str], what: str) -> str:
    """`test_up, which ran on the base`; `2 tests that ran on the base (test_up, test_down)`."""
    names = [leaf(name) for name in ids]
    if len(names) == 1:
        return f"{names[0]}, which {what}"
    return f"{number_of(names, 'test')} that {what} ({some(names, 2)})"


def _named(ids: Sequence[str]) -> str:
    """`test_up`; `3 tests (test_up, test_down and 1 more)`."""
    names = [leaf(name) for name in ids]
    return names[0] if len(names) == 1 else f"{number_of(names, 'test')} ({some(names, 2)})"


def leaf(name: str) -> str:
    """A test's own name, without its file and its class; a sentence for a name is in quotes."""
    plain, bracket, case = name.partition("[")
    last = plain.split(" > ")[-1]
    if " " in last:
        return f'"{last}{bracket}{case}"'
    return re.split(r"[.:#/]+", last)[-1] + bracket + case


def _fixed(mine: Standing, findings: Sequence[Finding] = ()) -> tuple[str, ...]:
    """What failed on the base and passes with the patch, by the base's version of the tests; of a
    linter whose settings it changes nothing, for those are not put back."""
    if not mine.whole.known:
        return ()
    settings = any(finding.kind in ("check_file", "test_configuration") for finding in findings)
    loose = {*mine.whole_checks} - mine.tests if settings else set()
    named = [name for name in mine.turned if name not in mine.hidden and name not in loose]
    return (*named, *(name for name in mine.whole.mends if name not in named))


def _passing(mine: Standing, rows: Sequence[CrossTest]) -> tuple[CrossTest, ...]:
    """New tests, its own or others', that fail on the base and pass with the patch."""
    good = ("own", "passed") if mine.whole.known else ("passed",)
    lane = mine.lane.lane
    return tuple(
        row
        for row in rows
        if row.base == "failed" and row.says != "flaky" and row.cells.get(lane) in good
    )


def _unmended(
    mine: Standing,
    all_of_them: Mapping[str, Standing],
    fixed: Sequence[str],
    passing: Sequence[CrossTest],
) -> str:
    """That it leaves all failures of the base. Where no patch mends any of them they may be of
    another matter, and a new test can prove it."""
    failing = mine.required_failing
    unsure = mine.unclear or (mine.turned and not mine.whole.known)
    if fixed or not failing or unsure:
        return ""
    mended = {name for other in all_of_them.values() for name in _fixed(other)}
    if passing and not mended & {*failing}:
        return ""
    only = "does not fix the failing test"
    return only if len(failing) == 1 else f"fixes none of the {len(failing):,} failing tests"


def _fixes(mine: Standing, fixed: Sequence[str]) -> str:
    tests = [name for name in fixed if name not in mine.whole_checks]
    checks = [name for name in fixed if name in mine.whole_checks]
    total = len(tests) + len(mine.failing)
    parts = [f"fixes {_of_failing(len(tests), total)}"] if tests else []
    if checks:
        parts.append(f"{joined(checks)} failed on the base and pass{'es' * (len(checks) == 1)}")
    return "; ".join(parts)


def _of_failing(count: int, total: int) -> str:
    """`the failing test`, `both failing tests`, `2 of the 3 failing tests`."""
    if count < total:
        return f"{count:,} of the {total:,} failing tests"
    return {1: "the failing test", 2: "both failing tests"}.get(
        total, f"the {total:,} failing tests"
    )


def _passes_new(mine: Standing, passing: Sequence[CrossTest]) -> str:
    own = [row for row in passing if row.author == mine.lane.lane]
    if own:
        return f"its {_new(own)} {fail(own)} on the base and pass{'es' * (len(own) == 1)} with it"
    authors = joined([*dict.fromkeys(row.author for row in passing)])
    whose = (
        f"{authors}'s {_new(passing)}" if " " not in authors else f"{_new(passing)} of {authors}"
    )
    return f"passes {whose}, which {fail(passing)} on the base"


def _new(rows: Sequence[CrossTest]) -> str:
    return "new test" if len(rows) == 1 else number_of(rows, "new test")


def _besides(mine: Standing, fixed: Sequence[str]) -> str:
    """What it breaks, what it leaves, and how many tests pass."""
    tests = [
        result for result in mine.lane.checks if result.check.kind == "test" and result.comparison
    ]
    parts = []
    if tests and all(result.comparison.breaks_nothing for result in tests if result.comparison):
        parts.append(", breaks nothing")
    elif mine.broken:
        parts.append(f", breaks {_named(mine.broken)} in a check that it need not pass")
    if passed := sum(result.tests.passed for result in mine.lane.checks if result.tests):
        parts.append(f" ({passed:,} passed)")
    if mine.failing and not fixed:
        parts.append(f"; {number_of(mine.failing, 'test')} {fail(mine.failing)} as on the base")
    return "".join(parts)


def _but(findings: Sequence[Finding]) -> str:
    """Code that gives what tests expect is not refused, for honest code does so too: it is said."""
    coded = [finding.text for finding in findings if finding.kind == "hard_coded"]
    return f"; but {coded[0]}" if coded else ""


def _untested(mine: Standing, rows: Sequence[CrossTest], evidence: Evidence) -> str:
    """Why nothing that ran tells the patch from the base, and what would."""
    checks = mine.lane.checks
    if not checks:
        if not evidence.checked:
            return "no check ran: --check COMMAND tests it"
        return "its checks did not run"
    if not mine.whole.known:
        return "it changes tests, and could not be run with the base's version of them"
    if mine.unclear:
        return f"the output of its checks does not say how {_named(mine.unclear)} ended"
    if mine.gone:
        return f"{_named(mine.gone)}, which failed on the base, did not run with it"
    own = [row for row in rows if row.author == mine.lane.lane]
    if own and all(row.base == "passed" for row in own):
        return f"its {_new(own)} pass{'es' * (len(own) == 1)} on the base too"
    if untried := [row for row in own if row.base == "not tried" and row.cells.get(row.author)]:
        return f"its {_new(untried)} {'was' if len(untried) == 1 else 'were'} not run on the base"
    before = {result.check.name: result for result in evidence.baseline}
    alone = [result for result in checks if result.status in _RAN and not _has_run(before, result)]
    return _not_on_base(alone[0], before) if alone else _alike(checks)


def _has_run(before: Mapping[str, CheckResult], now: CheckResult) -> bool:
    base = before.get(now.check.name)
    return base is not None and base.status in _RAN


def _not_on_base(now: CheckResult, before: Mapping[str, CheckResult]) -> str:
    """That nothing can be said of a check by its end on the base."""
    name, base = now.check.name, before.get(now.check.name)
    ends = "passes" if now.passed else "fails"
    if base is None:
        return f"{name} {ends} with it, and was not run on the base"
    return f"{name} {ends} with it, and could not run on the base: {base.reason or base.says}"


def _alike(checks: Sequence[CheckResult]) -> str:
    """That its checks end as they do on the base."""
    idle = [result for result in checks if result.status not in _RAN]
    names = joined([result.check.name for result in checks])
    if len(idle) == len(checks):
        return f"{names}: {idle[0].reason or idle[0].says}"
    good = all(result.passed for result in checks)
    passed = sum(result.tests.passed for result in checks if result.tests)
    count = f" ({passed:,} passed)" if passed else ""
    ends = f"pass{'es' * (len(checks) == 1)}" if good else f"end{'s' * (len(checks) == 1)} alike"
    return f"{names} {ends} with and without it{count}: add a test that fails without it"

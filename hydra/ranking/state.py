"""A patch is proved, untested, broken or held back, and why in one short sentence of the user's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hydra.analysis.patch import FileChange, Finding
from hydra.analysis.tampering.inline_tests import helpers_changed, writes_tests
from hydra.analysis.tampering.named_data import data_alone
from hydra.analysis.tampering.test_files import supports_tests
from hydra.checks.record import CheckResult, CheckStatus
from hydra.checks.regressions import FEWER
from hydra.checks.results import Comparison
from hydra.ranking.cross_tests import kind_of, tried_of
from hydra.ranking.evidence import Evidence
from hydra.ranking.gates import of_checks, of_ending, of_own_version, of_red_checks
from hydra.ranking.measures import has_code
from hydra.ranking.model import ASKED_OF, CrossTest, Reason, State
from hydra.ranking.results import (
    RAN,
    LaneResults,
    leaf,
    leaves,
    may_bend_unseen,
    mended_by_count,
    named,
    not_come_to,
)
from hydra.ranking.unchecked import unrun
from hydra.text import NAMED, fail, join_names, joined, of_run, plural, were

_NOT_BEGUN = (126, 127)
"""What a shell ends with where a program of it is not there, or is none."""


class LaneState(NamedTuple):
    """What a patch is, and why; docs/reference/compare.md has the table of all cases."""

    state: State
    reason: str


def ruling(
    mine: LaneResults,
    all_of_them: Mapping[str, LaneResults],
    gates: Sequence[Reason],
    findings: Sequence[Finding],
    rows: Sequence[CrossTest],
    evidence: Evidence,
    *,
    agreed: str = "",
) -> LaneState:
    """The gravest of what speaks against the patch; where nothing does, its proof, if any.

    `agreed` is what it asks of old tests and others agree with.
    """
    for ending in of_ending(mine):
        return LaneState("held_back", ending.text)
    against = [*_against(mine, gates, findings, evidence.baseline_of(mine.lane))]
    if against:
        return min(against, key=lambda ruling: _GRAVEST.index(ruling.state))
    mended, passing = fixed(mine, findings), _passing(mine, rows)
    if unmended := _unmended(mine, all_of_them, mended, passing):
        return LaneState("untested", f"{unmended}{_yet(mine, passing)}")
    if mended or passing:
        proof = _fixes(mine, mended) if mended else _passes_new(mine, passing)
        asks = f"; {agreed}" if agreed else ""
        flaky = _flaky(mine, rows, evidence)
        besides = f"{_besides(mine, mended)}{flaky and f'; {flaky}'}{_refuted(mine, rows)}"
        return LaneState("proved", f"{proof}{besides}{asks}{_but(findings)}")
    return LaneState("untested", _untested(mine, rows, evidence))


_GRAVEST: Sequence[State] = ("broken", "held_back", "untested")


def _against(
    mine: LaneResults,
    gates: Sequence[Reason],
    findings: Sequence[Finding],
    baseline: Sequence[CheckResult],
) -> Iterator[LaneState]:
    """Of each gate what it makes of the patch."""
    checks = {gate.text for gate in of_checks(mine)}
    reds = {gate.text for gate in of_red_checks(mine, baseline)}
    own = {gate.text for gate in of_own_version(mine, findings)}
    for gate in gates:
        if gate.text in reds:
            yield LaneState("broken", gate.text)
        elif gate.text in own:
            yield LaneState("held_back", gate.text)
        elif gate.text not in checks:
            yield LaneState("held_back", _briefly(gate.text))
    before = {result.check.name: result for result in baseline}
    for result in mine.lane.checks:
        if result.held_back:
            yield _of_check(result, before.get(result.check.name), mine)


def _briefly(text: str) -> str:
    """A gate without what shows it, which stands among the gates in full."""
    text = re.sub(r"\b[A-Z]\w*\.(?=test)", "", text.partition("; ")[0])  # the class of a test
    return text if len(text) <= _LONG else text.partition(": ")[0]


_LONG = 72
"""Characters from which a sentence goes without its details."""


def _of_check(now: CheckResult, base: CheckResult | None, mine: LaneResults) -> LaneState:
    """What a required check that holds a patch back makes of it."""
    if now.untested:
        return LaneState("untested", now.untested)
    name = now.check.name
    ran = base is not None and base.status in RAN
    if now.status is CheckStatus.FAILED:
        return _of_failure(now, base, mine)
    if now.status is CheckStatus.NO_TESTS and base is not None and base.tests and base.tests.passed:
        return LaneState("broken", f"{name} finds no tests with it; on the base {base.says}")
    if now.status is CheckStatus.TIMED_OUT and ran:
        return LaneState("broken", f"{name} does not come to its end with it, and does on the base")
    if now.status is CheckStatus.PROGRAM_MISSING and ran:
        # Of a folder or a recipe that the patch has changed: the base's check began here.
        return LaneState(
            "broken", f"{name} cannot start with it, and did on the base: {now.reason}"
        )
    also = ", nor on the base" if base is not None and base.status is now.status else ""
    return LaneState("untested", f"{name} could not run on it{also}: {now.reason or now.says}")


def _of_failure(now: CheckResult, base: CheckResult | None, mine: LaneResults) -> LaneState:
    name, changed = now.check.name, now.comparison
    before = base.tests.passed if base is not None and base.tests else 0
    if changed is not None and changed.unknown and now.tests and before and not now.tests.passed:
        return LaneState("broken", f"no test passes with it; on the base {before:,} passed")
    if changed is not None and not changed.breaks_nothing:
        ruling = _of_tests(name, changed, base, by_tests=mine.touches_tests())
        # pytest counts one error, and names no test, where a module ends the interpreter.
        none = ruling.state == "untested" and now.tests is not None and not now.tests.passed
        none = none and before > 0  # else nothing got worse
        none = none and not changed.still_failing  # go names no test that passes
        worse = f"no test passes with it; on the base {before:,} passed"
        return LaneState("broken", worse) if none else ruling
    if base is None or base.status not in (*RAN, CheckStatus.NO_TESTS):
        return LaneState("untested", _not_on_base(now, {name: base} if base else {}))
    if base.status is CheckStatus.NO_TESTS:
        return LaneState("broken", f"{name} fails")
    if base.passed:
        return LaneState("broken", f"{name} fails with it, and passed on the base")
    if fixes := _fixed_before(now, base) * (name not in mine.whole.undone):
        exits = f"exits with {now.exit_code}: new, or hidden on the base by what failed"
        return LaneState("untested", f"{fixes}, yet {name} {exits}")
    if now.tests is None and base.tests is None and now.exit_code == base.exit_code in _NOT_BEGUN:
        says = "".join(f": {line}" for line in now.telling[:1])
        return LaneState("untested", f"{name} could not run on it, nor on the base{says}")
    if before and now.tests is None:
        return LaneState("broken", f"{name} fails and names no test; on the base {before:,} passed")
    code = f" ({now.exit_text})" if now.exit_code not in (None, 1) else ""
    return LaneState("untested", f"{name} fails with and without it{code}")


def _fixed_before(now: CheckResult, base: CheckResult) -> str:
    """That all which failed on the base passes, by name or by count, where the check ends badly all
    the same: of a chain (`tape && eslint`) the base has not come so far."""
    changed, tests = now.comparison, now.tests
    if changed is None or tests is None or not now.exit_code or now.exit_code < 0:
        return ""
    if changed.still_failing or tests.failed:
        return ""
    if mended := len(changed.fixed):
        return f"fixes {_of_failing(mended, mended)}"
    counted = mended_by_count(base, now)
    return f"{plural(counted, 'test')} failed on the base and none with it" if counted else ""


def _of_tests(
    name: str, changed: Comparison, base: CheckResult | None, *, by_tests: bool
) -> LaneState:
    before = base.tests.by_id if base is not None and base.tests is not None else {}
    if ids := changed.broken:
        # What the base's output does not name, a patch to tests may have brought.
        if passed := [id for id in ids if id in before or not by_tests]:
            return LaneState("broken", f"breaks {_which(passed, 'passed on the base')}")
        unnamed = "the base's output does not name"
        return LaneState("broken", f"fails {_which(ids, unnamed)}")
    lost = (*changed.vanished, *changed.skipped)
    if not by_tests and any(before.get(id) != "failed" for id in lost):
        return LaneState("broken", f"keeps {named(lost)} of the base from running")
    if ids := changed.vanished:
        return LaneState(
            "held_back", f"{named(ids)} of the base no longer run{'s' * (len(ids) == 1)}"
        )
    if ids := changed.skipped:
        text = f"skips, or expects to fail, {_which(ids, 'ran on the base')}"
        return LaneState("held_back", text)
    if not (ids := changed.unknown):
        return LaneState("untested", f"{name}: {FEWER}")
    return LaneState("untested", f"what {name} prints does not say how {named(ids)} ended")


def _which(ids: Sequence[str], what: str) -> str:
    """`test_up, which ran on the base`; `2 tests that ran on the base (test_up, test_down)`."""
    if len(ids) == 1:
        return f"{leaf(ids[0])}, which {what}"
    return f"{plural(ids, 'test')} that {what} ({leaves(ids)})"


def fixed(mine: LaneResults, findings: Sequence[Finding] = ()) -> tuple[str, ...]:
    """What failed on the base and passes with the patch, by the base's version of the tests; of a
    linter whose settings it changes nothing, for those are not put back."""
    if not mine.whole.is_known:
        return ()
    settings = any(finding.kind in ("check_file", "test_configuration") for finding in findings)
    loose = {*mine.whole_checks} - mine.tests if settings else set()
    mended = [name for name in mine.turned if name not in mine.hidden and name not in loose]
    return (*mended, *(name for name in mine.whole.mends if name not in mended))


def _passing(mine: LaneResults, rows: Sequence[CrossTest]) -> tuple[CrossTest, ...]:
    """New tests, its own or others', that fail on the base and pass with the patch. They prove
    nothing where it changes tests and the base's were not run: it may break what those ask."""
    return _failing_before(mine, rows) if mine.whole.is_known else ()


def _failing_before(mine: LaneResults, rows: Sequence[CrossTest]) -> tuple[CrossTest, ...]:
    lane = mine.lane.lane
    return tuple(
        row
        for row in rows
        if row.base == "failed" and row.says != "flaky" and row.cells.get(lane) in ("own", "passed")
    )


def _yet(mine: LaneResults, passing: Sequence[CrossTest]) -> str:
    """New tests that it passes and that prove nothing of it, as a further clause."""
    return f"; {_passes_new(mine, passing)}" if passing else ""


def _unmended(
    mine: LaneResults,
    all_of_them: Mapping[str, LaneResults],
    mended: Sequence[str],
    passing: Sequence[CrossTest],
) -> str:
    """That all failures of the base fail with it as well: it breaks nothing, and nothing proves it.
    Where no patch mends any of them they may be of another matter, and a new test can prove it."""
    failing, cut_off = mine.required_failing, mine.cut_off
    open_ends = mine.turned or mine.gone or mine.whole.mends
    unsure = mine.unclear or (open_ends and not mine.whole.is_known)
    if mended or not (failing or cut_off) or unsure:
        return ""
    others = all_of_them.values()
    by_others = {name for other in others for name in (*fixed(other), *other.reached)}
    if passing and not by_others & {*failing, *cut_off}:
        return ""
    if not failing:
        return f"{not_come_to(cut_off)}: {leaves(cut_off)}"
    return f"{plural(failing, 'test')} {fail(failing)} with and without it"


def _fixes(mine: LaneResults, mended: Sequence[str]) -> str:
    tests = [name for name in mended if name not in mine.whole_checks]
    checks = [name for name in mended if name in mine.whole_checks]
    total = len({*tests, *mine.failing, *mine.gone})
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


def _passes_new(mine: LaneResults, passing: Sequence[CrossTest]) -> str:
    own = [row for row in passing if row.author == mine.lane.lane]
    if own:
        return f"its {_new(own)} {fail(own)} on the base and pass{'es' * (len(own) == 1)} with it"
    theirs = [row for row in passing if not row.is_from_review]
    tests = theirs or passing  # what an agent was asked for is no lane's
    authors = joined([*dict.fromkeys(row.author.removeprefix(ASKED_OF) for row in tests)])
    whose = f"{authors}'s {_new(tests)}" if " " not in authors else f"{_new(tests)} of {authors}"
    whose = whose if theirs else f"the {_new(tests)} that {authors} was asked for"
    return f"passes {whose}, which {fail(tests)} on the base"


def _new(rows: Sequence[CrossTest]) -> str:
    return kind_of(rows) if len(rows) == 1 else plural(rows, kind_of(rows))


def _besides(mine: LaneResults, mended: Sequence[str]) -> str:
    """What it breaks, what it leaves, and how many tests pass."""
    tests = [
        result for result in mine.lane.checks if result.check.kind == "test" and result.comparison
    ]
    unserved = sum(len(result.tests.unserved) for result in tests if result.tests)
    parts = []
    good = all(result.comparison.breaks_nothing for result in tests if result.comparison)
    if tests and good and not mine.cut_off:
        parts.append(f", breaks nothing{' that ran' * bool(unserved)}")
    elif mine.broken:
        parts.append(f", breaks {named(mine.broken)} in a check that it need not pass")
    if passed := sum(result.tests.passed for result in mine.lane.checks if result.tests):
        parts.append(f" ({passed:,} passed)")
    if unserved:
        parts.append(f"; {plural(unserved, 'test')} skipped for lack of a service")
    if mine.cut_off:
        parts.append(f"; {not_come_to(mine.cut_off)}")
    if rest := [name for name in mine.failing if name not in mended]:
        still = "still " * bool(mended)
        parts.append(f"; {plural(rest, 'test')} {still}{fail(rest)}")
        parts.append("" if mended else " as on the base")
    return "".join(parts)


def _flaky(mine: LaneResults, rows: Sequence[CrossTest], evidence: Evidence) -> str:
    """That new tests of its own end both ways, which say nothing of it."""
    before = {result.check.name: result.tests for result in evidence.baseline_of(mine.lane)}
    ids = {row.id for row in rows if row.author == mine.lane.lane and row.says == "flaky"}
    for check in mine.lane.checks:
        base, flaky = before.get(check.check.name), check.comparison and check.comparison.flaky
        if flaky and base is not None and "passed" not in base.unnamed:
            ids |= {*flaky} - base.by_id.keys()
    if len(ids) < 2:
        return "its new test is flaky" * len(ids)
    return f"{len(ids):,} new tests of its own are flaky"


def _refuted(mine: LaneResults, rows: Sequence[CrossTest]) -> str:
    """Other patches' tests that fail on the base, tell the patches apart, and fail with it."""
    lane = mine.lane.lane
    weighing = [row for row in rows if row.weighs and row.author != lane and row.base == "failed"]
    refuting = [row for row in weighing if row.cells.get(lane) == "failed"]
    for author in dict.fromkeys(
        test.author for test in refuting if test.cells.get(test.author) == "own"
    ):
        theirs = tried_of(author, lane, rows)
        fails = [row for row in theirs if row.cells.get(lane) == "failed"]
        count = "" if len(fails) == len(theirs) else f"{len(fails)} of "
        return f"; fails {count}{author}'s {_new(theirs)}"
    return ""


def _but(findings: Sequence[Finding]) -> str:
    """Code that gives what tests expect is not refused, for honest code does so too: it is said."""
    coded = [finding.text for finding in findings if finding.kind == "hard_coded"]
    return f"; but {coded[0]}" if coded else ""


def _untested(mine: LaneResults, rows: Sequence[CrossTest], evidence: Evidence) -> str:
    """Why nothing that ran tells the patch from the base, and what would."""
    checks = mine.lane.checks
    if not checks:
        if not evidence.checked and not has_code(mine):
            return "changes no line of code, and no check ran"
        if not evidence.checked:
            return f"no check ran: `hydra check{of_run(evidence.run)} --check COMMAND` tests it"
        return "its checks did not run"
    if may_bend_unseen(mine.lane, evidence):
        return "it may change what runs the tests, and tests that must fail were not tried on it"
    if not mine.whole.is_known and data_alone(mine.lane.files):
        return "it changes data alone, by which its check may go: only a reader can tell"
    if not mine.whole.is_known:
        return f"{_without_put_back(mine, evidence)}{_yet(mine, _failing_before(mine, rows))}"
    if mine.unclear:
        return f"the output of its checks does not say how {named(mine.unclear)} ended"
    if mine.gone:
        return f"{named(mine.gone)}, which failed on the base, did not run with it"
    own = [row for row in rows if row.author == mine.lane.lane]
    if own and all(row.base == "passed" for row in own):
        return f"its {_new(own)} pass{'es' * (len(own) == 1)} on the base too"
    if untried := [row for row in own if row.base == "not tried" and row.cells.get(row.author)]:
        place = f" lie{'s' * (len(untried) == 1)} in code and" * _in_code(mine.lane.files)
        return f"its {_new(untried)}{place} {were(untried)} not run on the base"
    if flaky := _flaky(mine, rows, evidence):
        return flaky
    if paths := unrun(mine.lane, evidence):
        checks_run = joined([result.check.name for result in checks if result.check.kind == "test"])
        names = f"{join_names(paths, NAMED)}, which it brings"
        pronoun = "it" if len(paths) == 1 else "them"
        return f"{names}, {were(paths)} not run by {checks_run}: name a check that runs {pronoun}"
    before = {result.check.name: result for result in evidence.baseline_of(mine.lane)}
    alone = [result for result in checks if result.status in RAN and not _has_run(before, result)]
    return _not_on_base(alone[0], before) if alone else _alike(mine, before)


def _without_put_back(mine: LaneResults, evidence: Evidence) -> str:
    """Why the base's own tests have not said whether it does what they ask."""
    for file in helpers_changed(mine.lane.files):
        return f"what it changes in {file.path} may be code, or a helper of the tests in it"
    changes, version = "it changes tests, and", "with the base's version of them"
    for tried in evidence.not_tried:
        if tried.kind == "protected" and tried.on == mine.lane.lane:
            return f"{changes} was not run {version} ({tried.why.removeprefix('it was ')})"
    return f"{changes} could not be run {version}"


def _in_code(files: Sequence[FileChange]) -> bool:
    """Whether the tests of a patch are all inside code: those are tried on no other."""
    return writes_tests(files) and not any(map(supports_tests, files))


def _has_run(before: Mapping[str, CheckResult], now: CheckResult) -> bool:
    base = before.get(now.check.name)
    return base is not None and base.status in RAN


def _not_on_base(now: CheckResult, before: Mapping[str, CheckResult]) -> str:
    """That nothing can be said of a check by its end on the base."""
    name, base = now.check.name, before.get(now.check.name)
    ends = "passes" if now.passed else "fails"
    if base is None:
        return f"{name} {ends} with it, and was not run on the base"
    return f"{name} {ends} with it, and could not run on the base: {base.reason or base.says}"


def _alike(mine: LaneResults, before: Mapping[str, CheckResult]) -> str:
    """That its checks end as they do on the base, those aside that need not pass and do not, and
    what would tell it from the base."""
    checks: Sequence[CheckResult] = mine.lane.checks
    test = "add a test that fails without it"
    advice = test if has_code(mine) else "it changes no line of code, so only a reader can tell"
    idle = [result for result in checks if result.status not in RAN]
    if len(idle) == len(checks):
        names = joined([result.check.name for result in checks])
        return f"{names}: {idle[0].reason or idle[0].says}"
    checks = [check for check in checks if check.status is before[check.check.name].status]
    if not checks:
        return f"no check that must pass tells it from the base: {advice}"
    names = joined([result.check.name for result in checks])
    good = all(result.passed for result in checks)
    tests = [result.tests for result in checks if result.tests]
    passed, failed = sum(each.passed for each in tests), sum(each.failed for each in tests)
    count = f" ({passed:,} passed{f', {failed:,} failed' * bool(failed)})" if passed else ""
    ends = f"pass{'es' * (len(checks) == 1)}" if good else f"end{'s' * (len(checks) == 1)} alike"
    return f"{names} {ends} with and without it{count}: {advice}"

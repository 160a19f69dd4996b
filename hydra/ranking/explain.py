"""What speaks for a patch and against it, a true sentence each, the weightiest first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from hydra.analysis.equivalence.groups import Group
from hydra.analysis.patch import Finding
from hydra.checks.cross.plan import new_ids
from hydra.checks.cross.trial import NotTried
from hydra.checks.new_tests import is_cut, whole_and_single
from hydra.checks.record import CheckResult, CheckStatus
from hydra.checks.results import Comparison
from hydra.ranking import cross_tests
from hydra.ranking.evidence import Evidence
from hydra.ranking.model import ASKED_OF, CrossTest, Reason
from hydra.ranking.results import RAN, LaneResults, cut_off_failing, not_come_to
from hydra.ranking.unchecked import unrun
from hydra.text import NAMED, fail, join_names, joined, passes, plural, quoted_names, were


def reasons(
    mine: LaneResults,
    evidence: Evidence,
    findings: Sequence[Finding],
    rows: Sequence[CrossTest],
    groups: Sequence[Group],
) -> tuple[Reason, ...]:
    """All that is to be said of one lane that left a patch, but for its gates."""
    lane = mine.lane.lane
    return (
        *_base(mine, evidence.baseline_of(mine.lane), _weightless_of(lane, rows)),
        *_put_back(mine),
        *_cross(lane, rows),
        *_agreement(lane, groups, rows),
        *_plain_checks(mine),
        *_remarked(findings),
        *(
            Reason(
                kind="risk", text=f"{remark.path}: {remark.text}" if remark.path else remark.text
            )
            for remark in (mine.lane.patch.remarks if mine.lane.patch else ())
        ),
        *_not_tried(lane, evidence),
        *_not_run(mine, evidence),
    )


def _base(
    mine: LaneResults, baseline: Sequence[CheckResult], weightless: Collection[str]
) -> Iterator[Reason]:
    trying = [check for check in mine.lane.checks if check.check.kind == "test"]
    if not trying:
        yield Reason(kind="unknown", text="no tests were run on it")
        return
    before = {result.check.name: result for result in baseline}
    for result in trying:
        file, check_result = result.details or result.output, before.get(result.check.name)
        for text in _of_check(result, check_result, mine, weightless):
            yield Reason(kind="base", text=text, file=file)


def _of_check(
    result: CheckResult, base: CheckResult | None, mine: LaneResults, weightless: Collection[str]
) -> Iterator[str]:
    """What one check says; of new tests that are `weightless` that is said there."""
    name = result.check.name
    if result.status not in (CheckStatus.PASSED, CheckStatus.FAILED):
        yield f"{name}: {result.reason or result.says}"
        return
    comparison = result.comparison
    if comparison is None:
        is_known = base is not None and base.status in (CheckStatus.PASSED, CheckStatus.FAILED)
        text = f"; on the base {base.says}" if base is not None and is_known else ""
        shows = f" ({result.telling[0]})" if result.telling and not result.passed else ""
        yield f"{name}: {result.says}{shows}{text}"
        return
    tests = base.tests if base is not None else None
    mends = {*mine.whole.mends, *(name for name in comparison.fixed if name not in mine.hidden)}
    named = {*_named_on_base(comparison), *mends}  # one that is flaky is not among them
    failed = (
        [name for name, end in tests.by_id.items() if name in named and end == "failed"]
        if tests
        else []
    )
    mended = sum(name in mends for name in failed)
    open_ends = [name for name in failed if name in comparison.unknown]
    if mended and not mine.whole.is_known:
        # It may have changed these very tests, or what runs them: that they pass is no mend.
        version = " and its own version of tests" * mine.touches_tests()
        count = f"{mended:,} of {len(failed):,} failures" if len(failed) > 1 else "the one failure"
        yield f"{count} of the base in {name} pass{'es' * (mended == 1)} with it{version}"
    elif mended or not open_ends:
        yield from [f"{_mends(mended, len(failed))} of the base in {name}"] * bool(failed)
    if open_ends:
        yield f"what {name} prints does not say how {quoted_names(open_ends)} ended"
    if only := _fixed_by_tests(comparison, mine):
        version = "tests and configuration" if _configured(mine) else "tests"
        its = f"{quoted_names(only)} {passes(only)} with its own {version}"
        yield f"{name}: {its}, not with the base's"
    if (rest := [name for name in comparison.still_failing if name not in mends]) and mended:
        yield f"{name}: {quoted_names(rest)} still {fail(rest)}"
    whole, own = whole_and_single(comparison)
    if whole:
        yield f"{name}: {quoted_names(whole)} {fail(whole)} as a whole"
    if own := [name for name in own if name not in weightless]:
        yield f"{plural(own, 'new test')} of its own {fail(own)}: {quoted_names(own)}"
    cut_off = cut_off_failing(result)
    if cut_off:
        yield f"{not_come_to(cut_off)}: {quoted_names(cut_off)}"
    if comparison.breaks_nothing and not failed and not cut_off:
        yield f"breaks nothing in {name}: {result.says}"
    if comparison.flaky:
        yield f"flaky in {name}: {quoted_names(comparison.flaky)}"


def _fixed_by_tests(comparison: Comparison, mine: LaneResults) -> list[str]:
    """Tests that pass by its own version of them alone."""
    return [name for name in comparison.fixed if name in mine.hidden]


def _named_on_base(comparison: Comparison) -> tuple[str, ...]:
    """What has no new name, and is not flaky."""
    gone = (*comparison.vanished, *comparison.skipped, *comparison.unknown)
    return (*comparison.fixed, *comparison.still_failing, *gone)


def _mends(mended: int, failed: int) -> str:
    if not mended:
        none = f"fixes none of the {failed:,} failures"
        return "does not fix the one failure" if failed == 1 else none
    if mended < failed:
        return f"fixes {mended:,} of {failed:,} failures"
    every = {1: "the one failure", 2: "both failures"}.get(failed, f"all {failed:,} failures")
    return f"fixes {every}"


def _configured(mine: LaneResults) -> bool:
    return mine.whole.trial is not None and mine.whole.trial.configuration


def _put_back(mine: LaneResults) -> Iterator[Reason]:
    back = mine.whole
    if back.trial is None:
        return
    file = back.trial.result.details or back.trial.result.output
    what = "tests and settings" if _configured(mine) else "tests"
    if back.clean and back.too:
        text = f"with the base's {what}, {quoted_names(back.too)} {fail(back.too)}"
        text += ", as with its own"
    elif back.clean and is_cut(back.trial.result):
        text = f"with the base's {what}: {_ended(back.trial.result)}"
    elif back.clean:
        settings = ", under the base's settings" * _configured(mine)
        text = f"the base's tests pass with it{settings}"
    elif back.fails:
        tests = (check.comparison for check in mine.lane.checks if check.check.kind == "test")
        reported = {name for changed in tests if changed for name in _fixed_by_tests(changed, mine)}
        names = [name for name in back.fails if name not in reported]
        if not names and not back.mends:
            return  # all of it is told of the check
        names = names or list(back.fails)
        text = f"with the base's {what}, {quoted_names(names)} {fail(names)}"
    elif back.stopped or back.red:
        text = f"with the base's {what}: {'; '.join((*back.stopped, *back.red))}"
    elif back.trial.result.status in RAN:
        text = f"with the base's {what}: {_ended(back.trial.result)}"
    else:
        text = f"the base's {what} could not be run with it"
    if more := [name for name in back.mends if name not in (mine.fixed or ())]:
        text += f"; so {quoted_names(more)} {passes(more)}, which {fail(more)} on the base"
    yield Reason(kind="protected", text=text, file=file)


def _ended(result: CheckResult) -> str:
    return f"{result.check.name} {result.says}"


def _cross(lane: str, rows: Sequence[CrossTest]) -> Iterator[Reason]:
    """On new tests: those of others that fail on it and pass elsewhere, then what speaks for it,
    then what says little."""
    theirs = list(_others_tests(lane, rows))
    for place in (0, None, 1, 2):
        yield from (reason for at, reason in theirs if at == place)
        if place == 0:
            yield from _spoiled(lane, rows)
        if place is None:
            yield from _own_passing(lane, rows)
    yield from _weightless(lane, rows)


def _spoiled(lane: str, rows: Sequence[CrossTest]) -> Iterator[Reason]:
    """What passes on the base and on its author's patch, and fails on this one."""
    for author in dict.fromkeys(row.author for row in rows):
        if fails := cross_tests.spoiled(lane, rows, (author,)):
            names = [row.id for row in fails]
            whose = _whose(author, plural(names, cross_tests.kind_of(fails)))
            text = f"fails {whose}, which {passes(names)} "
            file = fails[0].files.get(lane, "")
            yield Reason(kind="cross", text=f"{text}on the base: {quoted_names(names)}", file=file)


def _own_passing(lane: str, rows: Sequence[CrossTest]) -> Iterator[Reason]:
    mine = [row for row in rows if row.author == lane]
    steady = [row for row in mine if row.says != "flaky" and row.base == "failed"]
    passing = [row for row in steady if row.cells.get(lane) == "own"]
    if passing:
        number = plural(passing, cross_tests.kind_of(passing))
        text = f"{number} of its own {fail(passing)} on the base"
        file = passing[0].files.get(lane, "")
        yield Reason(kind="cross", text=f"{text} and {passes(passing)} here", file=file)


def _weightless_of(lane: str, rows: Sequence[CrossTest]) -> frozenset[str]:
    """New tests of its own that fail wherever they were run."""
    return frozenset(
        row.id for row in rows if row.author == lane and row.says == "fails on every patch"
    )


def _weightless(lane: str, rows: Sequence[CrossTest]) -> Iterator[Reason]:
    """New tests of its own that say nothing of any patch."""
    mine = [row for row in rows if row.author == lane]
    for says, name, several in _WEIGHTLESS:
        named = [row.id for row in mine if row.says == says and not _fails_elsewhere(row)]
        if named:
            lines = (name, "tells") if len(named) == 1 else (several, "tell")
            text = f"{plural(named, 'new test')} of its own {lines[0]}, so {lines[1]} nothing"
            file = mine[0].files.get(lane, "")
            yield Reason(kind="cross", text=f"{text}: {quoted_names(named)}", file=file)


_WEIGHTLESS = (
    ("passes on the base", "passes on the base", "pass on the base"),
    ("fails on every patch", "fails on every patch", "fail on every patch"),
    ("flaky", "is flaky", "are flaky"),
)


def _fails_elsewhere(row: CrossTest) -> bool:
    """Whether it passes on the base and fails on a patch: that is told where it fails."""
    return any(cross_tests.spoiled(lane, (row,), (row.author,)) for lane in row.cells)


def _others_tests(lane: str, rows: Sequence[CrossTest]) -> Iterator[tuple[int, Reason]]:
    """Each author's, and its place: 0 where it fails what passes on another's patch too, 1 where
    it passes, 2 where it fails what passes on its author's patch alone."""
    authors = dict.fromkeys(row.author for row in rows if row.author != lane)
    for author in authors:
        tried = cross_tests.tried_of(author, lane, rows)
        if not tried:
            continue
        fails = [row for row in tried if row.cells[lane] == "failed"]
        failed = [row.id for row in fails]
        alone = bool(fails) and all(_pass_alone(row) for row in fails)
        file = tried[0].files.get(lane, "")
        whose = _whose(author, plural(tried, cross_tests.kind_of(tried)))
        only = f", which {passes(failed)} on no other patch" if alone else ""
        if fails and all(row.cells.get(author) == "failed" for row in fails):
            only = f", as {author} does"
        if not failed:
            text = f"passes {whose}"
        elif len(failed) == len(tried):
            text = f"fails {whose}{only}: {quoted_names(failed)}"
        else:
            text = f"fails {len(failed)} of {whose}{only}: {quoted_names(failed)}"
        place = 2 if alone else 0 if failed else 1
        yield place, Reason(kind="cross", text=text, file=file)


def _pass_alone(row: CrossTest) -> bool:
    """Whether it passes on its author's patch, and fails on several others."""
    ends = [end for lane, end in row.cells.items() if lane != row.author]
    return len(ends) > 1 and set(ends) == {"failed"} and row.cells.get(row.author) == "own"


def _whose(author: str, what: str) -> str:
    agent = author.removeprefix(ASKED_OF)
    return f"{author}'s {what}" if agent == author else f"the {what} that {agent} was asked for"


def _agreement(lane: str, groups: Sequence[Group], rows: Sequence[CrossTest]) -> Iterator[Reason]:
    ends = {row.cells.get(lane) for row in rows if cross_tests.tells(row, [*row.cells])}
    verbs = ["passes"] * bool(ends & {"own", "passed"}) + ["fails"] * ("failed" in ends)
    values = {
        "identical": "left the very same patch as {}",
        "equivalent": "is the same as {} but for formatting, comments or the order of imports",
        "alike": f"{' and '.join(verbs)} the same new tests as {{}}",
    }
    lines = {lane}
    for group in groups:
        names = [name for name in group.lanes if name not in lines]
        if lane in group.lanes and names:
            lines |= {*names}
            yield Reason(kind="agreement", text=values[group.kind].format(joined(names)))


def _plain_checks(mine: LaneResults) -> Iterator[Reason]:
    for result in mine.lane.checks:
        if result.check.kind in ("build", "lint"):
            file = result.details or result.output
            text = f"{result.check.name}: {result.reason or result.says}"
            yield Reason(kind=result.check.kind, text=text, file=file)


def _remarked(findings: Sequence[Finding]) -> Iterator[Reason]:
    for finding in findings:
        # Tests do so for honest reasons, too: it is told where it made them pass.
        if finding.weight != "gate" and finding.kind != "tests_reach":
            yield Reason(kind="scope", text=finding.text, path=finding.path, line=finding.line)


def _not_tried(lane: str, evidence: Evidence) -> Iterator[Reason]:
    for tried in evidence.not_tried:
        if tried.on == lane and tried.kind == "protected":
            yield Reason(kind="unknown", text=f"the base's tests were not run with it: {tried.why}")
        elif tried.on == lane and tried.kind == "canary":
            text = f"tests that must fail were not tried on it: {tried.why}"
            yield Reason(kind="unknown", text=text)


def _not_run(mine: LaneResults, evidence: Evidence) -> Iterator[Reason]:
    if paths := unrun(mine.lane, evidence):
        text = f"{join_names(paths, NAMED)}, which it brings, {were(paths)} not run"
        yield Reason(kind="unknown", text=text)


def not_tried(evidence: Evidence) -> tuple[str, ...]:
    """What was left out and why: a sentence for all whose tests were so on the same patches."""
    values: dict[tuple[str, str, str], list[str]] = {}
    for tried in evidence.not_tried:
        why = _why(tried, evidence)
        values.setdefault((tried.kind, tried.author, why), []).append(tried.on)
    rows: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for (kind, author, why), lanes in values.items():
        rows.setdefault((kind, why, tuple(lanes)), []).append(author)
    return tuple(
        f"not tried: {_tests_of(kind, authors)} on {_patches(kind, lanes)}{why and f' ({why})'}"
        for (kind, why, lanes), authors in rows.items()
    )


def _tests_of(kind: str, authors: Sequence[str]) -> str:
    whose = {"protected": "the base's tests", "canary": "tests that must fail"}.get(kind, "")
    return whose or (
        f"{authors[0]}'s tests" if len(authors) == 1 else f"the tests of {joined(authors)}"
    )


def _patches(kind: str, lanes: Sequence[str]) -> str:
    """Whose; the tests of an author that are not tried on the base are tried nowhere."""
    if kind == "cross" and "" in lanes:
        return "other code"
    if len(lanes) == 1:
        return f"{lanes[0]}'s patch"
    return f"the patches of {join_names(lanes, NAMED)}"


def _why(tried: NotTried, evidence: Evidence) -> str:
    """The reason that is recorded; where no check runs the tests, that."""
    author = next((lane for lane in evidence.lanes if lane.lane == tried.author), None)
    if author is None or tried.on or any(map(new_ids, author.checks)):
        return tried.why
    paths = unrun(author, evidence)
    return f"{join_names(paths, NAMED)} {were(paths)} not run" if paths else tried.why


_ORDER: Mapping[str, int] = {
    kind: place
    for place, kind in enumerate(
        (
            "base",
            "decision",
            "protected",
            "cross",
            "agreement",
            "build",
            "lint",
            "scope",
            "risk",
        )
    )
}


def why(gates: Sequence[Reason], items: Sequence[Reason]) -> str:
    """The sentence that a table has room for: the first gate, or the first of two kinds."""
    if gates:
        more = f" (and {len(gates) - 1} more)" if len(gates) > 1 else ""
        return f"{gates[0].text}{more}"
    firsts: dict[str, str] = {}
    for reason in sorted(items, key=lambda reason: _ORDER.get(reason.kind, len(_ORDER))):
        firsts.setdefault(reason.kind, reason.text)
    return "; ".join(list(firsts.values())[:3])

"""What speaks for a patch and against it, a true sentence each, the weightiest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hydra.checks.record import CheckResult, Status
from hydra.judge.cross import ASKED_OF, parted
from hydra.judge.evidence import Evidence
from hydra.judge.finding import Finding
from hydra.judge.standing import Standing
from hydra.judge.verdict import CrossTest, Group, Reason, Shared
from hydra.judge.words import fail, joined, number_of, passes, some


def reasons(
    mine: Standing,
    evidence: Evidence,
    findings: Sequence[Finding],
    rows: Sequence[CrossTest],
    groups: Sequence[Group],
    shared: Sequence[Shared],
) -> tuple[Reason, ...]:
    """All that is to be said of one lane that left a patch, but for its gates."""
    lane = mine.lane.lane
    others = sum(1 for one in evidence.lanes if one.files) - 1
    return (
        *_base(mine, evidence.baseline),
        *_put_back(mine),
        *_cross(lane, rows),
        *_agreement(lane, groups, shared, others),
        *_plain_checks(mine),
        *_remarked(findings),
        *(
            Reason(kind="risk", text=f"{one.path}: {one.text}" if one.path else one.text)
            for one in (mine.lane.patch.remarks if mine.lane.patch else ())
        ),
        *_not_tried(lane, evidence),
    )


def _base(mine: Standing, baseline: Sequence[CheckResult]) -> Iterator[Reason]:
    tests = [it for it in mine.lane.checks if it.check.kind == "test"]
    if not tests:
        yield Reason(kind="unknown", text="no tests were run on it")
        return
    before = {it.check.name: it for it in baseline}
    for result in tests:
        file, held = result.details or result.output, before.get(result.check.name)
        for text in _of_check(result, held, mine):
            yield Reason(kind="base", text=text, file=file)


def _of_check(result: CheckResult, base: CheckResult | None, mine: Standing) -> Iterator[str]:
    name = result.check.name
    if result.status not in (Status.PASSED, Status.FAILED):
        yield f"{name}: {result.reason or result.says}"
        return
    found = result.comparison
    if found is None:
        known = base is not None and base.status in (Status.PASSED, Status.FAILED)
        told = f"; on the base {base.says}" if base is not None and known else ""
        yield f"{name}: {result.says}{told}"
        return
    failed = len(found.fixed) + len(found.still_failing)
    if failed:
        mended = sum(it not in mine.hidden for it in found.fixed)
        yield f"{_mends(mended, failed)} of the base in {name}"
    if only := [it for it in found.fixed if it in mine.hidden]:
        version = "tests and configuration" if _configured(mine) else "tests"
        yield f"{name}: {some(only)} {passes(only)} with its own {version}, not with the base's"
    if found.still_failing and found.fixed:
        yield f"{name}: {some(found.still_failing)} still {fail(found.still_failing)}"
    whole, own = parted(found)
    if whole:
        yield f"{name}: {some(whole)} {fail(whole)} as a whole"
    if own:
        yield f"{number_of(own, 'new test')} of its own {fail(own)}: {some(own)}"
    if found.breaks_nothing and not failed:
        yield f"breaks nothing in {name}: {result.says}"
    if found.flaky:
        yield f"flaky in {name}: {some(found.flaky)}"


def _mends(mended: int, failed: int) -> str:
    if not mended:
        none = f"fixes none of the {failed:,} failures"
        return "does not fix the one failure" if failed == 1 else none
    if mended < failed:
        return f"fixes {mended:,} of {failed:,} failures"
    every = {1: "the one failure", 2: "both failures"}.get(failed, f"all {failed:,} failures")
    return f"fixes {every}"


def _configured(mine: Standing) -> bool:
    return mine.whole.trial is not None and mine.whole.trial.configuration


def _put_back(mine: Standing) -> Iterator[Reason]:
    held = mine.whole
    if held.trial is None:
        return
    file = held.trial.result.details or held.trial.result.output
    what = "tests and settings" if _configured(mine) else "tests"
    if held.clean and held.too:
        text = f"with the base's {what}, {some(held.too)} {fail(held.too)}"
        text += ", as with its own"
    elif held.clean:
        settings = ", under the base's settings" * _configured(mine)
        text = f"the base's tests pass with it{settings}"
    elif held.fails:
        names = list(held.fails)
        text = f"with the base's {what}, {some(names)} {fail(names)}"
    elif held.stopped:
        text = f"with the base's {what}: {'; '.join(held.stopped)}"
    else:
        text = f"the base's {what} could not be run with it"
    if more := [name for name in held.mends if name not in (mine.fixed or ())]:
        text += f"; so {some(more)} {passes(more)}, which {fail(more)} on the base"
    yield Reason(kind="protected", text=text, file=file)


def _cross(lane: str, rows: Sequence[CrossTest]) -> Iterator[Reason]:
    """On new tests: those of others that fail on it and pass elsewhere, then what speaks for it,
    then what says little."""
    theirs = list(_others_tests(lane, rows))
    for place in (0, None, 1, 2):
        yield from (reason for at, reason in theirs if at == place)
        if place is None:
            yield from _own_passing(lane, rows)
    yield from _weightless(lane, rows)


def _own_passing(lane: str, rows: Sequence[CrossTest]) -> Iterator[Reason]:
    mine = [row for row in rows if row.author == lane]
    passing = [row for row in mine if row.cells.get(lane) == "own" and row.base == "failed"]
    if passing:
        text = f"{number_of(passing, 'new test')} of its own {fail(passing)} on the base"
        file = passing[0].files.get(lane, "")
        yield Reason(kind="cross", text=f"{text} and {passes(passing)} here", file=file)


def _weightless(lane: str, rows: Sequence[CrossTest]) -> Iterator[Reason]:
    """New tests of its own that say nothing of any patch."""
    mine = [row for row in rows if row.author == lane]
    for says, one, several in _WEIGHTLESS:
        named = [row.id for row in mine if row.says == says]
        if named:
            told = (one, "tells") if len(named) == 1 else (several, "tell")
            text = f"{number_of(named, 'new test')} of its own {told[0]}, so {told[1]} nothing"
            file = mine[0].files.get(lane, "")
            yield Reason(kind="cross", text=f"{text}: {some(named)}", file=file)


_WEIGHTLESS = (
    ("passes on the base", "passes on the base", "pass on the base"),
    ("fails on every patch", "fails on every patch", "fail on every patch"),
    ("flaky", "is flaky", "are flaky"),
)


def _others_tests(lane: str, rows: Sequence[CrossTest]) -> Iterator[tuple[int, Reason]]:
    """Each author's, and its place: 0 where it fails what passes on another's patch too, 1 where
    it passes, 2 where it fails what passes on its author's patch alone."""
    authors = dict.fromkeys(row.author for row in rows if row.author != lane)
    for author in authors:
        tried = [
            row
            for row in rows
            if row.author == author
            and row.base != "passed"
            and row.says != "flaky"
            and row.cells.get(lane) in ("passed", "failed", "own")
        ]
        if not tried:
            continue
        fails = [row for row in tried if row.cells[lane] == "failed"]
        failed = [row.id for row in fails]
        alone = bool(fails) and all(_pass_alone(row) for row in fails)
        file = tried[0].files.get(lane, "")
        whose = _whose(author, number_of(tried, "new test"))
        only = f", which {passes(failed)} on no other patch" if alone else ""
        if not failed:
            text = f"passes {whose}"
        elif len(failed) == len(tried):
            text = f"fails {whose}{only}: {some(failed)}"
        else:
            text = f"fails {len(failed)} of {whose}{only}: {some(failed)}"
        place = 2 if alone else 0 if failed else 1
        yield place, Reason(kind="cross", text=text, file=file)


def _pass_alone(row: CrossTest) -> bool:
    """Whether it passes on its author's patch, and fails on several others."""
    ends = [end for lane, end in row.cells.items() if lane != row.author]
    return len(ends) > 1 and set(ends) == {"failed"} and row.cells.get(row.author) == "own"


def _whose(author: str, tests: str) -> str:
    agent = author.removeprefix(ASKED_OF)
    return f"{author}'s {tests}" if agent == author else f"the {tests} that {agent} was asked for"


def _agreement(
    lane: str, groups: Sequence[Group], shared: Sequence[Shared], others: int
) -> Iterator[Reason]:
    words = {
        "identical": "left the very same patch as {}",
        "equivalent": "is the same as {} but for formatting, comments or the order of imports",
        "alike": "passes and fails the same tests as {}",
    }
    told = {lane}
    for group in groups:
        names = [name for name in group.lanes if name not in told]
        if lane in group.lanes and names:
            told |= {*names}
            yield Reason(kind="agreement", text=words[group.kind].format(joined(names)))
    for one in shared:
        if lane in one.lanes and one.name and others:
            count = f"{len(one.lanes)} of {others + 1} patches changed {one.name}"
            yield Reason(kind="agreement", text=f"{count} in {one.path}", path=one.path)
            return


def _plain_checks(mine: Standing) -> Iterator[Reason]:
    for result in mine.lane.checks:
        if result.check.kind in ("build", "lint"):
            file = result.details or result.output
            text = f"{result.check.name}: {result.reason or result.says}"
            yield Reason(kind=result.check.kind, text=text, file=file)


def _remarked(findings: Sequence[Finding]) -> Iterator[Reason]:
    for one in findings:
        # Tests do so for honest reasons, too: it is told where it made them pass.
        if one.weight != "gate" and one.kind != "tests_reach":
            yield Reason(kind="scope", text=one.text, path=one.path, line=one.line)


def _not_tried(lane: str, evidence: Evidence) -> Iterator[Reason]:
    for one in evidence.not_tried:
        if one.on == lane and one.kind == "protected":
            yield Reason(kind="unknown", text=f"the base's tests were not run with it: {one.why}")
        elif one.on == lane and one.kind == "canary":
            text = f"tests that must fail were not tried on it: {one.why}"
            yield Reason(kind="unknown", text=text)


def not_tried(evidence: Evidence) -> tuple[str, ...]:
    """What was left out and why, a sentence for each kind and reason."""
    held: dict[tuple[str, str], int] = {}
    for one in evidence.not_tried:
        held[one.kind, one.why] = held.get((one.kind, one.why), 0) + 1
    words = {
        "protected": ("the base's tests on {}", "patch"),
        "cross": ("one lane's tests on another's code, {}", "run"),
        "canary": ("tests that must fail on {}", "patch"),
    }
    return tuple(
        f"not tried: {words[kind][0].format(number_of(count, words[kind][1]))} ({why})"
        for (kind, why), count in held.items()
    )


_ORDER: Mapping[str, int] = {
    kind: place
    for place, kind in enumerate(
        ("base", "protected", "cross", "agreement", "build", "lint", "scope", "size", "risk")
    )
}


def why(gates: Sequence[Reason], told: Sequence[Reason]) -> str:
    """The sentence that a table has room for: the first gate, or the first of two kinds."""
    if gates:
        more = f" (and {len(gates) - 1} more)" if len(gates) > 1 else ""
        return f"{gates[0].text}{more}"
    firsts: dict[str, str] = {}
    for one in sorted(told, key=lambda one: _ORDER.get(one.kind, len(_ORDER))):
        firsts.setdefault(one.kind, one.text)
    return "; ".join(list(firsts.values())[:3])

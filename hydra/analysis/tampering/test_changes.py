"""What a patch did to the tests that were there, in sentences."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from hydra.analysis.finding import Finding, Weight
from hydra.analysis.tampering import wording
from hydra.analysis.tampering.lost_assertions import Change, Losses, losses
from hydra.analysis.tampering.model import Assertion, TestRead
from hydra.analysis.tampering.pairs import Pair, pairs
from hydra.analysis.tampering.skips import alone, never_ran, skipped
from hydra.analysis.tampering.suite import SuiteFiles
from hydra.text import join_names, plural

_SILENCE = {
    "return": "lets {test} return before {some}",
    "swallowed": "swallows what {some} of {test} {says}",
    "nothing": "leaves {some} of {test} in a loop over nothing",
    "never": "puts {some} of {test} under a condition that never holds",
}


def tests(suite: SuiteFiles) -> Iterator[Finding]:
    """All on the tests of the base, in their order."""
    both = pairs(suite.tests(suite.old), suite.tests(suite.new))
    others = _others(suite)
    gone: defaultdict[str, list[Pair]] = defaultdict(list)
    restructured: list[Pair] = []
    for pair in both:
        sure = not suite.unsure(pair.old.path)
        if pair.new is not None:
            yield from _of_pair(pair, sure)
            if pair.moved or pair.new.name != pair.old.name or pair.new.path != pair.old.path:
                restructured.append(pair)
        elif (other := _uncollected(pair, others)) is not None:
            yield _no_longer(pair.old, other)
        elif pair.old.assertions and not pair.lost:
            restructured.append(pair)
        else:
            gone[pair.old.path].append(pair)
    for path, many in gone.items():
        yield from _gone(path, many, suite)
    yield from skipped(both, suite)
    yield from alone(suite)
    yield from _by_lines(suite)
    yield from _restructured(restructured)


def _of_pair(pair: Pair, sure: bool) -> Iterator[Finding]:
    if not (pair.lost or pair.elsewhere or any(was != now for was, now in pair.matched)):
        return
    loss_counts = losses(pair)
    if not loss_counts.any:
        return
    ran = not any(mark.kind == "skip" and mark.certain for mark in pair.old.marks)
    gate: Weight = "gate" if sure and ran else "suspect"
    test = _named(pair)
    opened = pair.new is not None and pair.new.is_open != pair.old.is_open and bool(pair.lost)
    if opened and not (loss_counts.silenced or loss_counts.weakened):
        text = f"changes the cases of {test}, which are not all read"
        yield _finding("expectation_changed", "suspect", text, pair, _first_line(pair))
        return
    yield from _removed(pair, loss_counts, gate)
    for kind, weight, many, verb in (
        ("assertion_weakened", gate, loss_counts.weakened, "weakens"),
        ("assertion_weakened", "suspect", loss_counts.doubtful, "weakens"),
    ):
        if many:
            text = f"{verb} {_assertions(many)} of {test}: {_changes(many)}"
            yield _finding(kind, weight, text, pair, many[0][1].line)
    if loss_counts.guarded:
        line = wording.value(loss_counts.guarded[0][1].guard)
        value = _assertions(loss_counts.guarded)
        text = f"puts {value} of {test} under a condition: {line}"
        yield _finding("assertion_weakened", "suspect", text, pair, loss_counts.guarded[0][1].line)
    if loss_counts.changed:
        shown = _expectations(loss_counts.changed)
        text = f"changes what {test} expects: {shown}"
        yield _finding("expectation_changed", "suspect", text, pair, loss_counts.changed[0][1].line)
    if loss_counts.replaced:
        value = _assertions(loss_counts.replaced)
        text = f"replaces {value} of {test} by others: {_changes(loss_counts.replaced)}"
        yield _finding(
            "expectation_changed", "suspect", text, pair, loss_counts.replaced[0][1].line
        )


def _removed(pair: Pair, loss_counts: Losses, gate: Weight) -> Iterator[Finding]:
    test = _named(pair)
    if loss_counts.removed:
        text = f"removes {_lost(loss_counts.removed, pair.old)} of {test}"
        yield _finding("assertion_removed", gate, text, pair, _first_line(pair))
    if loss_counts.unsure:
        text = f"removes {_lost(loss_counts.unsure, pair.old)} of {test}"
        text += f", and adds {plural(loss_counts.added, 'other')}" if loss_counts.added else ""
        yield _finding("assertion_removed", "suspect", text, pair, _first_line(pair))
    if loss_counts.handed:
        text = f"replaces {_lost(loss_counts.handed, pair.old)} of {test}"
        text += f" by a call of code that it does not have: {wording.value(loss_counts.to)}"
        yield _finding("assertion_removed", "suspect", text, pair, _first_line(pair))
    if loss_counts.redundant:
        text = f"removes {_lost(loss_counts.redundant, pair.old)} of {test} that another one covers"
        yield _finding("assertion_removed", "suspect", text, pair, _first_line(pair))
    for why, many in loss_counts.silenced.items():
        line = _lost(many, pair.old)
        says = "says" if line.startswith("the only") or line.startswith("1 ") else "say"
        text = _SILENCE[why].format(test=test, some=line, says=says)
        kind = "assertion_weakened" if why == "swallowed" else "assertion_removed"
        yield _finding(kind, gate, text, pair, _first_line(pair))


def _lost(many: Sequence[Assertion], old: TestRead) -> str:
    """ "2 of 3 assertions"; where each still stands for some of its cases, "2 of 5 cases"."""
    whole = Counter(assertion.line for assertion in old.assertions)
    lost = Counter(assertion.line for assertion in many)
    lines = [line for line, count in lost.items() if count >= whole[line]]
    if lines:
        return wording.part(len(lines), len(whole), "assertion")
    return wording.part(max(lost.values()), max(whole[line] for line in lost), "case")


def _assertions(many: Sequence[Change]) -> str:
    lines = {was.line for was, _ in many}
    return "an assertion" if len(lines) == 1 else f"{len(lines):,} assertions"


def _changes(many: Sequence[Change]) -> str:
    return join_names([*dict.fromkeys(_change(was, now) for was, now in many)], 2)


def _change(was: Assertion, now: Assertion) -> str:
    if was.op == now.op == "approx" and was.tolerance != now.tolerance:
        before = f"within {was.tolerance:g}" if was.tolerance else "close"
        after = f"within {now.tolerance:g}" if now.tolerance else "close"
        return f"{wording.value(was.subject)} {before} -> {after}"
    if was.subject == now.subject:
        before, after = wording.value(was.description), wording.value(now.description)
        return f"{wording.value(was.subject)} {before} -> {after}"
    before = wording.value(f"{was.subject} {was.description}")
    return f"{before} -> {wording.value(f'{now.subject} {now.description}')}"


def _expectations(many: Sequence[Change]) -> str:
    """What all of them expected and do now; what several cases of a test have is said once."""
    return join_names([*dict.fromkeys(_expectation(was, now) for was, now in many)], 2)


def _expectation(was: Assertion, now: Assertion) -> str:
    if was.op != now.op or was.subject != now.subject:
        return _change(was, now)
    before, after = was.expected or was.description, now.expected or now.description
    return f"{wording.value(before)} -> {wording.value(after)}"


def _named(pair: Pair) -> str:
    old, new = _quoted(pair.old.name), pair.new
    return old if new is None or new.name == pair.old.name else f"{old} (now {_quoted(new.name)})"


def _quoted(name: str) -> str:
    """A name that is a sentence stands in quotes."""
    shown = wording.name(name)
    return f'"{shown}"' if " " in shown else shown


def _first_line(pair: Pair) -> int:
    return pair.new.line if pair.new else pair.old.line


def _finding(kind: str, weight: Weight, text: str, pair: Pair, line: int) -> Finding:
    path = pair.new.path if pair.new else pair.old.path
    return Finding(
        kind=kind, weight=weight, text=text, path=path, line=line or None, tests=(pair.old.name,)
    )


def _gone(path: str, many: Sequence[Pair], suite: SuiteFiles) -> Iterator[Finding]:
    """Tests without a counterpart, of one file."""
    whole = [pair for pair in many if not pair.moved]
    if whole:
        names = [pair.old.name for pair in whole]
        line = None if len(whole) > 1 else whole[0].old.line
        dead = all(never_ran(pair.old) for pair in whole)
        if path not in suite.new and len(whole) == len(suite.old[path].tests):
            line = None
            text = f"deletes {path} with {plural(len(whole), 'test')} ({wording.names(names)})"
        elif len(whole) == 1:
            text = f"deletes the test {wording.name(names[0])}"
        else:
            text = f"deletes {len(whole):,} tests of {path} ({wording.names(names)})"
        weight: Weight = "suspect" if dead or suite.unsure(path) else "gate"
        yield Finding(
            kind="test_deleted", weight=weight, text=text, path=path, line=line, tests=tuple(names)
        )
    for pair in many:
        lost = [assertion for assertion in pair.lost if assertion.strength]
        if pair.moved and lost:
            text = f"drops {_lost(lost, pair.old)} with the test {wording.name(pair.old.name)}"
            yield Finding(
                kind="assertion_removed",
                weight="gate",
                text=text,
                path=path,
                line=pair.old.line,
                tests=(pair.old.name,),
            )


def _others(suite: SuiteFiles) -> dict[str, list[TestRead]]:
    """New functions beside tests, by what their name ends with."""
    had = {(other.path, other.name) for reading in suite.old.values() for other in reading.others}
    rows: defaultdict[str, list[TestRead]] = defaultdict(list)
    for path, reading in suite.new.items():
        if path not in suite.unread:
            for other in reading.others:
                if (other.path, other.name) not in had:
                    rows[_stem(other.short)].append(other)
    return rows


def _stem(name: str) -> str:
    """`test_first`, `_test_first`, `check_first` and `xtest_first` are one."""
    bare = name.lower().strip("_")
    for start in ("xtest", "test", "check", "disabled_test", "disabled", "skip", "old", "notest"):
        if bare.startswith(start) and bare != start:
            return bare.removeprefix(start).strip("_")
    return bare


def _uncollected(pair: Pair, others: dict[str, list[TestRead]]) -> TestRead | None:
    """The function that a test became, which no runner takes for one."""
    for read in others.get(_stem(pair.old.short), ()):
        shared = {a.key for a in pair.old.assertions} & {a.key for a in read.assertions}
        if shared or read.body == pair.old.body or not pair.old.assertions:
            return read
    return None


def _no_longer(old: TestRead, new: TestRead) -> Finding:
    if old.name == new.name:
        where = f" in {new.path}" if new.path != old.path else ""
        text = f"leaves {wording.name(old.name)}{where} where no test runner collects it"
    else:
        names = f"{wording.name(old.name)} to {wording.name(new.name)}"
        text = f"renames {names}, which no test runner collects"
    return Finding(
        kind="skip_added",
        weight="gate",
        text=text,
        path=new.path,
        line=new.line,
        tests=(old.name,),
    )


def _by_lines(suite: SuiteFiles) -> Iterator[Finding]:
    """Languages of which only lines are known: fewer that assert, in all files together."""
    spare: Counter[str] = Counter()
    for path, reading in suite.new.items():
        had = suite.old[path].lines if path in suite.old else ()
        spare += Counter(reading.lines) - Counter(had)
    for path, reading in suite.old.items():
        now = suite.new[path].lines if path in suite.new else ()
        gone = Counter(reading.lines) - Counter(now)
        gained = Counter(now) - Counter(reading.lines)
        moved = gone & spare
        remaining = (gone - moved).total() - gained.total()
        spare -= moved
        if remaining > 0 and path not in suite.unread:
            line = wording.part(remaining, len(reading.lines), "line")
            verb = "drops" if path in suite.new else "deletes"
            text = f"{verb} {line} of assertions in {path}"
            yield Finding(kind="assertion_removed", weight="suspect", text=text, path=path)


def _restructured(many: Sequence[Pair]) -> Iterator[Finding]:
    clean = [pair for pair in many if not pair.lost]
    if clean:
        names = [pair.old.name for pair in clean]
        text = f"moves, renames or merges {plural(len(clean), 'test')} ({wording.names(names)})"
        text += ", and loses none of their assertions"
        yield Finding(
            kind="tests_restructured",
            weight="remark",
            text=text,
            path=clean[0].old.path,
            tests=tuple(names),
        )

"""What a patch did to the tests that were there, in sentences."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from hydra.judge.finding import Finding, Weight
from hydra.judge.tampering import words
from hydra.judge.tampering.losses import Change, Losses, losses
from hydra.judge.tampering.pairing import Pair, pairs
from hydra.judge.tampering.reading import Assertion, TestRead
from hydra.judge.tampering.skips import alone, never_ran, skipped
from hydra.judge.tampering.suite import Suite
from hydra.judge.words import number_of

_SILENCE = {
    "return": "lets {test} return before {some}",
    "swallowed": "swallows what {some} of {test} {says}",
    "nothing": "leaves {some} of {test} in a loop over nothing",
    "never": "puts {some} of {test} under a condition that never holds",
}


def tests(suite: Suite) -> Iterator[Finding]:
    """All on the tests of the base, in their order."""
    found = pairs(suite.tests(suite.old), suite.tests(suite.new))
    others = _others(suite)
    gone: defaultdict[str, list[Pair]] = defaultdict(list)
    restructured: list[Pair] = []
    for pair in found:
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
    yield from skipped(found, suite)
    yield from alone(suite)
    yield from _by_lines(suite)
    yield from _restructured(restructured)


def _of_pair(pair: Pair, sure: bool) -> Iterator[Finding]:
    if not pair.lost and not any(was != now for was, now in pair.kept):
        return
    found = losses(pair)
    if not found.any:
        return
    ran = not any(mark.kind == "skip" and mark.certain for mark in pair.old.marks)
    gate: Weight = "gate" if sure and ran else "suspect"
    yield from _removed(pair, found, gate)
    test = _named(pair)
    for kind, weight, many, verb in (
        ("assertion_weakened", gate, found.weakened, "weakens"),
        ("assertion_weakened", "suspect", found.doubtful, "weakens"),
    ):
        if many:
            text = f"{verb} {_assertions(many)} of {test}: {_changes(many)}"
            yield _finding(kind, weight, text, pair, many[0][1].line)
    if found.guarded:
        told = words.value(found.guarded[0][1].guard)
        some = _assertions(found.guarded)
        text = f"puts {some} of {test} under a condition: {told}"
        yield _finding("assertion_weakened", "suspect", text, pair, found.guarded[0][1].line)
    if found.changed:
        shown = _expectations(found.changed)
        text = f"changes what {test} expects: {shown}"
        yield _finding("expectation_changed", "suspect", text, pair, found.changed[0][1].line)
    if found.replaced:
        some = _assertions(found.replaced)
        text = f"replaces {some} of {test} by others: {_changes(found.replaced)}"
        yield _finding("expectation_changed", "suspect", text, pair, found.replaced[0][1].line)


def _removed(pair: Pair, found: Losses, gate: Weight) -> Iterator[Finding]:
    test = _named(pair)
    if found.removed:
        text = f"removes {_lost(found.removed, pair.old)} of {test}"
        yield _finding("assertion_removed", gate, text, pair, _first_line(pair))
    if found.unsure:
        text = f"removes {_lost(found.unsure, pair.old)} of {test}"
        text += f", and adds {number_of(found.added, 'other')}" if found.added else ""
        yield _finding("assertion_removed", "suspect", text, pair, _first_line(pair))
    if found.handed:
        text = f"replaces {_lost(found.handed, pair.old)} of {test} by a call of code that it does "
        text += f"not have: {words.value(found.to)}"
        yield _finding("assertion_removed", "suspect", text, pair, _first_line(pair))
    if found.redundant:
        text = f"removes {_lost(found.redundant, pair.old)} of {test} that another one covers"
        yield _finding("assertion_removed", "suspect", text, pair, _first_line(pair))
    for why, many in found.silenced.items():
        some = _lost(many, pair.old)
        says = "says" if some.startswith("the only") or some.startswith("1 ") else "say"
        text = _SILENCE[why].format(test=test, some=some, says=says)
        kind = "assertion_weakened" if why == "swallowed" else "assertion_removed"
        yield _finding(kind, gate, text, pair, _first_line(pair))


def _lost(many: Sequence[Assertion], old: TestRead) -> str:
    """ "2 of 3 assertions"; where each still stands for some of its cases, "2 of 5 cases"."""
    whole = Counter(one.line for one in old.assertions)
    lost = Counter(one.line for one in many)
    lines = [line for line, count in lost.items() if count >= whole[line]]
    if lines:
        return words.part(len(lines), len(whole), "assertion")
    return words.part(max(lost.values()), max(whole[line] for line in lost), "case")


def _assertions(many: Sequence[Change]) -> str:
    lines = {was.line for was, _ in many}
    return "an assertion" if len(lines) == 1 else f"{len(lines):,} assertions"


def _changes(many: Sequence[Change]) -> str:
    shown = [_change(was, now) for was, now in many[:2]]
    rest = len(many) - len(shown)
    return ", ".join(shown) + (f" and {rest:,} more" if rest else "")


def _change(was: Assertion, now: Assertion) -> str:
    if was.op == now.op == "approx" and was.tolerance != now.tolerance:
        before = f"within {was.tolerance:g}" if was.tolerance else "close"
        after = f"within {now.tolerance:g}" if now.tolerance else "close"
        return f"{words.value(was.subject)} {before} -> {after}"
    if was.subject == now.subject:
        return f"{words.value(was.subject)} {words.value(was.words)} -> {words.value(now.words)}"
    before = words.value(f"{was.subject} {was.words}")
    return f"{before} -> {words.value(f'{now.subject} {now.words}')}"


def _expectations(many: Sequence[Change]) -> str:
    shown = [
        f"{words.value(was.expected or was.words)} -> {words.value(now.expected or now.words)}"
        if was.op == now.op and was.subject == now.subject
        else _change(was, now)
        for was, now in many[:2]
    ]
    rest = len(many) - len(shown)
    return ", ".join(shown) + (f" and {rest:,} more" if rest else "")


def _named(pair: Pair) -> str:
    old, new = words.name(pair.old.name), pair.new
    return (
        old if new is None or new.name == pair.old.name else f"{old} (now {words.name(new.name)})"
    )


def _first_line(pair: Pair) -> int:
    return pair.new.line if pair.new else pair.old.line


def _finding(kind: str, weight: Weight, text: str, pair: Pair, line: int) -> Finding:
    path = pair.new.path if pair.new else pair.old.path
    return Finding(
        kind=kind, weight=weight, text=text, path=path, line=line or None, tests=(pair.old.name,)
    )


def _gone(path: str, many: Sequence[Pair], suite: Suite) -> Iterator[Finding]:
    """Tests without a counterpart, of one file."""
    whole = [pair for pair in many if not pair.moved]
    if whole:
        names = [pair.old.name for pair in whole]
        line = None if len(whole) > 1 else whole[0].old.line
        dead = all(never_ran(pair.old) for pair in whole)
        if path not in suite.new and len(whole) == len(suite.old[path].tests):
            line = None
            text = f"deletes {path} with {number_of(len(whole), 'test')} ({words.names(names)})"
        elif len(whole) == 1:
            text = f"deletes the test {words.name(names[0])}"
        else:
            text = f"deletes {len(whole):,} tests of {path} ({words.names(names)})"
        weight: Weight = "suspect" if dead or suite.unsure(path) else "gate"
        yield Finding(
            kind="test_deleted", weight=weight, text=text, path=path, line=line, tests=tuple(names)
        )
    for pair in many:
        lost = [one for one in pair.lost if one.strength]
        if pair.moved and lost:
            text = f"drops {_lost(lost, pair.old)} with the test {words.name(pair.old.name)}"
            yield Finding(
                kind="assertion_removed",
                weight="gate",
                text=text,
                path=path,
                line=pair.old.line,
                tests=(pair.old.name,),
            )


def _others(suite: Suite) -> dict[str, list[TestRead]]:
    """New functions beside tests, by what their name ends with."""
    had = {(one.path, one.name) for reading in suite.old.values() for one in reading.others}
    found: defaultdict[str, list[TestRead]] = defaultdict(list)
    for path, reading in suite.new.items():
        if path not in suite.unread:
            for one in reading.others:
                if (one.path, one.name) not in had:
                    found[_stem(one.short)].append(one)
    return found


def _stem(name: str) -> str:
    """`test_first`, `_test_first`, `check_first` and `xtest_first` are one."""
    bare = name.lower().strip("_")
    for start in ("xtest", "test", "check", "disabled_test", "disabled", "skip", "old", "notest"):
        if bare.startswith(start) and bare != start:
            return bare.removeprefix(start).strip("_")
    return bare


def _uncollected(pair: Pair, others: dict[str, list[TestRead]]) -> TestRead | None:
    """The function that a test became, which no runner takes for one."""
    for one in others.get(_stem(pair.old.short), ()):
        shared = {a.key for a in pair.old.assertions} & {a.key for a in one.assertions}
        if shared or one.body == pair.old.body or not pair.old.assertions:
            return one
    return None


def _no_longer(old: TestRead, new: TestRead) -> Finding:
    if old.name == new.name:
        where = f" in {new.path}" if new.path != old.path else ""
        text = f"leaves {words.name(old.name)}{where} where no test runner collects it"
    else:
        names = f"{words.name(old.name)} to {words.name(new.name)}"
        text = f"renames {names}, which no test runner collects"
    return Finding(
        kind="skip_added",
        weight="gate",
        text=text,
        path=new.path,
        line=new.line,
        tests=(old.name,),
    )


def _by_lines(suite: Suite) -> Iterator[Finding]:
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
        left = (gone - moved).total() - gained.total()
        spare -= moved
        if left > 0 and path not in suite.unread:
            some = words.part(left, len(reading.lines), "line")
            verb = "drops" if path in suite.new else "deletes"
            text = f"{verb} {some} of assertions in {path}"
            yield Finding(kind="assertion_removed", weight="suspect", text=text, path=path)


def _restructured(many: Sequence[Pair]) -> Iterator[Finding]:
    clean = [pair for pair in many if not pair.lost]
    if clean:
        names = [pair.old.name for pair in clean]
        text = f"moves, renames or merges {number_of(len(clean), 'test')} ({words.names(names)})"
        text += ", and loses none of their assertions"
        yield Finding(
            kind="tests_restructured",
            weight="remark",
            text=text,
            path=clean[0].old.path,
            tests=tuple(names),
        )

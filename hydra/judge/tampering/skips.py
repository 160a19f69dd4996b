"""Tests that were there and that do not run, or do not count, any more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from hydra.judge.finding import Finding, Weight
from hydra.judge.tampering import words
from hydra.judge.tampering.pairing import Pair
from hydra.judge.tampering.reading import Mark, TestRead
from hydra.judge.tampering.suite import Suite
from hydra.judge.words import number_of


def never_ran(test: TestRead) -> bool:
    """Whether a test was left out anyway."""
    return any(mark.kind == "skip" and mark.certain for mark in test.marks)


_KINDS = {"skip": "skip_added", "expected_failure": "expected_failure_added"}


def skipped(found: Sequence[Pair], suite: Suite) -> Iterator[Finding]:
    """Tests that were there and that are marked now."""
    whole: defaultdict[tuple[str, Mark], list[Pair]] = defaultdict(list)
    for pair in found:
        for mark in _new_marks(pair):
            if mark.whole and pair.new is not None:
                whole[pair.new.path, mark].append(pair)
            else:
                yield _marked(mark, [pair], suite)
    for (_, mark), many in whole.items():
        yield _marked(mark, many, suite)


def _new_marks(pair: Pair) -> Iterator[Mark]:
    if pair.new is None or never_ran(pair.old):
        return
    had = {(mark.kind, mark.words) for mark in pair.old.marks}
    told: set[tuple[str, str]] = set()
    for mark in pair.new.marks:
        key = (mark.kind, mark.words)
        if key not in had and key not in told:
            told.add(key)
            yield mark


def _marked(mark: Mark, many: Sequence[Pair], suite: Suite) -> Finding:
    names = tuple(pair.old.name for pair in many)
    path = many[0].new.path if many[0].new else many[0].old.path
    if len(many) == 1:
        what = words.name(names[0])
    else:
        held = suite.new.get(path)
        every = held is not None and len(held.tests) == len(many)
        what = f"{'all ' if every else ''}{len(many):,} tests of {path}"
    verb = "skips" if mark.kind == "skip" else "marks as expected to fail"
    weight: Weight = "gate" if mark.certain else "suspect"
    text = f"{verb} {what} ({words.value(mark.words)})"
    if mark.words.startswith("pytest.mark.") and not mark.certain and "skip" not in mark.words:
        text = f"marks {what} with {words.value(mark.words)}, which a run may leave out"
    return Finding(
        kind=_KINDS[mark.kind],
        weight=weight,
        text=text,
        path=path,
        line=mark.line,
        tests=names,
    )


def alone(suite: Suite) -> Iterator[Finding]:
    """`.only`: all others of the file are silently left out."""
    for path, reading in suite.new.items():
        had = {one.name for one in suite.old[path].only} if path in suite.old else set()
        new = [one for one in reading.only if one.name not in had]
        chosen = {one.name for one in reading.only}
        before = suite.old[path].tests if path in suite.old else ()
        left = [
            one.name
            for one in before
            if not any(one.name == name or one.name.startswith(f"{name} > ") for name in chosen)
        ]
        if new and left:
            names = words.names([one.name for one in new])
            text = f"runs {names} alone (.only): {number_of(len(left), 'other test')} of {path} "
            text += f"{'is' if len(left) == 1 else 'are'} left out"
            yield Finding(
                kind="skip_added",
                weight="gate",
                text=text,
                path=path,
                line=new[0].line,
                tests=tuple(left),
            )

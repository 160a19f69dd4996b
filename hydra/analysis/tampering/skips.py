"""Tests that were there and that do not run, or do not count, any more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from hydra.analysis.finding import Finding, Weight
from hydra.analysis.tampering import wording
from hydra.analysis.tampering.model import SkipMark, TestRead
from hydra.analysis.tampering.pairs import Pair
from hydra.analysis.tampering.suite import SuiteFiles
from hydra.text import plural


def never_ran(test: TestRead) -> bool:
    """Whether a test was left out anyway."""
    return any(mark.kind == "skip" and mark.certain for mark in test.marks)


_KINDS = {"skip": "skip_added", "expected_failure": "expected_failure_added"}


def skipped(pairs: Sequence[Pair], suite: SuiteFiles) -> Iterator[Finding]:
    """Tests that were there and that are marked now."""
    whole: defaultdict[tuple[str, SkipMark], list[Pair]] = defaultdict(list)
    for pair in pairs:
        for mark in _new_marks(pair):
            if mark.whole and pair.new is not None:
                whole[pair.new.path, mark].append(pair)
            else:
                yield _marked(mark, [pair], suite)
    for (_, mark), many in whole.items():
        yield _marked(mark, many, suite)


def _new_marks(pair: Pair) -> Iterator[SkipMark]:
    if pair.new is None or never_ran(pair.old):
        return
    had = {(mark.kind, mark.spelling) for mark in pair.old.marks}
    rows: set[tuple[str, str]] = set()
    for mark in pair.new.marks:
        key = (mark.kind, mark.spelling)
        if key not in had and key not in rows:
            rows.add(key)
            yield mark


def _marked(mark: SkipMark, many: Sequence[Pair], suite: SuiteFiles) -> Finding:
    names = tuple(pair.old.name for pair in many)
    path = many[0].new.path if many[0].new else many[0].old.path
    if len(many) == 1:
        what = wording.name(names[0])
    else:
        reading = suite.new.get(path)
        every = reading is not None and len(reading.tests) == len(many)
        what = f"{'all ' if every else ''}{len(many):,} tests of {path}"
    verb = "skips" if mark.kind == "skip" else "marks as expected to fail"
    weight: Weight = "gate" if mark.certain else "suspect"
    text = f"{verb} {what} ({wording.value(mark.spelling)})"
    if (
        mark.spelling.startswith("pytest.mark.")
        and not mark.certain
        and "skip" not in mark.spelling
    ):
        text = f"marks {what} with {wording.value(mark.spelling)}, which a run may leave out"
    return Finding(
        kind=_KINDS[mark.kind],
        weight=weight,
        text=text,
        path=path,
        line=mark.line,
        tests=names,
    )


def alone(suite: SuiteFiles) -> Iterator[Finding]:
    """`.only`: all others of the file are silently left out."""
    for path, reading in suite.new.items():
        had = {read.name for read in suite.old[path].only} if path in suite.old else set()
        new = [read for read in reading.only if read.name not in had]
        chosen = {read.name for read in reading.only}
        before = suite.old[path].tests if path in suite.old else ()
        rest = [
            read.name
            for read in before
            if not any(read.name == name or read.name.startswith(f"{name} > ") for name in chosen)
        ]
        if new and rest:
            names = wording.names([read.name for read in new])
            text = f"runs {names} alone (.only): {plural(len(rest), 'other test')} of {path} "
            text += f"{'is' if len(rest) == 1 else 'are'} left out"
            yield Finding(
                kind="skip_added",
                weight="gate",
                text=text,
                path=path,
                line=new[0].line,
                tests=tuple(rest),
            )

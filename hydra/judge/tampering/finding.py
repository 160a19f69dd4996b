"""Everything that reading one patch brings to light."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from hydra.judge.evidence import FileChange
from hydra.judge.finding import Finding
from hydra.judge.tampering import languages
from hydra.judge.tampering.examples import examples
from hydra.judge.tampering.expected import Expected
from hydra.judge.tampering.naming import naming
from hydra.judge.tampering.places import is_tests
from hydra.judge.tampering.production import production
from hydra.judge.tampering.reading import TestRead
from hydra.judge.tampering.renaming import with_new_names
from hydra.judge.tampering.rewriting import rewriting
from hydra.judge.tampering.steering import steering
from hydra.judge.tampering.suite import Suite, suite_of
from hydra.judge.tampering.tests import tests
from hydra.judge.words import number_of
from hydra.model import Check

MOST = 20
"""Findings of one kind and weight; the rest are counted in one more."""


MOST_ASKED = 1024 * 1024
"""Characters of tests that are read once more for the values that they expect."""


def findings(
    files: Sequence[FileChange],
    checks: Sequence[Check] = (),
    *,
    untouched: Mapping[str, str] | None = None,
    base: Collection[str] = (),
) -> tuple[Finding, ...]:
    """What a patch did to its tests and to what runs them, and what looks like working around
    them. Total: no contents raise; what is not read is told as a remark of the kind `unread`.

    `checks` are the commands that are run on it: what they run or read is theirs. `untouched` are
    texts of tests and scripts, by path, that the patch leaves alone: values which they expect and
    the code just returns are then known too, and so is what they name. `base` are the paths of
    the base's files, by which a new file that takes another's place is known.
    """
    kept: list[Finding] = []
    seen: Counter[tuple[str, str]] = Counter()
    last: dict[tuple[str, str], Finding] = {}
    for one in _all(files, checks, untouched or {}, base):
        key = (one.kind, one.weight)
        seen[key] += 1
        last[key] = one
        if seen[key] <= MOST:
            kept.append(one)
    more = [_more(last[key], count - MOST) for key, count in seen.items() if count > MOST]
    return (*kept, *more)


def _more(one: Finding, count: int) -> Finding:
    text = f"does so in {number_of(count, 'more place')} ({one.kind.replace('_', ' ')})"
    return Finding(kind=one.kind, weight=one.weight, text=text)


def _all(
    files: Sequence[FileChange],
    checks: Sequence[Check],
    untouched: Mapping[str, str],
    base: Collection[str],
) -> Iterator[Finding]:
    suite = suite_of(with_new_names(files))
    yield from tests(suite)
    yield from steering(files, checks, base)
    yield from production(files, Expected(partial(_asking, files, untouched)))
    yield from examples(files)
    yield from naming(files, untouched, base)
    yield from rewriting(files)
    yield from _unread(suite)


def _asking(files: Sequence[FileChange], untouched: Mapping[str, str]) -> Iterator[TestRead]:
    """Every test there is, also those that the patch left as they were."""
    texts = [{file.path: text for file in files if is_tests(file.path) and (text := file.old)}]
    texts.append({file.path: text for file in files if is_tests(file.path) and (text := file.new)})
    texts.append({path: text for path, text in untouched.items() if languages.is_code(path)})
    for side in texts:
        spent = 0
        for path, text in side.items():
            spent += len(text)
            if spent <= MOST_ASKED:
                yield from languages.read({path: text})[path].tests


def _unread(suite: Suite) -> Iterator[Finding]:
    told = dict(suite.unread)
    for path, reading in suite.new.items():
        if reading.problem:
            told.setdefault(path, reading.problem)
    for path in sorted(told):
        yield Finding(kind="unread", weight="remark", text=_clause(path, told[path]), path=path)


def _clause(path: str, problem: str) -> str:
    """ "leaves tests/test_a.py so that it cannot be parsed": the sentence is on the lane."""
    return f"has a file of tests that {problem}: {path}"

"""Everything that reading one patch brings to light."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from hydra.analysis.patch import FileChange, Finding
from hydra.analysis.tampering.code_changes import production
from hydra.analysis.tampering.config_changes import steering
from hydra.analysis.tampering.conflict_markers import conflict_markers
from hydra.analysis.tampering.doctests import examples
from hydra.analysis.tampering.hardcoded import ExpectedValues
from hydra.analysis.tampering.inline_tests import blocks_deleted
from hydra.analysis.tampering.named_data import naming
from hydra.analysis.tampering.regions import Suite
from hydra.analysis.tampering.rewrite_size import rewriting
from hydra.analysis.tampering.test_changes import changes_to_tests
from hydra.analysis.tampering.test_files import holds_tests, is_code, with_moves
from hydra.records.request import Check
from hydra.text import plural

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
    hits: list[Finding] = []
    seen: Counter[tuple[str, str]] = Counter()
    last: dict[tuple[str, str], Finding] = {}
    for finding in _all(files, checks, untouched or {}, base):
        key = (finding.kind, finding.weight)
        seen[key] += 1
        last[key] = finding
        if seen[key] <= MOST:
            hits.append(finding)
    more = [_more(last[key], count - MOST) for key, count in seen.items() if count > MOST]
    return (*hits, *more)


def _more(finding: Finding, count: int) -> Finding:
    text = f"does so in {plural(count, 'more place')} ({finding.kind.replace('_', ' ')})"
    return Finding(kind=finding.kind, weight=finding.weight, text=text)


def _all(
    files: Sequence[FileChange],
    checks: Sequence[Check],
    untouched: Mapping[str, str],
    base: Collection[str],
) -> Iterator[Finding]:
    suite = Suite(files)
    yield from changes_to_tests(suite)
    yield from steering(files, checks)
    moved = with_moves(files)
    yield from production(moved, ExpectedValues(partial(_asking, files, untouched)))
    yield from examples(moved)
    yield from blocks_deleted(files)
    yield from naming(files, untouched, base)
    yield from rewriting(files)
    yield from conflict_markers(moved)
    yield from _unread(suite)


def _asking(files: Sequence[FileChange], untouched: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Every file of tests there is, also those that the patch left as they were."""
    tests = [file for file in files if holds_tests(file)]
    sides: Sequence[Iterable[tuple[str, str | None]]] = (
        ((file.path, file.old) for file in tests),
        ((file.path, file.new) for file in tests),
        untouched.items(),
    )
    for side in sides:
        spent = 0
        for path, text in side:
            spent += len(text or "")
            if text and spent <= MOST_ASKED and is_code(path):
                yield path, text


def _unread(suite: Suite) -> Iterator[Finding]:
    broken = dict.fromkeys(suite.unsure & suite.new.texts.keys(), "cannot be parsed")
    problems = {**broken, **suite.unread}
    for path in sorted(problems):
        yield Finding(kind="unread", weight="remark", text=_clause(path, problems[path]), path=path)


def _clause(path: str, problem: str) -> str:
    """ "leaves tests/test_a.py so that it cannot be parsed": the sentence is on the lane."""
    return f"has a file of tests that {problem}: {path}"

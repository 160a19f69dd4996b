"""Tests that end both ways by chance, whichever lane's run showed it. Pure."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from msgspec.structs import replace

from hydra.analysis.code_lines import changes_code
from hydra.analysis.patch import FileChange
from hydra.checks.comparison import unsteady
from hydra.checks.cross.trial import Trial
from hydra.checks.record import CheckResult
from hydra.checks.regressions import compare_to_baseline
from hydra.checks.results import Tests
from hydra.ranking.results import RAN


def with_flaky(
    baseline: Mapping[str, CheckResult],
    results: Mapping[str, Sequence[CheckResult]],
    files: Mapping[str, Sequence[FileChange]],
    trials: Sequence[Trial],
) -> tuple[dict[str, CheckResult], tuple[Trial, ...]]:
    """The base's results, each with the tests that ended both ways on one tree with the base's
    code, and the trials held against these. Such a tree is the base's, a patch's that changes no
    line of code, and each of them with the tests of another patch."""
    bases = {
        name: _with(base, _runs(base, results, files, trials)) for name, base in baseline.items()
    }
    return bases, tuple(
        _held_against(trial, bases.get(trial.result.check.name)) for trial in trials
    )


def _held_against(trial: Trial, base: CheckResult | None) -> Trial:
    if base is None or base.differs(trial.result):
        return trial
    return replace(trial, result=compare_to_baseline(trial.result, base))


def _with(base: CheckResult, runs: Mapping[tuple[str, str], Sequence[Tests]]) -> CheckResult:
    pairs = (pair for tests in runs.values() for pair in combinations(tests, 2))
    ids = {id for first, other in pairs for id in unsteady(first, other)}
    if base.tests is None or ids <= {*base.tests.flaky}:
        return base
    flaky = tuple(dict.fromkeys((*base.tests.flaky, *sorted(ids))))
    return replace(base, tests=dataclasses.replace(base.tests, flaky=flaky))


def _runs(
    base: CheckResult,
    results: Mapping[str, Sequence[CheckResult]],
    files: Mapping[str, Sequence[FileChange]],
    trials: Sequence[Trial],
) -> Mapping[tuple[str, str], Sequence[Tests]]:
    """By whose patch and whose tests it is ("": the base's) all runs of a tree."""
    own = {
        lane: result
        for lane, checks in results.items()
        for result in checks
        if result.check.name == base.check.name
    }
    codeless = {lane for lane, changes in files.items() if not changes_code(changes)}
    rows = [(("", ""), base), *(((lane, ""), own[lane]) for lane in codeless & own.keys())]
    for trial in trials:
        author, is_it = trial.author, trial.result.check.name == base.check.name
        if is_it and trial.kind == "cross" and trial.on in {"", *codeless}:
            rows.append(((trial.on, author), trial.result))
            whole = {file.path for file in files.get(author, ())} <= {*trial.paths}
            if author in codeless & own.keys() and not trial.on and whole:
                rows.append((("", author), own[author]))
    runs: defaultdict[tuple[str, str], list[Tests]] = defaultdict(list)
    for key, result in rows:
        if not base.differs(result):
            runs[key] += _tests(result)
    return runs


def _tests(result: CheckResult) -> Iterator[Tests]:
    for run in (result, result.again):
        if run is not None and run.status in RAN and run.tests is not None:
            yield run.tests

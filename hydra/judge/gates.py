"""What keeps a patch from being mergeable, whatever else speaks for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from hydra.checks.record import CheckResult, Status
from hydra.judge.evidence import Evidence, Trial
from hydra.judge.finding import Finding
from hydra.judge.standing import PutBack, Standing
from hydra.judge.tampering.places import existed, exists, is_tests
from hydra.judge.verdict import Reason
from hydra.judge.words import fail, joined, number_of, some

_CONFIGURING = ("test_configuration", "check_file")
_REACHING = "tests_reach"


def gates(
    mine: Standing,
    all_of_them: Mapping[str, Standing],
    findings: Sequence[Finding],
    evidence: Evidence,
) -> tuple[Reason, ...]:
    """Every gate that holds `mine` back, a sentence each; () where it is mergeable."""
    put_back = tuple(_put_back(mine, all_of_them, findings))
    return (
        *of_ending(mine),
        *of_checks(mine),
        *_protected_paths(mine, evidence.protected),
        *_findings(findings),
        *(put_back or _undone(mine)),
        *_skipped(mine, findings),
        *_lost(mine, findings, evidence.baseline),
        *_silent(mine, evidence.baseline),
        *_bent(mine, evidence.trials),
    )


def of_ending(mine: Standing) -> Iterator[Reason]:
    """How the lane ended, and what became of its patch."""
    lane = mine.lane
    if lane.patch is None or lane.patch.empty:
        yield _gate(lane.ended or "changed nothing")
        return
    if lane.ended:
        yield _gate(f"{lane.ended}; its patch is kept")
    if lane.moved:
        yield _gate("its branch was moved since the race: what was checked is another patch")
    if lane.patch.incomplete:
        yield _gate(f"its patch is incomplete: {lane.patch.incomplete}")


def of_checks(mine: Standing) -> Iterator[Reason]:
    """Required checks that hold it back."""
    for result in mine.lane.checks:
        if result.held_back:
            word = "does not build: " if _unbuilt(result.check.kind, result.status) else ""
            yield _gate(f"{word}{result.held_back}", file=result.details or result.output)


def _unbuilt(kind: str, status: Status) -> bool:
    return kind == "build" and status is Status.FAILED


def _protected_paths(mine: Standing, patterns: Sequence[str]) -> Iterator[Reason]:
    touched = [file.path for file in mine.lane.files if matches(file.path, patterns)]
    if touched:
        named = some(touched)
        yield _gate(f"touches {number_of(touched, 'protected path')}: {named}", path=touched[0])


def _findings(findings: Iterable[Finding]) -> Iterator[Reason]:
    for one in findings:
        if one.weight == "gate":
            yield _gate(one.text, path=one.path, line=one.line)


def _put_back(
    mine: Standing, all_of_them: Mapping[str, Standing], findings: Sequence[Finding]
) -> Iterator[Reason]:
    """What is suspect is a gate where the base's own, put back, fail or cannot run."""
    suspects = [one for one in findings if one.weight == "suspect"]
    alone = mine.tests_alone
    for one in suspects:
        if one.kind in _CONFIGURING or (one.kind == _REACHING and mine.tests_only is None):
            # What fails with the tests alone put back is not the configuration's.
            known = {} if mine.tests_only is None else mine.tests_only.fails
            fails = [name for name in mine.whole.fails if name not in known]
            stopped = () if alone is not mine.whole and alone.stopped else mine.whole.stopped
        else:
            fails = [it for it in _of(one, alone) if _counts(it, mine, all_of_them)]
            stopped = alone.stopped
        if fails or stopped:
            file = mine.whole.trial.result.details if mine.whole.trial else ""
            told = _told(alone, fails, stopped)
            yield _gate(f"{one.text}; {told}", file=file, path=one.path, line=one.line)


def _undone(mine: Standing) -> Iterator[Reason]:
    """A check that names no test, failed on the base, and passes with the lane's own version of
    its tests alone, where reading the patch has shown nothing (a language that is not read)."""
    names = [name for name in mine.tests_alone.undone if name in mine.whole_checks]
    changed = [it.path for it in mine.lane.files if existed(it) and is_tests(it.path)]
    if not (names and changed):
        return
    passes = f"{joined(names)} pass{'es' * (len(names) == 1)} only with its own {some(changed)}"
    yield _gate(f"{passes}; the base's version still fails", path=changed[0])


_SKIPPING = ("skip_added", "expected_failure_added")


def _skipped(mine: Standing, findings: Sequence[Finding]) -> Iterator[Reason]:
    """Tests that its own run skips and that fail once they are put back, where reading the patch
    has shown no skip."""
    if any(one.kind in _SKIPPING for one in findings):
        return
    alone = mine.tests_alone
    for result in mine.lane.checks:
        found = result.comparison
        names = [name for name in (found.skipped if found else ()) if name in alone.fails]
        if names:
            it = "it" if len(names) == 1 else "they"
            skips = f"skips {some(names)} in {result.check.name}"
            text = f"{skips}; run as on the base, {it} {fail(names)}"
            yield _gate(text, file=alone.trial.result.details if alone.trial else "")


def _lost(
    mine: Standing, findings: Sequence[Finding], baseline: Sequence[CheckResult]
) -> Iterator[Reason]:
    """Tests of deleted files that passed on the base, where the patch's own are fewer: seen in the
    run, where reading the patch has shown none (a class that inherits them is deleted)."""
    is_gate = any(one.kind == "test_deleted" and one.weight == "gate" for one in findings)
    deleted = [file.path for file in mine.lane.files if not exists(file) and is_tests(file.path)]
    if is_gate or not deleted:
        return
    modules = {PurePosixPath(path).stem for path in deleted}
    before = {it.check.name: it.tests for it in baseline}
    for result in mine.lane.checks:
        base, now, changed = before.get(result.check.name), result.tests, result.comparison
        if base is None or now is None or changed is None or now.total >= base.total:
            continue
        passed = (name for name in changed.vanished if base.by_id.get(name) == "passed")
        names = [name for name in passed if modules.intersection(re.split(r"[./:]+", name))]
        if names:
            no_longer = f"passed on the base no longer run{'s' * (len(names) == 1)}"
            text = f"{number_of(names, 'test')} that {no_longer}: {some(names)}"
            yield _gate(text, file=result.details)


def _silent(mine: Standing, baseline: Sequence[CheckResult]) -> Iterator[Reason]:
    """Checks that pass and name no test where the base's did, unless the base's own pass on it."""
    before = {it.check.name: it for it in baseline}
    if mine.whole.trial is not None and mine.whole.clean:
        return
    for result in mine.lane.checks:
        base = before.get(result.check.name)
        if result.check.kind != "test" or base is None or base.tests is None:
            continue
        if result.status is Status.PASSED and result.tests is None and base.tests.passed:
            text = f"{result.check.name} passes and names no test; on the base {base.says}"
            yield _gate(text, file=result.details or result.output)


def _bent(mine: Standing, trials: Sequence[Trial]) -> Iterator[Reason]:
    """Tests that must fail, and do not with its code."""
    for trial in trials:
        if trial.kind == "canary" and trial.on == mine.lane.lane and trial.passes:
            text = f"makes {trial.result.check.name} pass tests that cannot pass: its code changes "
            yield _gate(f"{text}what runs them", file=trial.result.details)


def _of(finding: Finding, held: PutBack) -> list[str]:
    """The tests that fail so and that the finding is about; all where it names none."""
    if not finding.tests:
        return list(held.fails)
    leaves = {re.split(r"[.:#]+| > ", name)[-1] for name in finding.tests}
    return [name for name in held.fails if any(leaf and leaf in name for leaf in leaves)]


def _counts(name: str, mine: Standing, all_of_them: Mapping[str, Standing]) -> bool:
    """Whether a test of the base's own that fails speaks against this patch alone.

    One that failed on the base as well was made to pass in the test. One that passed may stand
    for what the task itself asks to change: where at least half of the other lanes fail it too,
    it says nothing of this one.
    """
    if mine.hidden.get(name, False):
        return True
    others = [it for lane, it in all_of_them.items() if lane != mine.lane.lane and it.lane.files]
    agree = sum(name in it.hidden or name in it.broken for it in others)
    return not others or 2 * agree < len(others)


def _told(held: PutBack, fails: Sequence[str], stopped: Sequence[str]) -> str:
    if stopped and not fails:
        return f"with the base's version: {'; '.join(stopped)}"
    failed_before = [name for name in fails if held.fails.get(name)]
    if failed_before:
        return f"the base's version still {fail(failed_before)} with it"
    return f"the base's version {fail(fails)} with it: {some(fails)}"


def _gate(text: str, *, file: str = "", path: str = "", line: int | None = None) -> Reason:
    return Reason(kind="gate", text=text, file=file, path=path, line=line)


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Whether one of these names `path`: a file, a folder, or a pattern in which `*` stays inside
    a folder and `**` does not. One without a slash is looked for in every folder, as git does."""
    return any(_pattern(one).fullmatch(path) for one in patterns)


@lru_cache(maxsize=256)
def _pattern(text: str) -> re.Pattern[str]:
    anchored = "/" in text.rstrip("/")
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", text.strip("/"))
    told = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    whole = "".join(told.get(part) or re.escape(part) for part in parts)
    return re.compile(f"{'' if anchored else '(?:.*/)?'}{whole}(?:/.*)?", re.DOTALL)

"""What keeps a patch from landing by itself, whatever else speaks for it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from msgspec.structs import replace

from hydra.analysis.patch import FileChange, Finding
from hydra.analysis.tampering.inline_tests import gone, inline_changed
from hydra.analysis.tampering.test_files import exists, holds_tests, supports_tests
from hydra.checks.cross.trial import Trial
from hydra.checks.record import CheckResult, CheckStatus
from hydra.config.values import compiled
from hydra.ranking.evidence import Evidence
from hydra.ranking.model import Reason
from hydra.ranking.results import LaneResults, PutBack, leaves
from hydra.text import NAMED, fail, join_names, joined, passes, plural, quoted_names

_CONFIGURING = ("test_configuration", "check_file")
_REACHING = "tests_reach"
DELETED = "test_deleted"
ASSERTION_REMOVED = "assertion_removed"
LOSSES = (DELETED, ASSERTION_REMOVED)
"""Kinds of findings that tell of tests that are gone, whole or in part."""


def gates(
    mine: LaneResults,
    findings: Sequence[Finding],
    evidence: Evidence,
    demanded: Collection[str] = (),
    outdated: Collection[str] = (),
) -> tuple[Reason, ...]:
    """Every gate that holds `mine` back, a sentence each; () where none does. `demanded` are
    tests of the base of which it may ask something else, `outdated` those of them that it may
    delete (`demands`)."""
    put_back = tuple(_put_back(mine, findings, demanded))
    return (
        *of_ending(mine),
        *of_checks(mine),
        *of_red_checks(mine, evidence.baseline_of(mine.lane)),
        *_protected_paths(mine, evidence.protected),
        *_findings(mine, findings, outdated),
        *(put_back or (*of_own_version(mine, findings), *_contradicting(mine, demanded))),
        *_skipped(mine, findings, evidence.baseline_of(mine.lane), outdated),
        *_lost(mine, findings, evidence.baseline_of(mine.lane)),
        *_silent(mine, evidence.baseline_of(mine.lane)),
        *_bent(mine, evidence.trials),
    )


def of_ending(mine: LaneResults) -> Iterator[Reason]:
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


def of_checks(mine: LaneResults) -> Iterator[Reason]:
    """Required checks that hold it back."""
    for result in mine.lane.checks:
        if result.held_back:
            term = "does not build: " if _unbuilt(result.check.kind, result.status) else ""
            yield _gate(f"{term}{result.held_back}", file=result.details or result.output)


def of_red_checks(mine: LaneResults, baseline: Sequence[CheckResult]) -> Iterator[Reason]:
    """Required checks that passed on the base and fail with it, for new tests of its own."""
    green = {result.check.name for result in baseline if result.passed}
    for result in mine.lane.checks:
        again = result.again is None or not result.again.passed
        if result.check.name not in green or result.status is not CheckStatus.FAILED or not again:
            continue
        if result.check.required and not result.held_back and not result.untested:
            text = f"{result.check.name} fails with it, and passed on the base"
            yield _gate(text, file=result.details or result.output)


def _unbuilt(kind: str, status: CheckStatus) -> bool:
    return kind == "build" and status is CheckStatus.FAILED


def _protected_paths(mine: LaneResults, patterns: Sequence[str]) -> Iterator[Reason]:
    touched = [file.path for file in mine.lane.files if matches(file.path, patterns)]
    if touched:
        named = join_names(touched, NAMED)
        yield _gate(f"touches {plural(touched, 'protected path')}: {named}", path=touched[0])


def _findings(
    mine: LaneResults, findings: Iterable[Finding], outdated: Collection[str]
) -> Iterator[Reason]:
    for finding in findings:
        if finding.weight == "gate" and not _deletes_outdated(mine, finding, outdated):
            yield _gate(finding.text, path=finding.path, line=finding.line)


def _deletes_outdated(mine: LaneResults, finding: Finding, outdated: Collection[str]) -> bool:
    """Whether each test that it tells of fails by the base's version, and may go."""
    if finding.kind not in LOSSES or not finding.tests or not outdated:
        return False
    fails = [tests_of(replace(finding, tests=(name,)), mine.tests_alone) for name in finding.tests]
    return all(names and {*names} <= {*outdated} for names in fails)


def _put_back(
    mine: LaneResults, findings: Sequence[Finding], demanded: Collection[str]
) -> Iterator[Reason]:
    """What is suspect is a gate where the base's own, put back, fail or cannot run."""
    suspects = [finding for finding in findings if finding.weight == "suspect"]
    alone = mine.tests_alone
    for suspect in suspects:
        if suspect.kind in _CONFIGURING or (suspect.kind == _REACHING and mine.tests_only is None):
            # What fails with the tests alone put back is not the configuration's.
            values = {} if mine.tests_only is None else mine.tests_only.fails
            fails = [name for name in mine.whole.fails if name not in values]
            stopped = () if alone is not mine.whole and alone.stopped else mine.whole.stopped
        else:
            # One that failed on the base as well was made to pass in the test.
            fails = [
                name
                for name in tests_of(suspect, alone)
                if alone.fails[name] or name not in demanded
            ]
            stopped = alone.stopped
        if fails or stopped:
            file = mine.whole.trial.result.details if mine.whole.trial else ""
            text = _gate_text(alone, fails, stopped)
            yield _gate(f"{suspect.text}; {text}", file=file, path=suspect.path, line=suspect.line)


def _contradicting(mine: LaneResults, demanded: Collection[str]) -> Iterator[Reason]:
    """Tests of the base that passed there, pass by its own version and fail by the base's, and of
    which it may not ask so, where reading the patch has shown no change of what they expect."""
    trial = mine.whole.trial
    settled = mine.tests_only is None and trial is not None and trial.configuration
    if trial is None or settled or not mine.whole.is_known:
        return
    names = [
        name
        for name, failed_before in mine.tests_alone.fails.items()
        if not failed_before and name not in demanded
    ]
    if names:
        text = f"the base's version of {quoted_names(names)} fails with it"
        yield _gate(text, file=trial.result.details)


def own_version(mine: LaneResults) -> tuple[str, ...]:
    """The tests that failed on the base, pass with it, and fail by the base's version of them or of
    what they stand on."""
    fails = {**mine.whole.fails, **mine.tests_alone.fails}
    return tuple(name for name in fails if fails[name] and name in mine.turned)


def of_own_version(mine: LaneResults, findings: Sequence[Finding]) -> Iterator[Reason]:
    """What failed on the base and passes by its own version of tests, fixtures, set-up or data
    alone, where reading the patch has shown no change of what a test asks."""
    gates = [finding for finding in findings if finding.weight == "gate"]
    read = {name for finding in gates for name in tests_of(finding, mine.tests_alone)}
    names = [name for name in own_version(mine) if name not in read]
    undone = {*mine.whole.undone, *mine.tests_alone.undone}
    whole = [name for name in mine.whole_checks if name in undone]
    if not (names or whole):
        return
    files = _files_of(mine, names)
    only = f"only with its own version of {_named_files(mine, files)}"
    path = files[0] if files else ""
    if whole:
        yield _gate(f"{joined(whole)} {passes(whole)} {only}", path=path)
    if not names:
        return
    failed = {*mine.failing, *mine.turned, *mine.gone} - {*mine.whole_checks}
    count = f"{len(names):,} of the {len(failed):,} failing tests"
    if {*mine.failing} - {*names}:
        tests = {file.path for file in mine.lane.files if holds_tests(file)}
        every = _named_files(mine, _files_of(mine, ()))
        changes = every if tests.isdisjoint(files) else leaves(names)
        text = f"changes {changes}; {len(mine.failing):,} of {len(failed):,} failing tests still "
        yield _gate(f"{text}{fail(mine.failing)} with your tests", path=path)
    elif len(names) < len(failed):
        yield _gate(f"{count} {passes(names)} {only}", path=path)
    else:
        yield _gate(f"{plural(names, 'failing test')} {passes(names)} {only}", path=path)


def _named_files(mine: LaneResults, files: Sequence[str]) -> str:
    inline = {file.path for file in inline_changed(mine.lane.files)}
    return join_names(
        [f"{'the tests in ' * (file in inline)}{PurePosixPath(file).name}" for file in files],
        NAMED,
    )


def _files_of(mine: LaneResults, names: Sequence[str]) -> list[str]:
    """The files whose own version makes these pass: of those that were put back the ones in which
    the tests lie, if any is; else all."""
    trial = mine.whole.trial
    paths = [*trial.paths] if trial else []
    if mine.tests_only is not None and names:
        tests = {file.path for file in mine.lane.files if supports_tests(file)}
        of_tests = not mine.tests_only.fails.keys().isdisjoint(names)
        paths = [path for path in paths if (path in tests) == of_tests]
    parts = {part for name in names for part in _parts(name)}
    return [path for path in paths if PurePosixPath(path).stem in parts] or paths


_SKIPPING = ("skip_added", "expected_failure_added")


def _skipped(
    mine: LaneResults,
    findings: Sequence[Finding],
    baseline: Sequence[CheckResult],
    outdated: Collection[str],
) -> Iterator[Reason]:
    """Tests that its own run skips, or lets fail as expected, and that passed on the base or fail
    once they are put back, where reading the patch has shown no skip that is a gate by itself."""
    if any(finding.kind in _SKIPPING and finding.weight == "gate" for finding in findings):
        return
    alone = mine.tests_alone
    before = {result.check.name: result.tests for result in baseline}
    suspected = any(finding.kind in _SKIPPING for finding in findings)
    for result in mine.lane.checks:
        base, changed = before.get(result.check.name), result.comparison
        skipped = changed.skipped if changed else ()
        names = [name for name in skipped if name in alone.fails]
        if names and not suspected:
            key = "it" if len(names) == 1 else "they"
            skips = f"skips, or expects to fail, {quoted_names(names)} in {result.check.name}"
            text = f"{skips}; run as on the base, {key} {fail(names)}"
            yield _gate(text, file=alone.trial.result.details if alone.trial else "")
        passed = [
            name
            for name in skipped
            if base is not None and base.by_id.get(name) == "passed"
            if name not in outdated and name not in alone.fails
        ]
        if passed and not result.held_back:
            text = f"skips, or expects to fail, {plural(passed, 'test')} that passed on the base: "
            yield _gate(f"{text}{quoted_names(passed)}", file=result.details)


def _lost(
    mine: LaneResults, findings: Sequence[Finding], baseline: Sequence[CheckResult]
) -> Iterator[Reason]:
    """Tests that passed on the base and lay in files that are deleted, or in code that has fewer
    now, and any that fail once they are put back: seen in the run, where reading the patch has
    shown none (a class that inherits them is deleted; examples may be in no run; a macro or a table
    makes them; settings or a class's `__init__` leave them out)."""
    if any(finding.kind == DELETED and finding.weight == "gate" for finding in findings):
        return
    files = mine.lane.files
    deleted = [file.path for file in files if not exists(file) and holds_tests(file)]
    modules = {PurePosixPath(path).stem for path in deleted}
    inline = [
        (PurePosixPath(path).stem, name) for path, names in gone(files).items() for name in names
    ]
    before = {result.check.name: result.tests for result in baseline}
    skips = any(finding.kind in _SKIPPING and finding.weight == "gate" for finding in findings)
    for result in mine.lane.checks:
        base, now, changed = before.get(result.check.name), result.tests, result.comparison
        if base is None or now is None or changed is None:
            continue
        passed = [name for name in changed.vanished if base.by_id.get(name) == "passed"]
        fewer = now.total < base.total
        news = {_own_name(name) for name in now.by_id.keys() - base.by_id.keys()}
        left_out = not (result.held_back or skips)
        names = [
            name
            for name in passed
            if (fewer and _lies_in(name, modules))
            or _is_of(name, inline)
            or (left_out and _own_name(name) not in news and _is_in_place(name, files))
        ]
        if names:
            no_longer = f"passed on the base no longer run{'s' * (len(names) == 1)}"
            text = f"{plural(names, 'test')} that {no_longer}: {quoted_names(names)}"
            yield _gate(text, file=result.details)
        failed = [name for name in changed.vanished if fewer and mine.tests_alone.fails.get(name)]
        if failed and not any(finding.weight == "gate" for finding in findings):
            goes = f"no longer run{'s' * (len(failed) == 1)}, and {fail(failed)} once put back"
            text = f"{plural(failed, 'failing test')} {goes}: {quoted_names(failed)}"
            yield _gate(text, file=result.details)


def _own_name(name: str) -> str:
    return re.split(r"::|[.#/]| > ", name.partition("[")[0])[-1]


def _is_in_place(name: str, files: Sequence[FileChange]) -> bool:
    """Whether a test of pytest that a run no longer names is where it was."""
    path, _, inside = name.partition("::")
    if "[" in name or not inside or not path.endswith(".py"):
        return False
    head = re.compile(rf"^[ \t]*(?:async )?def {re.escape(_own_name(name))}\(", re.M)
    texts = [text for file in files if file.path == path for text in (file.old, file.new)]
    return all(text is not None and head.search(text) for text in texts)


def _lies_in(name: str, modules: Collection[str]) -> bool:
    return not {*re.split(r"[./:]+", name)}.isdisjoint(modules)


def _is_of(name: str, inline: Sequence[tuple[str, str]]) -> bool:
    """Whether a test's name has a file and what a test in its code is of; where that is the file
    itself, its name alone."""
    parts = {*re.findall(r"\w+", name)}
    return any({file, of or file} <= parts for file, of in inline)


def _silent(mine: LaneResults, baseline: Sequence[CheckResult]) -> Iterator[Reason]:
    """Checks that pass and name no test where the base's did, unless the base's own pass on it."""
    before = {result.check.name: result for result in baseline}
    if mine.whole.trial is not None and mine.whole.clean:
        return
    for result in mine.lane.checks:
        base = before.get(result.check.name)
        if result.check.kind != "test" or base is None or base.tests is None:
            continue
        if result.status is CheckStatus.PASSED and result.tests is None and base.tests.passed:
            text = f"{result.check.name} passes and names no test; on the base {base.says}"
            yield _gate(text, file=result.details or result.output)


def _bent(mine: LaneResults, trials: Sequence[Trial]) -> Iterator[Reason]:
    """Tests that must fail, and do not with its code."""
    for trial in trials:
        if trial.kind == "canary" and trial.on == mine.lane.lane and trial.passes:
            text = f"makes {trial.result.check.name} pass tests that cannot pass: its code changes "
            yield _gate(f"{text}what runs them", file=trial.result.details)


def tests_of(finding: Finding, back: PutBack) -> list[str]:
    """The tests that fail so and that the finding is about; all where it names none."""
    if not finding.tests:
        return list(back.fails)
    ran: _Ran = defaultdict(list)
    for name in (*back.fails, *back.ends):
        for parts in {_parts(name), _parts(_CASE.sub("", name))}:
            ran[parts[-1]].append((name, parts))
    about = {name for test in finding.tests for name in _named(test, finding.path, ran, back)}
    return [name for name in back.fails if name in about]


def is_about(finding: Finding, test: str) -> bool:
    """Whether a finding names a test, as the code does, that a run calls so."""
    parts = _parts(_CASE.sub("", test))
    return any(_ends_alike(_parts(name), parts) for name in finding.tests)


def suspected(mine: LaneResults, findings: Iterable[Finding]) -> frozenset[str]:
    """The tests of which a patch's text shows that they ask something else, and that fail by the
    base's version."""
    suspects = (finding for finding in findings if finding.weight == "suspect")
    return frozenset(test for finding in suspects for test in tests_of(finding, mine.tests_alone))


_Ran = defaultdict[str, list[tuple[str, Sequence[str]]]]
"""Tests and the parts of their names, by the last of these."""


def _named(test: str, path: str, ran: _Ran, back: PutBack) -> Sequence[str]:
    """The tests of a run that fit best what the code calls so: in its file and its class, in its
    class, by its own name; where none is called so, those whose names hold it whole (a case of it,
    or a title after its group's)."""
    own = _parts(test)
    alike = ran.get(own[-1], [])
    for place in ((*_parts(path), *own), own):
        if fitting := [name for name, parts in alike if _ends_alike(parts, place)]:
            return fitting
    name = test.rpartition(" > ")[2] if " " in test else own[-1]
    whole = _whole(name, is_file=own[-1] in _parts(path))
    return [name for name, _ in alike] or [name for name in back.fails if whole.search(name)]


@lru_cache(maxsize=4096)
def _whole(name: str, *, is_file: bool) -> re.Pattern[str]:
    """`name` in another, as a whole: `test_up()`, `test_up with data set #0`; `TestUp/case`, unless
    it `is_file` that is called so."""
    after = r"$|[^\w\s.:/]| [\[({#]| with data set "
    below = "" if is_file else r"|[.:/]| > "
    return re.compile(rf"(?:^|[.:#/\s]){re.escape(name)}(?:{after}{below})")


def _ends_alike(names: Sequence[str], others: Sequence[str]) -> bool:
    """Whether one is the end of the other: what runs a test may leave out where it lies."""
    least = min(len(names), len(others))
    return names[-least:] == others[-least:]


@lru_cache(maxsize=65536)
def _parts(name: str) -> tuple[str, ...]:
    """The folders, the file, the classes of a test, and its own name."""
    parts = re.split(r"[.:#/]+| > ", _SUFFIX.sub("", name))
    return tuple(part for part in parts if part) or (name,)


_CASE = re.compile(r"(?<=.)(?:\[| \().*", re.DOTALL)
"""Which case of a test it is: `test_up[3-2]`, `test_up (n=3)`."""
_SUFFIX = re.compile(r"\.(?:py|[cm]?[jt]sx?)(?=::| > |$)")
"""Of a file in a test's name."""


def _gate_text(back: PutBack, fails: Sequence[str], stopped: Sequence[str]) -> str:
    if stopped and not fails:
        return f"with the base's version: {'; '.join(stopped)}"
    failed_before = [name for name in fails if back.fails.get(name)]
    if failed_before:
        return "the base's version still fails with it"
    return f"the base's version fails with it: {quoted_names(fails)}"


def _gate(text: str, *, file: str = "", path: str = "", line: int | None = None) -> Reason:
    return Reason(kind="gate", text=text, file=file, path=path, line=line)


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Whether one of these names `path`, or a folder that it lies in, as in a .gitignore."""
    return any(compiled(pattern).fullmatch(path) for pattern in patterns)

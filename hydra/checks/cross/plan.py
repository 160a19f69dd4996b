"""Which trials there are to be made, the ones that say most first. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import zip_longest
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hydra.analysis.equivalence.groups import same
from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.bending import may_bend, runs_tests_in
from hydra.analysis.tampering.inline_tests import inline_brought
from hydra.analysis.tampering.restore import settings_changed, to_restore
from hydra.analysis.tampering.suite import tests_brought, tests_changed
from hydra.checks.cross.record import TrialSubject
from hydra.checks.cross.trial import NotTried
from hydra.checks.record import CheckResult, CheckStatus
from hydra.records.request import Check

_RAN = (CheckStatus.PASSED, CheckStatus.FAILED, CheckStatus.NO_TESTS)


class TrialJob(Struct, frozen=True, kw_only=True):
    """One check on one tree that is still to be made.

    `on` is whose patch, "" for the base; lanes that left the same tree are one, named by the
    first. A `canary` adds tests that must fail to one of the base's files in `language`. `tests`
    are the files of tests to put back (a new one: to leave out) or to bring, `settings` what
    configures them and is put back too.
    """

    kind: Literal["protected", "cross", "canary"]
    on: str
    check: Check
    author: str = ""
    language: str = ""
    tests: tuple[FileChange, ...] = ()
    settings: tuple[FileChange, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """What no other job of a round has."""
        return self.folder, self.check.name

    @property
    def paths(self) -> tuple[str, ...]:
        """What is put back, or brought."""
        return tuple(file.path for file in (*self.tests, *self.settings))

    @property
    def folder(self) -> str:
        """Where its results lie, from the round's folder."""
        if self.kind == "cross":
            return f"trials/cross/{self.author}/{self.on or '_base'}"
        if self.kind == "canary":
            return f"trials/canary/{self.language}/{self.on or '_base'}"
        return f"trials/protected/{self.on}"


class Plan(Struct, frozen=True, kw_only=True):
    """All jobs, and what cannot be tried at all. `same` has, by each lane that stands for others,
    all lanes of its tree."""

    subjects: Mapping[str, TrialSubject]
    same: Mapping[str, tuple[str, ...]]
    protected: tuple[TrialJob, ...] = ()
    canaries: tuple[TrialJob, ...] = ()
    on_base: tuple[TrialJob, ...] = ()
    cross: tuple[TrialJob, ...] = ()
    not_tried: tuple[NotTried, ...] = ()


def plan(subjects: Sequence[TrialSubject], checks: Sequence[Check]) -> Plan:
    """What is to be tried with these lanes, each of which changed something.

    Nothing in the order follows from names: lanes are taken by what their patches hold.
    """
    first: dict[str, TrialSubject] = {}
    same: dict[str, list[str]] = {}
    for subject in subjects:
        same.setdefault(first.setdefault(subject.tree, subject).lane, []).append(subject.lane)
    ordered = sorted(first.values(), key=lambda subject: _mixed(subject.tree))
    cut: list[NotTried] = []
    protected = [job for subject in ordered for job in _protected(subject, checks, cut)]
    # Where the lane's own run is held back anyway, putting the tests back decides less.
    values = {
        subject.lane: any(result.held_back for result in subject.results) for subject in ordered
    }
    protected.sort(key=lambda job: values[job.on])
    # A patch alone has its new tests run on the base where nothing else tells it from the base.
    # So has one that changes tests: what it asks now may be no more than the base does.
    alone = len(ordered) == 1
    authors = [
        subject
        for subject in ordered
        if not (alone and mends(subject)) or tests_changed(subject.files)
    ]
    on_base = {author.lane: tuple(_on_base(author, cut)) for author in authors}
    return Plan(
        subjects={subject.lane: subject for subject in ordered},
        same={lane: tuple(lanes) for lane, lanes in same.items()},
        protected=tuple(protected),
        canaries=tuple(job for subject in ordered for job in _canaries(subject, checks)),
        on_base=tuple(job for jobs in on_base.values() for job in jobs),
        cross=tuple(
            _in_turns([_cross(author, on_base[author.lane], ordered, checks) for author in authors])
        ),
        not_tried=tuple(cut),
    )


def _protected(
    subject: TrialSubject, checks: Sequence[Check], cut: list[NotTried]
) -> Iterator[TrialJob]:
    restore = to_restore(subject.files, checks)
    for result in _tests(subject) if restore.tests or restore.settings else ():
        if result.status in _RAN:
            yield TrialJob(
                kind="protected",
                on=subject.lane,
                check=result.check,
                tests=restore.tests,
                settings=restore.settings,
            )
        else:
            why = f"{result.check.name} did not run to its end on the patch itself"
            cut.append(NotTried(kind="protected", on=subject.lane, why=why))


def _canaries(subject: TrialSubject, checks: Sequence[Check]) -> Iterator[TrialJob]:
    """Where its code may change what runs the tests: tests that must fail, under the base's
    settings, so that they are run where they are on the base."""
    settings = settings_changed(subject.files, checks)
    for language in may_bend(subject.files):
        for result in _tests(subject):
            runs = runs_tests_in(language, result.check.command)
            if runs and result.passed and not result.held_back:
                yield TrialJob(
                    kind="canary",
                    on=subject.lane,
                    check=result.check,
                    language=language,
                    settings=settings,
                )


def _on_base(author: TrialSubject, cut: list[NotTried]) -> Iterator[TrialJob]:
    """The author's new and changed tests on the base: by these is known which of its checks can
    be crossed."""
    inline = {file.path for file in inline_brought(author.files)}
    brought = _files(author, {*tests_brought(author.files), *inline})
    files = tuple(file for file in brought if file.path in inline or not _is_form(file))
    changed = any(file.old_mode for file in files if file.path not in inline)
    reasons: list[str] = []
    for result in _tests(author) if files else ():
        ids = new_ids(result)
        if any(ids.values()) or (changed and _names_tests(result)):
            yield TrialJob(kind="cross", on="", author=author.lane, check=result.check, tests=files)
        elif result.status in _RAN:
            reasons.append(_why_not(result, ids))
    if reasons:
        cut.append(NotTried(kind="cross", on="", author=author.lane, why=reasons[0]))


def _is_form(file: FileChange) -> bool:
    """Whether of a file that was there nothing but its form is changed."""
    return file.old is not None and file.new is not None and same(file.path, file.old, file.new)


def _files(subject: TrialSubject, paths: Collection[str]) -> tuple[FileChange, ...]:
    return tuple(file for file in subject.files if file.path in paths)


def _cross(
    author: TrialSubject,
    on_base: Sequence[TrialJob],
    all: Sequence[TrialSubject],
    checks: Sequence[Check],
) -> list[TrialJob]:
    """The author's tests on each other patch, under the base's settings: a lane that makes every
    test pass by its conftest.py passes none of another's for it."""
    others = sorted(
        (subject for subject in all if subject is not author),
        key=lambda subject: _mixed(author.tree, subject.tree),
    )
    return [
        replace(job, on=other.lane, settings=settings_changed(other.files, checks))
        for other in others
        for job in on_base
    ]


def _in_turns(jobs: Sequence[Sequence[TrialJob]]) -> Iterator[TrialJob]:
    """One of each author's, then the next of each: what a cap cuts off, it cuts off all alike."""
    for turn in zip_longest(*jobs):
        yield from (job for job in turn if job is not None)


def mends(subject: TrialSubject) -> bool:
    """Whether a test that failed on the base passes with it."""
    return any(result.comparison and result.comparison.fixed for result in subject.results)


def _tests(subject: TrialSubject) -> list[CheckResult]:
    return [result for result in subject.results if result.check.kind == "test"]


def new_ids(result: CheckResult) -> dict[str, bool]:
    """The tests that a check names on a patch and not on the base, and whether each passes."""
    comparison = result.comparison
    if comparison is None or result.tests is None:
        return {}
    names = result.tests.by_id
    return {
        name: names[name] == "passed"
        for name in (*comparison.new, *comparison.new_failing)
        if names.get(name) in ("passed", "failed")
    }


def _names_tests(result: CheckResult) -> bool:
    """Whether a test of the base could be seen to fail by the author's version of it."""
    return result.status in _RAN and result.comparison is not None


_VERBOSE = "vitest run --reporter=verbose, jest --verbose, go test -v"


def _why_not(result: CheckResult, ids: Mapping[str, bool]) -> str:
    """Why an author's new tests cannot be crossed by this check."""
    name = result.check.name
    if ids:
        return "none of its new tests passes on its own patch"
    if result.tests is None:
        return f"{name} does not name its tests"
    if result.tests.unnamed:
        return f"{name} does not name every test; verbose, its tool does ({_VERBOSE})"
    if result.comparison is None:
        return f"{name} names no tests on the base, so none is known to be new"
    return f"{name} names no new test{' that is steady' * bool(result.comparison.flaky)}"


def _mixed(*trees: str) -> str:
    return sha256(" ".join(trees).encode()).hexdigest()

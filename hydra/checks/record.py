"""What became of one check, and the form in which it is recorded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from itertools import islice
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import asdict, force_setattr

from hydra.checks import lack
from hydra.checks.results import Comparison, ResultCounts, Status, TestCase, Tests
from hydra.records.codec import DiskName, as_json, shaped
from hydra.records.request import Check

_NETWORKS = {"private": "a network of its own", "host": "this machine's network"}

NAMED = 100
"""Ids of tests that one list in a document names; the check's own file has them all."""

UNCOLLECTED = "no test ran: pytest could not load them"
"""The remark of a result that says nothing of any test by that."""


INTERNAL = "pytest itself failed before the end of its tests"
"""The remark of a result that says nothing of those that had not run."""

UNSEEN = "its tests end alike with all code of the base broken: they test none of it"
"""How the remark begins of a result on the base that tests something in place of the code."""


def file_of(check: Check) -> str:
    """A check's name as a file's, which no other check has: `packages/api: pytest` has a folder in
    it and becomes `packages-api-pytest-` with a digest of the name."""
    plain = re.sub(r"[^a-z0-9-]+", "-", check.name.lower())
    if plain == check.name:
        return plain
    from hashlib import sha256  # most names are plain

    return f"{plain}-{sha256(check.name.encode()).hexdigest()[:8]}"


class CheckStatus(StrEnum):
    """How one check ended. Only `failed` says that the check itself found something wrong."""

    PASSED = "passed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    PROGRAM_MISSING = "program_missing"
    SETUP_FAILED = "setup_failed"
    NO_TESTS = "no_tests"
    NOT_RUN = "not_run"
    INTERRUPTED = "interrupted"


class CheckResult(Struct, frozen=True, kw_only=True):
    """One check on one commit.

    `reason` says in a sentence why it did not run to its end. `exit_code` is None where it did
    not end by itself, -N after signal N. `output` and `details` are files, from the run's folder;
    `dropped` are the bytes of output that were over the limit. `tree` is `clean`, or `lane` where
    it ran in the lane's own tree; `network` is `private`, its own, or `host`, the machine's;
    `ground` is one word for all else that it ran under: set-up, copies, packages, variables.
    `again` is the second run of one that failed, or that passed where that may be luck.
    `held_back` says why it keeps its patch from being usable, "" where it does not. `telling` are
    the lines of its output that say most of why it did not pass, at most two; `missing` is what it
    misses of the checkout, with what brings that.
    `unreached` is what it could not reach, or its tests were skipped for.
    """

    check: Check
    status: CheckStatus
    reason: str = ""
    exit_code: int | None = None
    seconds: float = 0.0
    output: str = ""
    details: str = ""
    dropped: int = 0
    network: str = "host"
    ground: str = ""
    tests: Tests | None = None
    survivors: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    again: CheckResult | None = None
    comparison: Comparison | None = None
    held_back: str = ""
    telling: tuple[str, ...] = ()
    missing: tuple[lack.Lack, ...] = ()
    unreached: tuple[str, ...] = ()
    untested: str = ""
    """Why what it came to says nothing of the patch, as a sentence; "" where it does."""

    @property
    def passed(self) -> bool:
        """Whether it exited with 0, having found something to test."""
        return self.status is CheckStatus.PASSED

    @property
    def unsteady(self) -> bool:
        """Whether it failed once and passed once, with the same code."""
        ends = {self.status, self.again.status} if self.again is not None else set()
        return ends == {CheckStatus.PASSED, CheckStatus.FAILED}

    def differs(self, other: CheckResult) -> str:
        """Why the two are no measure of each other, as a clause; "" where they are."""
        if self.network != other.network:
            mine, theirs = _NETWORKS[self.network], _NETWORKS[other.network]
            return f"it had {mine}, and the base {theirs}"
        if self.ground != other.ground:
            return "the base's run had another set-up, other copies, packages or variables"
        return ""

    @property
    def exit_text(self) -> str:
        """How it ended by itself: "exit 2", "signal 9"."""
        code = self.exit_code or 0
        return f"signal {-code}" if code < 0 else f"exit {code}"

    @property
    def says(self) -> str:
        """Its result in two or three words, as a table's cell has it."""
        return _says(self)


def _says(result: CheckResult) -> str:
    if result.status not in (CheckStatus.PASSED, CheckStatus.FAILED):
        values = {CheckStatus.NO_TESTS: "no tests found", CheckStatus.SETUP_FAILED: "set-up failed"}
        return values.get(result.status, result.status.value.replace("_", " "))
    changed = result.comparison
    if result.status is CheckStatus.FAILED:
        if changed is not None and changed.broken:
            return f"{len(changed.broken)} broken"
        if result.again is not None and result.again.passed:
            return "flaky"
    if UNCOLLECTED in result.remarks:
        return "no test ran"  # pytest counts a module that cannot be imported as one failure
    if result.tests is None or not result.tests.total:
        return "flaky" if result.unsteady else result.status.value
    if result.tests.failed:
        return f"{result.tests.passed} passed, {result.tests.failed} failed"
    if result.status is CheckStatus.FAILED:
        ends = f"failed ({result.exit_text})"
        return f"{result.tests.passed} passed, {ends}" if result.tests.passed else ends
    return f"{result.tests.passed} passed"


class TestCounts(Struct, frozen=True, kw_only=True):
    """The tests of a check, counted; `failing` names the first of those that fail."""

    __test__ = False

    source: str = ""
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    unserved: int = 0
    failing: tuple[str, ...] = ()


class ChangedTests(Struct, frozen=True, kw_only=True):
    """A `Comparison` that names the first of each kind, and counts all."""

    counts: Mapping[str, int] = {}
    fixed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    still_failing: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    new_failing: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @classmethod
    def of(cls, comparison: Comparison) -> ChangedTests:
        """With lists that are cut."""
        ids = {name: getattr(comparison, name) for name in cls.__struct_fields__[1:]}
        counts = {name: len(all_of_them) for name, all_of_them in ids.items()}
        return cls(counts=counts, **{name: ids[name][:NAMED] for name in ids})


class CheckDocument(Struct, frozen=True, kw_only=True):
    """A `CheckResult` as every document has it (docs/reference/json.md); lists of ids are cut."""

    check: str
    kind: str = "test"
    required: bool = True
    command: str = ""
    status: CheckStatus
    says: str = ""
    reason: str = ""
    exit_code: int | None = None
    seconds: float = 0.0
    tree: str = "clean"
    network: str = "host"
    ground: str = ""
    output: DiskName | None = None
    output_dropped: int = 0
    details: DiskName | None = None
    tests: TestCounts | None = None
    comparison: ChangedTests | None = None
    survivors: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    telling: tuple[str, ...] = ()
    missing: tuple[lack.Lack, ...] = ()
    unreached: tuple[str, ...] = ()
    held_back: str = ""
    untested: str = ""
    again: CheckDocument | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "seconds", round(self.seconds, 3))

    @classmethod
    def of(cls, result: CheckResult) -> CheckDocument:
        """As it came to be; its `says` is worked out by now."""
        same = {name: getattr(result, name) for name in _SAME}
        tests = result.tests
        return cls(
            check=result.check.name,
            kind=result.check.kind,
            required=result.check.required,
            command=result.check.command,
            output=result.output or None,
            output_dropped=result.dropped,
            details=result.details or None,
            tests=None if tests is None else _counts(tests),
            comparison=None if result.comparison is None else ChangedTests.of(result.comparison),
            again=None if result.again is None else cls.of(result.again),
            **same,
        )

    def result(self) -> CheckResult:
        """Back, without its comparison, its second run and its tests by name."""
        same = {name: getattr(self, name) for name in _SAME if name != "says"}
        return CheckResult(
            check=Check(self.check, self.command, self.kind, self.required),
            output=self.output or "",
            dropped=self.output_dropped,
            details=self.details or "",
            tests=self._tests(),
            **{**same, "held_back": ""},
        )

    def _tests(self) -> Tests | None:
        counts = self.tests
        if counts is None:
            return None
        numbers = ResultCounts(counts.passed, counts.failed, counts.skipped)
        return Tests(source=counts.source, cases=(), counts=numbers)


_SAME = tuple(
    name
    for name in CheckDocument.__struct_fields__
    if name in ("says", *CheckResult.__struct_fields__)
    and name not in ("check", "output", "details", "tests", "comparison", "again")
)


class CheckFile(CheckDocument, frozen=True, kw_only=True):
    """A check's own file: its document, and every test."""

    schema: int = 1
    cases: tuple[TestCase, ...] = ()
    unnamed: tuple[Status, ...] = ()
    unserved: tuple[str, ...] = ()
    files: Mapping[str, ResultCounts] = {}

    def _tests(self) -> Tests | None:
        counted = super()._tests()
        return counted and replace(
            counted,
            cases=self.cases,
            unnamed=frozenset(self.unnamed),
            unserved=self.unserved,
            files=self.files,
        )


def _counts(tests: Tests) -> TestCounts:
    failing = (case.id for case in tests.cases if case.status == "failed")
    return TestCounts(
        source=tests.source,
        passed=tests.passed,
        failed=tests.failed,
        skipped=tests.skipped,
        unserved=len(tests.unserved),
        failing=tuple(islice(failing, NAMED)),
    )


def document(result: CheckResult) -> dict[str, object]:
    """JSON-ready; every field is there, what is unknown is null, and lists of ids are cut."""
    data: dict[str, object] = as_json(CheckDocument.of(result))
    return data


def details(result: CheckResult) -> dict[str, object]:
    """The same with every test: what a check's own file holds."""
    tests = result.tests or Tests(source="", cases=())
    data: dict[str, object] = to_builtins(
        CheckFile(
            **asdict(CheckDocument.of(result)),
            cases=tests.cases,
            unnamed=tuple(sorted(tests.unnamed)),
            unserved=tests.unserved,
            files=tests.files,
        )
    )
    return data


def read(data: Mapping[str, Any]) -> CheckResult:
    """A check's own file read back, without its comparison and its second run. Raises `ValueError`
    for what `details` did not write."""
    return shaped(data, CheckFile).result()

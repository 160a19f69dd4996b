"""What became of one check, and the form in which it is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from hydra.checks import lack
from hydra.checks.results import Comparison, ResultCounts, TestCase, Tests
from hydra.records.codec import as_json, shaped
from hydra.records.request import Check

_NETWORKS = {"private": "a network of its own", "host": "this machine's network"}

NAMED = 100
"""Ids of tests that one list in a document names; the check's own file has them all."""

_CHANGES = tuple(name for name in Comparison.__struct_fields__ if name != "breaks_nothing")


UNCOLLECTED = "no test ran: pytest could not load them"
"""The remark of a result that says nothing of any test by that."""


INTERNAL = "pytest itself failed before the end of its tests"
"""The remark of a result that says nothing of those that had not run."""


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
        return f"failed ({result.exit_text})"
    return f"{result.tests.passed} passed"


def document(result: CheckResult) -> dict[str, object]:
    """JSON-ready; every field is there, what is unknown is null, and lists of ids are cut."""
    return {
        "check": result.check.name,
        "kind": result.check.kind,
        "required": result.check.required,
        "command": result.check.command,
        "status": result.status.value,
        "says": result.says,
        "reason": result.reason,
        "exit_code": result.exit_code,
        "seconds": round(result.seconds, 3),
        "tree": "clean",
        "network": result.network,
        "ground": result.ground,
        "output": result.output or None,
        "output_dropped": result.dropped,
        "details": result.details or None,
        "tests": None if result.tests is None else _tests(result.tests),
        "comparison": None if result.comparison is None else _comparison(result.comparison),
        "survivors": list(result.survivors),
        "remarks": list(result.remarks),
        "telling": list(result.telling),
        "missing": as_json(result.missing),
        "unreached": list(result.unreached),
        "held_back": result.held_back,
        "untested": result.untested,
        "again": None if result.again is None else document(result.again),
    }


def details(result: CheckResult) -> dict[str, object]:
    """The same with every test: what a check's own file holds."""
    cases = result.tests.cases if result.tests else ()
    return {
        "schema": 1,
        "kind": "check",
        **document(result),
        "cases": [[case.id, case.status] for case in cases],
        "unnamed": sorted(result.tests.unnamed) if result.tests else [],
        "unserved": list(result.tests.unserved) if result.tests else [],
    }


def _tests(tests: Tests) -> dict[str, object]:
    failing = [case.id for case in tests.cases if case.status == "failed"]
    return {
        "source": tests.source,
        "passed": tests.passed,
        "failed": tests.failed,
        "skipped": tests.skipped,
        "unserved": len(tests.unserved),
        "failing": failing[:NAMED],
    }


def _comparison(comparison: Comparison) -> dict[str, object]:
    named = {change: getattr(comparison, change) for change in _CHANGES}
    return {
        "counts": {change: len(ids) for change, ids in named.items()},
        **{change: list(ids[:NAMED]) for change, ids in named.items()},
    }


def read(data: Mapping[str, Any]) -> CheckResult:
    """A check's own file read back, without its comparison and its second run.

    Raises `KeyError`, `TypeError` or `ValueError` for what `details` did not write.
    """
    return CheckResult(
        check=Check(data["check"], data["command"], data["kind"], bool(data["required"])),
        status=CheckStatus(data["status"]),
        reason=str(data["reason"]),
        exit_code=data["exit_code"],
        seconds=float(data["seconds"]),
        network=str(data.get("network", "host")),
        ground=str(data.get("ground", "")),
        output=str(data["output"] or ""),
        details=str(data["details"] or ""),
        dropped=int(data["output_dropped"]),
        tests=None if data["tests"] is None else _read_tests(data),
        survivors=tuple(map(str, data["survivors"])),
        remarks=tuple(map(str, data["remarks"])),
        untested=str(data.get("untested", "")),
        telling=tuple(map(str, data.get("telling", ()))),
        missing=shaped(data.get("missing", []), tuple[lack.Lack, ...]),
        unreached=tuple(map(str, data.get("unreached", ()))),
    )


def _read_tests(data: Mapping[str, Any]) -> Tests:
    record = data["tests"]
    return Tests(
        source=str(record["source"]),
        cases=tuple(TestCase(str(id), status) for id, status in data["cases"]),
        counts=ResultCounts(int(record["passed"]), int(record["failed"]), int(record["skipped"])),
        unnamed=frozenset(data["unnamed"]),
        unserved=tuple(map(str, data.get("unserved", ()))),
    )

"""Evidence made by hand: lanes with files and checks, judged as a run's are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from hydra.analysis.patch import FileChange
from hydra.checks.cross.trial import Trial
from hydra.checks.record import CheckResult, CheckStatus
from hydra.checks.regressions import compare_to_baseline
from hydra.checks.results import TestCase, Tests
from hydra.ranking.evidence import Evidence, LaneEvidence
from hydra.records.outcome import Patch
from hydra.records.request import Check

PYTEST = Check("pytest", "pytest -q", "test")


def result(
    ends: Mapping[str, bool],
    check: Check = PYTEST,
    *,
    status: CheckStatus | None = None,
    name: str = "",
) -> CheckResult:
    """A check that named these tests; True is passed."""
    cases = tuple(TestCase(id, "passed" if good else "failed") for id, good in ends.items())
    good = all(ends.values())
    return CheckResult(
        check=check,
        status=status or (CheckStatus.PASSED if good else CheckStatus.FAILED),
        reason="" if good else "it exited with 1",
        exit_code=0 if good else 1,
        tests=Tests("junit", cases),
        details=f"checks/1/{name or 'x'}/{check.name}.json",
    )


def plain(good: bool, check: Check, *, name: str = "") -> CheckResult:
    """A check without tests: a build, a lint."""
    check_result = result(
        {}, check, status=CheckStatus.PASSED if good else CheckStatus.FAILED, name=name
    )
    return replace(
        check_result, tests=None, exit_code=int(not good), reason="" if good else "it exited with 1"
    )


def file(
    path: str = "a.py", old: str | None = "x = 1\n", new: str | None = "x = 2\n"
) -> FileChange:
    """One changed text file; its lines are counted plainly."""
    return FileChange(
        path=path,
        old_mode="" if old is None else "100644",
        new_mode="" if new is None else "100644",
        old_oid="" if old is None else f"{hash(old):x}",
        new_oid="" if new is None else f"{hash(new):x}",
        insertions=len((new or "").splitlines()),
        deletions=len((old or "").splitlines()),
        old=old,
        new=new,
    )


def lane(
    name: str,
    *checks: CheckResult,
    files: Sequence[FileChange] | None = None,
    base: Sequence[CheckResult] = (),
    seconds: float = 60.0,
    tree: str = "",
    ended: str = "",
) -> LaneEvidence:
    """A lane that left a patch, its checks held against `base`."""
    results = {check_result.check.name: check_result for check_result in base}
    changed = (file(new=f"x = {len(name)}\n"),) if files is None else tuple(files)
    return LaneEvidence(
        lane=name,
        adapter="claude",
        patch=Patch(commit="c" * 40, base="b" * 40, files=len(changed)),
        tree=tree or name,
        files=changed,
        checks=tuple(compare_to_baseline(check, results.get(check.check.name)) for check in checks),
        seconds=seconds,
        ended=ended,
        status="failed" if ended else "completed",
    )


def cross(author: str, on: str, ends: Mapping[str, bool], base: CheckResult) -> Trial:
    """The new tests of `author` as they ended on `on` ("" is the base)."""
    ran = result(ends, name=f"trials/{author}-on-{on or '_base'}")
    return Trial(kind="cross", on=on, author=author, result=compare_to_baseline(ran, base))


def evidence(lanes: Sequence[LaneEvidence], base: Sequence[CheckResult], **more: Any) -> Evidence:
    """All of one run."""
    facts = Evidence(run="r", base="b" * 40, lanes=tuple(lanes), baseline=tuple(base))
    return replace(facts, **more)

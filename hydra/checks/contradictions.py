"""Lanes that left the same tree, and checks that came to different ends on it: proof of neither."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from hydra.checks.record import CheckResult, CheckStatus
from hydra.text import join_names

NAMED = 3
"""Tests that a sentence names."""


def contradicted(
    lane: str, others: Iterable[str], results: Mapping[str, Sequence[CheckResult]]
) -> list[CheckResult]:
    """The lane's results, each with what another's with the same tree says against it."""
    against = [(other, result) for other in others for result in results.get(other, ())]
    return [_with_others(lane, result, against) for result in results.get(lane, ())]


def _with_others(
    lane: str, mine: CheckResult, against: Sequence[tuple[str, CheckResult]]
) -> CheckResult:
    for other, theirs in against:
        if theirs.check.name != mine.check.name or mine.differs(theirs):
            continue
        if not _differ(mine, theirs):
            continue
        lanes = " and ".join(sorted((lane, other)))
        names = _both_ways(mine, theirs)
        which = f"{join_names(names, NAMED)} of " if names else ""
        remark = f"{which}{mine.check.name} passes and fails with the same code ({lanes})"
        if names:  # each of them is flaky; the others count
            return replace(mine, again=theirs, remarks=(*mine.remarks, remark))
        return replace(mine, untested=remark.removeprefix(f"{mine.check.name} "))
    return mine


def _differ(mine: CheckResult, theirs: CheckResult) -> bool:
    ends = {_end(mine), _end(theirs)}
    return ends == {CheckStatus.PASSED, CheckStatus.FAILED} or bool(_both_ways(mine, theirs))


def _end(result: CheckResult) -> CheckStatus | None:
    """None where it is flaky by itself."""
    return None if result.unsteady else result.status


def _both_ways(mine: CheckResult, theirs: CheckResult) -> list[str]:
    """Tests that pass in one run and fail in the other, and are not flaky in one of them."""
    ends = [_steady(mine), _steady(theirs)]
    return [
        name
        for name, status in ends[0].items()
        if {status, ends[1].get(name)} == {"passed", "failed"}
    ]


def _steady(result: CheckResult) -> dict[str, str]:
    named = dict(result.tests.by_id) if result.tests is not None else {}
    again = result.again.tests.by_id if result.again and result.again.tests else named
    return {name: status for name, status in named.items() if again.get(name, status) == status}

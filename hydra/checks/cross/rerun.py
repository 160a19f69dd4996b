"""What a trial's result leaves open: whether it is worth another run. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from hydra.analysis.equivalence.groups import groups
from hydra.analysis.patch import FileChange
from hydra.checks.comparison import changed_ids, compare, end_of, mended_ids, unloaded
from hydra.checks.cross.plan import new_ids
from hydra.checks.cross.record import TrialSubject
from hydra.checks.record import CheckResult, CheckStatus


def worse(now: CheckResult, own: CheckResult | None) -> bool:
    """Whether a patch does worse by the base's tests (`now`) than by its own version of them."""
    if now.status is CheckStatus.PASSED or (now.again is not None and now.again.passed):
        return bool(_gone(now, own))
    if now.status is not CheckStatus.FAILED or now.comparison is None:
        return own is None or own.passed
    names = own.tests.by_id if own is not None and own.tests else {}
    changed = now.comparison
    failing = (*changed.broken, *changed.still_failing, *changed.new_failing)
    return any(names.get(name) != "failed" for name in failing) or bool(_gone(now, own))


def _gone(now: CheckResult, own: CheckResult | None) -> list[str]:
    """Tests of the base that ran by the patch's own version, and do not run so."""
    names = own.tests.by_id if own is not None and own.tests else {}
    comparison = now.comparison
    lost = (*comparison.vanished, *comparison.skipped) if comparison is not None else ()
    return [name for name in lost if names.get(name) in ("passed", "failed")]


def doubtful(
    now: CheckResult,
    own: CheckResult,
    on_base: CheckResult | None,
    brought: Collection[str],
    on: CheckResult | None = None,
) -> bool:
    """Whether an author's test fails on another patch in a way that would tell the two apart.

    One that passes on the base too says nothing, and is not worth a second look.
    """
    if now.status is not CheckStatus.FAILED:
        return False
    passing = on_base.tests.by_id if on_base is not None and on_base.tests else {}
    return any(passing.get(name) != "passed" for name in missed(now, own, on_base, brought, on))


def missed(
    now: CheckResult,
    own: CheckResult,
    on_base: CheckResult | None,
    brought: Collection[str],
    on: CheckResult | None = None,
) -> set[str]:
    """Which of an author's tests, new and changed, in the files `brought`, pass on its patch and
    fail on another: of those that it mends, the ones that pass there by the base's version of
    the tests, its run `on`."""
    mine = [name for name, passes in new_ids(own).items() if passes]
    ended = on_base.tests if on_base is not None else None
    mine += (*changed_ids(own, ended, brought), *unloaded(own, ended))
    if on is not None and on.tests is not None:
        mended = mended_ids(own, ended, brought)
        mine += (name for name in mended if end_of(on.tests, name) == "passed")
    return _failing(now, own).intersection(mine)


def tells(on_base: CheckResult | None, own: CheckResult, brought: Collection[str]) -> bool:
    """Whether any of an author's tests that passes on its own patch may tell patches apart."""
    ended = on_base.tests if on_base is not None else None
    by_id = ended.by_id if ended is not None else {}
    fresh = any(passes and by_id.get(name) != "passed" for name, passes in new_ids(own).items())
    ids = (*changed_ids(own, ended, brought), *mended_ids(own, ended, brought))
    return fresh or bool(ids or unloaded(own, ended))


def alike(subjects: Sequence[TrialSubject]) -> Mapping[str, tuple[str, ...]]:
    """By patch, "" for the base, all that are the same but for their form, itself among them."""
    patches = {subject.lane: subject.files for subject in subjects}
    base = {file.path: _unchanged(file) for subject in subjects for file in subject.files}
    bunches = groups(
        {**patches, "": tuple(base.values())}, {subject.lane: subject.tree for subject in subjects}
    )
    return {name: group.lanes for group in bunches for name in group.lanes}


def _unchanged(file: FileChange) -> FileChange:
    return replace(file, new_mode=file.old_mode, new_oid=file.old_oid, new=file.old)


def counted(now: CheckResult, own: CheckResult) -> str:
    """How many of an author's new tests pass, in words; the check's own where there are none, or
    it names none."""
    ids = new_ids(own)
    if not ids or now.tests is None or now.status not in (CheckStatus.PASSED, CheckStatus.FAILED):
        return now.says
    passing = sum(now.tests.by_id.get(name) == "passed" for name in ids)
    return f"{passing} of {len(ids)} passed"


def _failing(now: CheckResult, own: CheckResult) -> set[str]:
    """Also of a file that fails as a whole: it does not import there."""
    comparison = compare(own.tests, now.tests)
    names = now.tests.by_id if now.tests else {}
    named = {name for name, status in names.items() if status == "failed"}
    return named | set(comparison.broken if comparison else ())

"""Which tests that did not run on the base are a patch's own, and which the base has and did not
come to, for what failed before them. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.inline_tests import inline_brought, writes_tests
from hydra.analysis.tampering.test_files import moves, supports_tests
from hydra.checks.comparison import above, is_file
from hydra.checks.record import CheckResult, CheckStatus
from hydra.checks.results import Comparison


class CheckedPatch(NamedTuple):
    """What a patch changes, its checks, and those of the base that they are held against.
    `was_tried`: tests were put back in it, or its own run elsewhere, so it writes some."""

    files: Sequence[FileChange]
    results: Sequence[CheckResult]
    base: Mapping[str, CheckResult]
    was_tried: bool = False


def with_cut_off(patches: Sequence[CheckedPatch]) -> list[tuple[CheckResult, ...]]:
    """The results of each, where those tests alone are new that are so. Of a base that fails no
    test is that runs on a patch which writes none; and of one that was cut, none is whose name the
    patch has not written. Nor is one that another check has run on the base, which could not run
    this one."""
    old = {
        id
        for patch in patches
        for result in patch.base.values()
        if result.tests
        for id in result.tests.by_id
    }
    cut = {id for patch in patches for id in _cut_off(patch)}
    return [
        tuple(_judged(patch, result, cut, old) for result in patch.results) for patch in patches
    ]


def is_cut(base: CheckResult) -> bool:
    """Whether it failed by none of the tests that it names: an error in the midst of a file ended
    it, and hid those after it."""
    tests = base.tests
    return base.status is CheckStatus.FAILED and tests is not None and tests.failed == 0


def whole_and_single(comparison: Comparison) -> tuple[list[str], list[str]]:
    """What is new and fails: what holds tests and fails with them (a file that cannot be
    imported), and new tests."""
    holds = {group for id in (*comparison.broken, *comparison.still_failing) for group in above(id)}
    sides: tuple[list[str], list[str]] = ([], [])
    for id in comparison.new_failing:
        sides[id not in holds and not is_file(id)].append(id)
    return sides


def _judged(
    patch: CheckedPatch, result: CheckResult, cut: Collection[str], old: Collection[str]
) -> CheckResult:
    changed = result.comparison
    if changed is None:
        return result
    cut_off = (id for id in _did_not_run(changed) if id in cut)
    moved = {*_moved(patch.files, changed.new, old)}
    new = tuple(id for id in changed.new if id not in cut and id not in old and id not in moved)
    failing = tuple(id for id in changed.new_failing if id not in cut)
    names = tuple(dict.fromkeys((*changed.cut_off, *cut_off)))
    return replace(result, comparison=replace(changed, new=new, new_failing=failing, cut_off=names))


def _moved(files: Sequence[FileChange], new: Iterable[str], old: Collection[str]) -> Iterable[str]:
    """Tests that the base has under the old name of their file."""
    names = {now: file.path for now, file in moves(files).items()}
    names |= {_module(now): _module(was) for now, was in names.items()}
    for id in new:
        if any(id.startswith(now) and was + id[len(now) :] in old for now, was in names.items()):
            yield id


def _module(path: str) -> str:
    return path.rpartition(".")[0].replace("/", ".")


def _did_not_run(changed: Comparison) -> tuple[str, ...]:
    return (*changed.new, *whole_and_single(changed)[1])


def _cut_off(patch: CheckedPatch) -> Iterable[str]:
    """Of what runs on a patch and did not on the base, that which is not its own."""
    writes = patch.was_tried or writes_tests(patch.files)
    dropped, written = _lines_of_tests(patch.files) if writes else ("", "")
    for result in patch.results:
        base, changed = patch.base.get(result.check.name), result.comparison
        if changed is None or base is None or base.status is not CheckStatus.FAILED:
            continue
        if not writes:
            yield from _did_not_run(changed)
        elif is_cut(base):
            titles = {id: _title(id) for id in _did_not_run(changed)}
            yield from (id for id in titles if titles[id] in dropped or titles[id] not in written)


def _lines_of_tests(files: Sequence[FileChange]) -> tuple[str, str]:
    """The lines of tests that a patch has dropped, and those that it has written."""
    inline = {file.path for file in inline_brought(files)}
    of_tests = [file for file in files if supports_tests(file) or file.path in inline]
    before = {line for file in of_tests for line in (file.old or "").splitlines()}
    after = {line for file in of_tests for line in (file.new or "").splitlines()}
    return "\n".join(before - after), "\n".join(after - before)


_CASE = re.compile(r"(?<=.)\[.*| #\d+$", re.DOTALL)


def _title(id: str) -> str:
    """What a test is called where it is written: `test_up` of `tests/up.py::Up::test_up[1]`; a
    title with blanks in it stands there as it is."""
    last = _CASE.sub("", id).rpartition("::")[2].rpartition(" > ")[2]
    return last if " " in last else re.split(r"[./]", last)[-1]

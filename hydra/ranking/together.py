"""The code of one patch and the tests of another, as the picks that land both."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from hydra.analysis.made_folders import above
from hydra.analysis.patch import FileChange
from hydra.analysis.tampering.inline_tests import inline_brought, same_tests, without_tests
from hydra.analysis.tampering.suite import tests_brought
from hydra.landing.hunks import Edit, Hunk, apply
from hydra.ranking.evidence import LaneEvidence
from hydra.ranking.model import CrossTest

MOST = 6
"""Picks that a line has room for."""

_ID = 12
"""Characters of a hunk's id that a line shows."""

_NEITHER: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


def picks_of_both(
    code: LaneEvidence, tests: LaneEvidence, rows: Sequence[CrossTest]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """All of the first lane's patch, and what brings the second one's new tests:
    `codex:src/a.py`, `claude:tests/test_a.py`; and `claude:1f3a9c`, hunks of tests that lie in
    code. Nothing where they would not go together, or where that is not known.

    They do where those tests pass on that patch, and where no file is in both, nor stands in the
    place of the other's folder. Tests that lie in code come by hunks that are nothing else, away
    from what the first changes. Where the code is the second one's own, both are what that lane
    has left.
    """
    brought = {*tests_brought(tests.files)}
    inline = inline_brought(tests.files)
    all_of_it = {file.path for file in code.files}
    if _code(code) == _code(tests):
        return _NEITHER
    new = [row for row in rows if row.author == tests.lane and row.cells.get(tests.lane) == "own"]
    if not new or any(row.cells.get(code.lane) != "passed" for row in new):
        return _NEITHER
    if any(_in_the_way(path, other) for path in brought for other in all_of_it):
        return _NEITHER
    pieces = [_hunks_of_tests(file, code, tests) for file in inline]
    if not (brought or inline) or not all(pieces):
        return _NEITHER
    lanes = ((code, all_of_it), (tests, brought))
    picks = tuple(f"{lane.lane}:{path}" for lane, paths in lanes for path in _fold(lane, paths))
    hunks = tuple(f"{tests.lane}:{hunk.id[:_ID]}" for row in pieces for hunk in row)
    fits = len(picks) + len(hunks) <= MOST and all(map(_can_be_typed, picks))
    return (picks, hunks) if fits else _NEITHER


def _code(lane: LaneEvidence) -> frozenset[tuple[str, str, str]]:
    """What a lane changes, without the tests that it brings."""
    brought = {*tests_brought(lane.files)}
    inline = {file.path for file in inline_brought(lane.files)}
    return frozenset(
        (
            file.path,
            file.new_mode,
            _bare(file.path, file.new or "") if file.path in inline else file.new_oid,
        )
        for file in lane.files
        if file.path not in brought
    )


def _bare(path: str, text: str) -> str:
    return " ".join(without_tests(path, text).split())


def _hunks_of_tests(file: FileChange, code: LaneEvidence, tests: LaneEvidence) -> Sequence[Hunk]:
    """Those that bring the tests of a file of code and nothing else; none where one of them brings
    more, or lies beside what the other lane changes."""
    old, new = file.old or "", file.new or ""
    mine = [
        hunk
        for hunk in _of(tests, file.path)
        if hunk.edits and _bare(file.path, _with(old, [hunk])) == _bare(file.path, old)
    ]
    theirs = _of(code, file.path)
    edits = [edit for hunk in theirs for edit in hunk.edits]
    if any(hunk.kind != "lines" for hunk in theirs) or any(
        _touch(edit, other) for hunk in mine for edit in hunk.edits for other in edits
    ):
        return ()
    return mine if same_tests(file.path, _with(old, mine), new) else ()


def _of(lane: LaneEvidence, path: str) -> list[Hunk]:
    return [hunk for hunk in lane.hunks if os.fsdecode(hunk.path) == path]


def _with(text: str, hunks: Sequence[Hunk]) -> str:
    edits = [edit for hunk in hunks for edit in hunk.edits]
    try:
        return apply(text.encode(), edits).decode()
    except ValueError:  # a text of which not each byte is known
        return ""


def _touch(edit: Edit, other: Edit) -> bool:
    """Whether no line is between them."""
    ends = edit.start + len(edit.old), other.start + len(other.old)
    return ends[0] >= other.start and ends[1] >= edit.start


def _can_be_typed(pick: str) -> bool:
    # A name that is no text is told in signs, with a backslash before each.
    return pick.isprintable() and "\\" not in pick


def _in_the_way(path: str, other: str) -> bool:
    return path == other or path.startswith(f"{other}/") or other.startswith(f"{path}/")


def _fold(lane: LaneEvidence, paths: set[str]) -> Iterator[str]:
    """These paths, a folder for those of which the lane changes nothing else in it."""
    others = [file.path for file in lane.files if file.path not in paths]
    done: set[str] = set()
    for path in sorted(paths):
        whole = [
            folder
            for folder in above(path)
            if not any(other.startswith(folder) for other in others)
            and sum(other.startswith(folder) for other in paths) > 1
        ]
        pick = whole[0] if whole else path
        if pick not in done:
            done.add(pick)
            yield pick

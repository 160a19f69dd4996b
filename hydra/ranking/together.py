"""The code of one patch and the tests of another, as the picks that land both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hydra.analysis.tampering.inline_tests import inline_brought
from hydra.analysis.tampering.suite import tests_brought
from hydra.ranking.evidence import LaneEvidence
from hydra.ranking.model import CrossTest

MOST = 6
"""Picks that a line has room for."""


def picks_of_both(
    code: LaneEvidence, tests: LaneEvidence, rows: Sequence[CrossTest]
) -> tuple[str, ...]:
    """`codex:src/a.py`, `claude:tests/test_a.py`: all of the first lane's patch, and what brings
    the second one's new tests; () where they would not go together, or where that is not known.

    They do where those tests pass on that patch, and where no file is in both, nor stands in the
    place of the other's folder. Tests that lie in code cannot be picked without it. Where the
    code is the second one's own, both are what that lane has left.
    """
    brought = {*tests_brought(tests.files)}
    all_of_it = {file.path for file in code.files}
    if {*code.files} == {file for file in tests.files if file.path not in brought}:
        return ()
    new = [row for row in rows if row.author == tests.lane and row.cells.get(tests.lane) == "own"]
    if (
        not new
        or inline_brought(tests.files)
        or any(row.cells.get(code.lane) != "passed" for row in new)
    ):
        return ()
    if not brought or any(_in_the_way(path, other) for path in brought for other in all_of_it):
        return ()
    lanes = ((code, all_of_it), (tests, brought))
    picks = tuple(f"{lane.lane}:{path}" for lane, paths in lanes for path in _fold(lane, paths))
    return picks if len(picks) <= MOST and all(map(_can_be_typed, picks)) else ()


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
            for folder in _folders(path)
            if not any(other.startswith(folder) for other in others)
            and sum(other.startswith(folder) for other in paths) > 1
        ]
        pick = whole[0] if whole else path
        if pick not in done:
            done.add(pick)
            yield pick


def _folders(path: str) -> Iterator[str]:
    """`src/`, `src/a/`: the folders that it lies in, the widest first."""
    return (path[: at + 1] for at, letter in enumerate(path) if letter == "/")

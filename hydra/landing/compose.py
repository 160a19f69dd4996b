"""What is to be landed, as a tree: a lane's patch as it is, or parts of several, on the base;
then brought onto where the user's branch stands now."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from hydra.errors import LandingRefused
from hydra.git.changes import changes
from hydra.git.merging import Conflict, Merged, three_way

_SHOWN = 20

_SMALLER = "leave one of the two out, or pick smaller parts: `hydra diff LANE --hunks`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One lane's part of a composition: `tree` is the base with what was picked of its patch."""

    lane: str
    tree: str


def compose(patches: Path, base: str, parts: Sequence[Part]) -> str:
    """One tree of all parts, in whichever order. Raises `LandingRefused` where two of them change
    one place, with the lanes and every path.

    Each two are merged first: whether they agree is no matter of what a third one does, and a
    conflict then has two names. Then all are, one after the other.
    """
    pairs = {
        (one.lane, other.lane): three_way(patches, base=base, ours=one.tree, theirs=other.tree)
        for one, other in combinations(parts, 2)
    }
    _refuse_clashes(pairs)
    tree = parts[0].tree
    for n, part in enumerate(parts[1:], 1):
        before = parts[:n]
        if n == 1:  # these two are merged already
            tree = pairs[before[0].lane, part.lane].tree
            continue
        merged = three_way(patches, base=base, ours=tree, theirs=part.tree)
        whose = f"{' and '.join(one.lane for one in before)} and those of {part.lane}"
        if merged.conflicts:
            raise _in_conflict(
                f"the picks of {whose} change the same place", _told(merged), _SMALLER
            )
        expected = [(base, part.tree)]
        expected += ((one.tree, pairs[one.lane, part.lane].tree) for one in before)
        if strays := _paths(patches, [(tree, merged.tree)]) - _paths(patches, expected):
            # git took a file that one lane adds for the new name of one that another moves away.
            raise _in_conflict(
                f"it cannot be told which file the picks of {whose} change",
                [(os.fsdecode(path), "looks like a moved file") for path in sorted(strays)],
                _SMALLER,
            )
        tree = merged.tree
    return tree


def bring(patches: Path, *, base: str, tree: str, head: str) -> str:
    """The same changes on `head`, where the branch has moved on since the race began.

    Raises `LandingRefused` with every conflict, by path and lines.
    """
    merged = three_way(patches, base=base, ours=head, theirs=tree)
    if merged.conflicts:
        raise _in_conflict(
            "the branch has moved since the race, and both changed the same place",
            _told(merged),
            "race again from here, or merge it by hand:"
            ' git fetch "$(hydra runs path)/patches.git" LANE && git merge FETCH_HEAD',
        )
    return merged.tree


def _refuse_clashes(pairs: Mapping[tuple[str, str], Merged]) -> None:
    clashes = {lanes: merged for lanes, merged in pairs.items() if merged.conflicts}
    if not clashes:
        return
    whose = ", ".join(f"{one} and those of {other}" for one, other in clashes)
    told: list[tuple[str, str]] = []
    for (one, other), merged in clashes.items():
        by = f", by {one} and {other}" if len(clashes) > 1 else ""
        told += ((path, reason + by) for path, reason in _told(merged))
    raise _in_conflict(f"the picks of {whose} change the same place", told, _SMALLER)


def _paths(patches: Path, steps: Iterable[tuple[str, str]]) -> set[bytes]:
    return {change.path for old, new in steps for change in changes(patches, old, new)}


def _in_conflict(what: str, told: Sequence[tuple[str, str]], hint: str) -> LandingRefused:
    return LandingRefused(f"nothing was landed: {what}", hint=hint, paths=tuple(told[:_SHOWN]))


def _told(merged: Merged) -> list[tuple[str, str]]:
    return [(os.fsdecode(one.path), _reason(one)) for one in merged.conflicts]


def _reason(conflict: Conflict) -> str:
    if not conflict.lines:
        return conflict.reason
    places = ", ".join(f"{first}-{last}" for first, last in conflict.lines[:8])
    return f"{conflict.reason} (lines {places} of the merged text)"

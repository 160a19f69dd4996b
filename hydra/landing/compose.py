"""What is to be landed, as a tree: a lane's patch as it is, or parts of several, on the base;
then brought onto where the user's branch stands now."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hydra.errors import LandingRefused
from hydra.git.merging import Conflict, three_way

_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One lane's part of a composition: `tree` is the base with what was picked of its patch."""

    lane: str
    tree: str


def compose(patches: Path, base: str, parts: Sequence[Part]) -> str:
    """One tree of all parts. Raises `LandingRefused` where two of them change one place."""
    done, tree = [parts[0].lane], parts[0].tree
    for part in parts[1:]:
        merged = three_way(patches, base=base, ours=tree, theirs=part.tree)
        if merged.conflicts:
            raise _in_conflict(
                f"the picks of {' and '.join(done)} and those of {part.lane} change the same place",
                merged.conflicts,
                "leave one of the two out, or pick smaller parts: `hydra diff LANE --hunks`",
            )
        done.append(part.lane)
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
            merged.conflicts,
            'race again from here, or merge it by hand: git fetch "$(hydra runs path)/patches.git"',
        )
    return merged.tree


def _in_conflict(what: str, conflicts: Sequence[Conflict], hint: str) -> LandingRefused:
    return LandingRefused(
        f"nothing was landed: {what}",
        hint=hint,
        paths=tuple((os.fsdecode(one.path), _told(one)) for one in conflicts[:_SHOWN]),
    )


def _told(conflict: Conflict) -> str:
    if not conflict.lines:
        return conflict.reason
    places = ", ".join(f"{first}-{last}" for first, last in conflict.lines[:8])
    return f"{conflict.reason} (lines {places} of the merged text)"

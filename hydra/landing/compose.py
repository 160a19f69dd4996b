"""What is to be landed, as a tree: a lane's patch as it is, or parts of several, on the base;
then brought onto where the user's branch stands now."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from msgspec import Struct

from hydra.errors import LandingRefused
from hydra.git.diff import changes
from hydra.git.merge import MergeResult, three_way
from hydra.text import of_run

_SHOWN = 20


class LanePart(Struct, frozen=True, kw_only=True):
    """One lane's part of a composition: `tree` is the base with what was picked of its patch, which
    is `commit`."""

    lane: str
    tree: str
    commit: str


def compose(patches: Path, base: str, parts: Sequence[LanePart]) -> str:
    """One tree of all parts, in whichever order. Raises `LandingRefused` where two of them change
    one place, with the lanes and every path.

    Each two are merged first: whether they agree is no matter of what a third one does, and a
    conflict then has two names. Then all are, one after the other.
    """
    pairs = {
        (part.lane, other.lane): three_way(patches, base=base, ours=part.tree, theirs=other.tree)
        for part, other in combinations(parts, 2)
    }
    _refuse_clashes(patches, pairs)
    tree = parts[0].tree
    for n, part in enumerate(parts[1:], 1):
        before = parts[:n]
        if n == 1:  # these two are merged already
            tree = pairs[before[0].lane, part.lane].tree
            continue
        merged = three_way(patches, base=base, ours=tree, theirs=part.tree)
        whose = f"{' and '.join(part.lane for part in before)} and those of {part.lane}"
        if merged.conflicts:
            raise _in_conflict(
                f"the picks of {whose} change the same place",
                _rows(merged),
                _smaller(patches, part.lane),
            )
        expected = [(base, part.tree)]
        expected += (
            (lane_part.tree, pairs[lane_part.lane, part.lane].tree) for lane_part in before
        )
        if strays := _paths(patches, [(tree, merged.tree)]) - _paths(patches, expected):
            # git took a file that one lane adds for the new name of one that another moves away.
            raise _in_conflict(
                f"it cannot be told which file the picks of {whose} change",
                [(os.fsdecode(path), "looks like a moved file") for path in sorted(strays)],
                _smaller(patches, part.lane),
            )
        tree = merged.tree
    return tree


def bring(patches: Path, *, base: str, tree: str, head: str, lanes: Sequence[str]) -> str:
    """The same changes, those of `lanes`, on `head`, where the branch has moved on since the race
    began.

    Raises `LandingRefused` with every conflict, by path.
    """
    merged = three_way(patches, base=base, ours=head, theirs=tree)
    if merged.conflicts:
        raise _in_conflict(
            "the branch has moved since the race, and both changed the same place",
            _rows(merged),
            "race again from here, or merge it by hand: "
            + " && ".join(
                f"git fetch {shlex.quote(str(patches))} {shlex.quote(lane)} && git merge FETCH_HEAD"
                for lane in lanes
            ),
        )
    return merged.tree


def _refuse_clashes(patches: Path, pairs: Mapping[tuple[str, str], MergeResult]) -> None:
    clashes = {lanes: merged for lanes, merged in pairs.items() if merged.conflicts}
    if not clashes:
        return
    whose = ", ".join(f"{name} and those of {other}" for name, other in clashes)
    rows: list[tuple[str, str]] = []
    for (name, other), merged in clashes.items():
        by = f", by {name} and {other}" if len(clashes) > 1 else ""
        rows += ((path, reason + by) for path, reason in _rows(merged))
    hint = _smaller(patches, next(iter(clashes))[0])
    raise _in_conflict(f"the picks of {whose} change the same place", rows, hint)


def _smaller(patches: Path, lane: str) -> str:
    way = f"hydra diff {shlex.quote(lane)} --hunks{of_run(patches.parent.name)}"
    return f"leave one of the two out, or pick smaller parts: {way}"


def _paths(patches: Path, steps: Iterable[tuple[str, str]]) -> set[bytes]:
    return {change.path for old, new in steps for change in changes(patches, old, new)}


def _in_conflict(what: str, rows: Sequence[tuple[str, str]], hint: str) -> LandingRefused:
    return LandingRefused(f"nothing was landed: {what}", hint=hint, paths=tuple(rows[:_SHOWN]))


def _rows(merged: MergeResult) -> list[tuple[str, str]]:
    return [(os.fsdecode(conflict.path), conflict.reason) for conflict in merged.conflicts]


# ---- The message of a landed commit: the task's title or the user's own words, then trailers that
# say which agents, which models and which race it came from.

_TRAILER = re.compile(r"Hydra-[A-Za-z]+: .*")


def message_of(patches: Sequence[str], own: str | None = None) -> str:
    """`patches` are the messages of the lanes' commits; `own` takes the place of their title. The
    run comes last: several lanes have it in common."""
    texts = [text.splitlines() for text in patches]
    trailers = dict.fromkeys(line for text in texts for line in text if _TRAILER.fullmatch(line))
    body = "\n".join(line for line in texts[0] if not _TRAILER.fullmatch(line))
    title = body if own is None else own
    last = sorted(trailers, key=lambda line: line.startswith("Hydra-Run:"))
    return f"{title.strip()}\n\n" + "".join(f"{line}\n" for line in last)

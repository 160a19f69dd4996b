"""Which groups of patches are worth telling apart."""

from __future__ import annotations

from hydra.ranking.model import Verdict
from hydra.text import joined

MOST = 6
"""Groups that are told apart at once."""

Groups = tuple[tuple[str, ...], ...]


def patch_groups(verdict: Verdict) -> Groups:
    """The groups of a verdict, the best first: lanes whose patches are the same or
    equivalent are one group.

    Where some lanes pass their gates, the others do not count.
    """
    lanes = [lane for lane in verdict.lanes if lane.rank is not None]
    lanes = [lane for lane in lanes if lane.passes_gates] or lanes
    same = _same(verdict)
    names = [lane.lane for lane in lanes]
    rows = (tuple(sorted((same.get(name) or {name}) & {*names})) for name in names)
    return tuple(dict.fromkeys(rows))


def nothing(groups: Groups, *, all: int) -> str:
    """Why nobody is asked."""
    if not groups:
        return "there is nothing to tell apart: no lane left a patch"
    (lanes,) = groups
    if len(lanes) == all:
        same = "there is one patch" if all == 1 else "all patches are the same"
        return f"there is nothing to tell apart: {same}"
    alone = "is" if len(lanes) == 1 else "are one patch, and"
    rest = "the only one" if len(lanes) == 1 else "there is no other"
    return f"there is nothing to tell apart: {joined(lanes)} {alone} {rest} that nothing holds back"


def _same(verdict: Verdict) -> dict[str, set[str]]:
    rows: dict[str, set[str]] = {}
    for group in verdict.groups:
        if group.kind == "alike":
            continue
        lanes = {*group.lanes}
        whole = lanes.union(*(rows.get(lane, set()) for lane in lanes))
        rows.update(dict.fromkeys(whole, whole))
    return rows

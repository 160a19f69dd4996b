"""Which groups of patches lead, and are worth telling apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GROUPS = 6
"""Groups that are told apart at once."""


def leading(verdict: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    """The leading groups of a verdict's document, the best first: lanes whose patches are the same
    or equivalent are one group.

    Those of the first rank; where that is one group, the next rank's too. Where some lanes are
    mergeable, the others do not count.
    """
    lanes = [lane for lane in verdict["lanes"] if lane.get("rank") is not None]
    lanes = [lane for lane in lanes if lane.get("mergeable")] or lanes
    same = _same(verdict)
    found: dict[tuple[str, ...], None] = {}
    last: object = None
    for lane in lanes:
        if lane["rank"] != last and len(found) > 1:
            break
        last = lane["rank"]
        name = str(lane["lane"])
        known = {str(one["lane"]) for one in lanes}
        found[tuple(sorted((same.get(name) or {name}) & known))] = None
    return tuple(found)[:GROUPS]


def _same(verdict: Mapping[str, Any]) -> dict[str, set[str]]:
    held: dict[str, set[str]] = {}
    for group in verdict.get("groups") or ():
        if group.get("kind") not in ("identical", "equivalent"):
            continue
        lanes = set(map(str, group["lanes"]))
        joined = lanes.union(*(held.get(lane, set()) for lane in lanes))
        held.update(dict.fromkeys(joined, joined))
    return held

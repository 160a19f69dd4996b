"""From what is known of each lane to ranks. A tie stays a tie, and unknown never wins one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

TOLERANCE = 1e-6
"""Chances that differ by less are the same."""


class Measure(NamedTuple):
    """One thing that lanes are told apart by. By lane, more is better; None is unknown.

    Values are apart where more than `gap` lies between one and the next, and more than `share` of
    the lesser of the two.
    """

    name: str
    values: Mapping[str, float | None]
    gap: float = TOLERANCE
    share: float = 0.0

    def differs(self, number: float, other: float) -> bool:
        """Whether two values that follow each other are different."""
        least = max(self.gap, self.share * min(abs(number), abs(other)))
        return abs(number - other) > least


def rank_groups(lanes: Sequence[str], measures: Sequence[Measure]) -> list[list[str]]:
    """The lanes in groups of equals, the best first.

    Each measure splits the groups that those before it have left. Where it is unknown for one of a
    group, it splits nothing of that group: unknown is not zero, and neither wins nor loses.
    """
    groups = [list(lanes)] if lanes else []
    for measure in measures:
        groups = [part for group in groups for part in _split(group, measure)]
    return groups


def deciding_measure(
    name: str, other: str, lanes: Sequence[str], measures: Sequence[Measure]
) -> str:
    """The measure that put `name` and `other` in different groups; "" where none did."""
    group = list(lanes)
    for measure in measures:
        group = next(part for part in _split(group, measure) if name in part)
        if other not in group:
            return measure.name
    return ""


def _split(group: Sequence[str], measure: Measure) -> list[list[str]]:
    known_values = [value for value in map(measure.values.get, group) if value is not None]
    if len(known_values) < len(group):
        return [list(group)]
    parts: list[list[str]] = []
    last = 0.0
    for lane in sorted(group, key=lambda lane: -(measure.values[lane] or 0)):
        value = measure.values[lane] or 0
        if parts and not measure.differs(last, value):
            parts[-1].append(lane)
        else:
            parts.append([lane])
        last = value
    return parts

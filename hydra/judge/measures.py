"""The measures that lanes are told apart by, the weightiest first (docs/selection.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hydra.judge.finding import Finding
from hydra.judge.order import Measure
from hydra.judge.origin import generated, vendored
from hydra.judge.standing import Standing
from hydra.judge.verdict import Group, Reason, State
from hydra.remarks.places import is_test, kind_of

MINOR: Mapping[str, str] = {
    "size": "equal to {} in all that was tested, and smaller: {:,.0f} against {:,.0f} "
    "lines of code",
    "speed": "equal to {} in all else, and faster: {:.0f} s to {:.0f} s",
}
"""What only breaks ties, and the sentence for it."""

SECONDS, SHARE = 5.0, 0.1
"""A lane is faster than another by more than so many seconds, and by more than a tenth: what two
runs of one agent differ in tells nothing."""

DECIDES: Mapping[str, str] = {
    "gates": "something speaks against each of the others",
    "state": "a test proves it, and none proves {}",
    "base": "it fixes more failing tests than {}",
    "broken": "it breaks less than {}",
    "protected": "more of the base's tests pass with it than with {}",
    "cross": "the tests of all lanes speak for it before {}",
    "literal": "it answers no test by a literal or by asking who runs it, as {} does",
    "agreement": "more lanes left the same patch as it than as {}",
    "build": "it builds, and {} does not",
    "lint": "its lint passes, and that of {} does not",
}
"""What each other measure says for the first against the next."""


def measures(
    standings: Mapping[str, Standing],
    gates: Mapping[str, tuple[Reason, ...]],
    chances: Mapping[str, float],
    same: Sequence[Group],
    findings: Mapping[str, Sequence[Finding]],
    states: Mapping[str, State],
) -> tuple[Measure, ...]:
    """Of every lane; more is better, None is unknown."""
    lanes = standings.items()
    return (
        Measure("gates", {lane: float(not gates[lane]) for lane in standings}),
        Measure("state", {lane: float(states[lane] == "proved") for lane in standings}),
        Measure("base", {lane: _number(one.mended()) for lane, one in lanes}),
        Measure("broken", {lane: -float(len(one.broken)) for lane, one in lanes}),
        Measure("protected", {lane: _protected(one) for lane, one in lanes}),
        Measure("cross", chances),
        Measure("literal", {lane: -float(_literal(findings.get(lane, ()))) for lane in standings}),
        Measure("agreement", {lane: _agreeing(lane, same) for lane in standings}),
        Measure("build", {lane: _number(one.build) for lane, one in lanes}),
        Measure("lint", {lane: _number(one.lint) for lane, one in lanes}),
        Measure("size", {lane: code_lines(one) for lane, one in lanes}),
        Measure("speed", {lane: _seconds(one) for lane, one in lanes}, SECONDS, SHARE),
    )


def _literal(findings: Sequence[Finding]) -> bool:
    """Whether code gives what tests expect, or asks whether it runs under tests."""
    return any(finding.kind == "hard_coded" for finding in findings)


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _protected(one: Standing) -> float | None:
    if not one.whole.known:
        return None
    return -float(len(one.whole.fails) + len(one.whole.stopped))


def _agreeing(lane: str, same: Sequence[Group]) -> float:
    return float(max((len(group.lanes) for group in same if lane in group.lanes), default=1))


def code_lines(one: Standing) -> float | None:
    """Minus the lines changed outside of tests, lock files, generated and vendored files; None
    where one of them is binary. A lane that adds tests is not the larger for it."""
    lines = 0
    for file in one.lane.files:
        path = file.path.encode("utf-8", "backslashreplace")
        if is_test(path) or kind_of(path) == "lock_file":
            continue
        if vendored(file.path) or generated(file.path, file.new):
            continue
        if file.insertions is None or file.deletions is None:
            return None
        lines += file.insertions + file.deletions
    return -float(lines)


def _seconds(one: Standing) -> float | None:
    return None if one.lane.seconds is None else -one.lane.seconds

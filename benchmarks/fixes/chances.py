"""How often a proved winner is right: hydra/ranking/measured_fixes.py, and how far it is off."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from benchmarks.fixes.lineups import lineups
from benchmarks.fixes.scores import Judged, judged
from benchmarks.intervals import bootstrap
from hydra.analysis.patch import Finding
from hydra.ranking import confidence, verdict
from hydra.ranking.evidence import Evidence, LaneEvidence

NO_RIGHT = 0.1
"""Of so many races nobody is right: a fix's line-ups without a right lane weigh so much of it."""

BINS = 10
MODULE = Path(confidence.__file__).with_name("measured_fixes.py")

Key = tuple[int, int]
Table = Mapping[Key, tuple[int, float]]


class Case(NamedTuple):
    """A proved winner of one line-up: of which project and fix, by how many other witnesses agree
    and how many do not, whether it is right, and how much it weighs. `raced`: the line-up is the
    whole one."""

    project: str
    fix: str
    key: Key
    right: float
    weight: float
    raced: bool


def calibrate(folders: Sequence[Path]) -> str:
    """Writes the table, and says how far it is off where it is made without a project each time."""
    races = [race for folder in folders for race in judged(folder)]
    cases = [case for race in races for case in _cases(race)]
    item = _table(cases)
    MODULE.write_text(_module(item, len({race.truth["commit"] for race in races})))
    return "\n".join((*_lines(item), *_errors(cases, [race for race in races if race.truth])))


def _cases(race: Judged) -> Iterator[Case]:
    item: dict[str, tuple[Finding, ...]] = {}
    read = verdict._tampering

    def once(lane: LaneEvidence, evidence: Evidence) -> tuple[Finding, ...]:
        if lane.lane not in item:
            item[lane.lane] = read(lane, evidence)
        return item[lane.lane]

    sides: dict[bool, list[tuple[Key, float, bool]]] = {True: [], False: []}
    numbers = {True: 0, False: 0}
    with patch.object(verdict, "_tampering", once):
        for evidence in lineups(race.evidence):
            able = any(race.right(lane.lane) for lane in evidence.lanes)
            numbers[able] += 1
            if key := _key(evidence):
                top, others = key
                raced = len(evidence.lanes) == len(race.evidence.lanes)
                sides[able].append((others, float(race.right(top)), raced))
    for able, cases in sides.items():
        weight = 1 - NO_RIGHT if able else NO_RIGHT
        for others, right, raced in cases:
            share = weight / numbers[able]
            yield Case(race.truth["repository"], race.truth["commit"], others, right, share, raced)


def _key(evidence: Evidence) -> tuple[str, Key] | None:
    """Who wins, proved, and how the other witnesses end; None where there is no such winner."""
    item: list[Key] = []
    with patch.object(
        confidence,
        "_share_of_fixes",
        lambda exact, witnesses: item.append((exact.agree - 1, witnesses - exact.agree)),
    ):
        top = verdict.rank(evidence).top
    return (top, item[-1]) if top and item else None


def _table(cases: Sequence[Case]) -> Table:
    fixes: dict[Key, set[str]] = defaultdict(set)
    weights: dict[Key, float] = defaultdict(float)
    right: dict[Key, float] = defaultdict(float)
    for case in cases:
        fixes[case.key].add(case.fix)
        weights[case.key] += case.weight
        right[case.key] += case.weight * case.right
    return {
        key: (len(fixes[key]), round((right[key] + 1) / (weights[key] + 2), 3))
        for key in sorted(fixes)
    }


def _module(table: Table, fixes: int) -> str:
    text = MODULE.read_text()
    head, _, _ = text.partition("FIXES: ")
    rows = "".join(f"    {key}: {value},\n" for key, value in table.items())
    names = (
        "    # others that agree, others that do not: fixes, share of them in which it was right\n"
    )
    return f"{head}FIXES: dict[tuple[int, int], tuple[int, float]] = {{\n{names}{rows}}}\n"


def _lines(table: Table) -> Iterator[str]:
    yield "agree  against  fixes  share"
    for (agree, against), (number, share) in table.items():
        yield f"{agree:5}  {against:7}  {number:5}  {share:.3f}"


def _errors(cases: Sequence[Case], races: Sequence[Judged]) -> Iterator[str]:
    """What is said of each project by a table made of all others, held against what is so."""
    item: list[tuple[Case, float]] = []
    for project in sorted({case.project for case in cases}):
        table = _table([case for case in cases if case.project != project])
        with patch.object(confidence, "FIXES", table):
            item += [
                (case, share)
                for case in cases
                if case.project == project and (share := _said(case.key)) is not None
            ]
    for name, entry in (
        ("line-ups", item),
        ("races", [(case._replace(weight=1.0), share) for case, share in item if case.raced]),
    ):
        bins = _bins(entry)
        total = sum(case.weight for case, _ in entry)
        gaps = [(case.right - share, case.weight) for case, share in entry]
        error = sum(abs(wrong) for _, wrong, _ in bins) / total if total else 0.0
        mean = bootstrap({"": [gap for gap, _ in gaps]})[""]
        yield f"{name}: expected calibration error {error:.3f} ({len(entry)} winners)"
        yield f"  right less said {mean.mean:+.3f} [{mean.low:+.3f}, {mean.high:+.3f}]"
        for said_share, wrong, weight in bins:
            yield f"  said {said_share:.2f}: off by {wrong / weight:+.3f} (weight {weight:.1f})"
    raced = sum(case.raced for case, _ in item)
    yield f"a probability by this table in {raced} of {len(races)} races"


def _said(key: Key) -> float | None:
    agree, against = key
    case = confidence.WinnerKind(lanes=0, agree=agree + 1, tied=False)
    return confidence._share_of_fixes(case, agree + 1 + against)


def _bins(item: Sequence[tuple[Case, float]]) -> list[tuple[float, float, float]]:
    """The mean of what is said, by how much it is off in all, and the weight, of each tenth."""
    entry: dict[int, list[tuple[Case, float]]] = defaultdict(list)
    for case, share in item:
        entry[min(BINS - 1, int(share * BINS))].append((case, share))
    return [
        (
            sum(share * case.weight for case, share in item) / weight,
            sum((case.right - share) * case.weight for case, share in item),
            weight,
        )
        for _, item in sorted(entry.items())
        if (weight := sum(case.weight for case, _ in item))
    ]

"""Recorded races judged anew, against what is known to be right."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

from benchmarks.fixes.races import TRUTH
from benchmarks.intervals import Interval, bootstrap
from hydra.checks.results import Tests
from hydra.race.recovery.runs import read
from hydra.ranking.collect import evidence
from hydra.ranking.evidence import Evidence, LaneEvidence
from hydra.ranking.model import LaneVerdict, Verdict
from hydra.ranking.verdict import rank
from hydra.records.store.reader import runs as stored

BROKEN_BY_CONSTRUCTION = ("source", "dropped")
"""Where the fix contradicts a test of the base, its sources alone break one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One race: what is known, and the verdict."""

    name: str
    truth: Mapping[str, Any]
    evidence: Evidence
    verdict: Verdict

    @property
    def contradicts(self) -> bool:
        return bool(self.truth["contradicted"])

    def role(self, lane: str) -> str:
        return str(self.truth["lanes"][lane]["role"])

    def right(self, lane: str) -> bool:
        return bool(self.truth["lanes"][lane]["right"])

    @property
    def first(self) -> list[LaneVerdict]:
        return [lane for lane in self.verdict.lanes if lane.rank == 1]

    @property
    def sound(self) -> list[LaneVerdict]:
        """The right patches that may not be refused."""
        return [
            lane
            for lane in self.verdict.lanes
            if self.right(lane.lane)
            and not (self.contradicts and self.role(lane.lane) in BROKEN_BY_CONSTRUCTION)
        ]

    def share(self, lanes: Iterable[str]) -> float:
        """How many of these are right, of all of them; 0 without any."""
        item = [self.right(lane) for lane in lanes]
        return sum(item) / len(item) if item else 0.0


def score(folder: Path, half: str = "") -> str:
    """All figures, as a table, and a line for each race that went wrong."""
    races = [race for race in judged(folder) if half in ("", race.truth["half"])]
    lines = [f"{len(races)} races, {half or 'both halves'}"]
    for name, item in (
        ("all", races),
        ("an old expectation changes", [race for race in races if race.contradicts]),
        ("none changes", [race for race in races if not race.contradicts]),
    ):
        if item:
            lines += ["", f"{name} ({len(item)})", *_table(item)]
    return "\n".join([*lines, "", *_faults(races)])


def judged(folder: Path) -> list[Judged]:
    """Every race in the folder, by the rules of now."""
    return [_judged(path.parent) for path in sorted(folder.glob(f"*/{TRUTH}"))]


def _judged(folder: Path) -> Judged:
    truth = json.loads((folder / TRUTH).read_text())
    (repository,) = (folder / "state").glob("*/runs")
    (record,) = stored(repository)
    race = read(record).race
    assert race is not None
    item = evidence(record.folder, record.base, race.lanes)
    return Judged(name=folder.name, truth=truth, evidence=item, verdict=rank(item))


def _table(races: Sequence[Judged]) -> list[str]:
    able = [race for race in races if any(item["right"] for item in race.truth["lanes"].values())]
    figures = {
        "right patch first": [race.share(lane.lane for lane in race.first) for race in able],
        "random among those that pass": [race.share(_passing(race)) for race in able],
        "most tests passed": [race.share(_most(race)) for race in able],
        "CodeT": [race.share(_codet(race)) for race in able],
    }
    rows = [f"  {name:<42} {_percent(item)}" for name, item in bootstrap(figures).items()]
    wrong = [_wrong_first(race) for race in races]
    rows.append(_row("wrong patch first and called proved", wrong))
    lanes = [(race, lane) for race in races for lane in race.verdict.lanes]
    by_role: dict[str, list[float]] = {}
    for race, lane in lanes:
        role = race.role(lane.lane)
        by_role.setdefault(role, []).append(float(not lane.passes_gates))
    refused = [float(not lane.passes_gates) for race in races for lane in race.sound]
    rows.append(_row("right patches refused", refused))
    for role, values in sorted(by_role.items()):
        rows.append(_row(f"refused: {role}", values))
    item = [race for race in races if race.verdict.confidence.share is not None]
    rows.append(_row("a probability is said", [float(race in item) for race in races]))
    if item:
        expected = sum(race.verdict.confidence.share or 0 for race in item) / len(item)
        true = [race.share(lane.lane for lane in race.first) for race in item]
        rows.append(_row(f"right where one is said ({expected:.0%} on average)", true))
    return rows


def _row(name: str, values: Sequence[float]) -> str:
    if not values:
        return f"  {name:<42} none"
    return (
        f"  {name:<42} {_percent(bootstrap({'': values})[''])}  ({sum(values):g} of {len(values)})"
    )


def _percent(item: Interval) -> str:
    return f"{item.mean:6.1%}  [{item.low:.0%}, {item.high:.0%}]"


def _passing(race: Judged) -> list[str]:
    return [
        lane.lane
        for lane in race.evidence.lanes
        if lane.files and not any(result.held_back for result in lane.checks)
    ]


def _most(race: Judged) -> list[str]:
    counts = {lane.lane: _passed(lane) for lane in race.evidence.lanes if lane.files}
    return [lane for lane, count in counts.items() if count == max(counts.values())]


def _codet(race: Judged) -> list[str]:
    """The root of how many lanes pass the same of all new tests, times how many tests that is."""
    rows = [row for row in race.verdict.cross if not row.changed]
    passed = {
        lane.lane: tuple(row.cells.get(lane.lane) in ("own", "passed") for row in rows)
        for lane in race.evidence.lanes
        if lane.files
    }
    sizes = Counter(passed.values())
    scores = {lane: sqrt(sizes[row]) * sum(row) for lane, row in passed.items()}
    return [lane for lane, score in scores.items() if score == max(scores.values())]


def _passed(lane: LaneEvidence) -> int:
    tests: Iterable[Tests] = (check.tests for check in lane.checks if check.tests is not None)
    return sum(test.passed for test in tests)


def _wrong_first(race: Judged) -> float:
    proved = [lane.lane for lane in race.first if lane.state == "proved"]
    return sum(not race.right(lane) for lane in proved) / len(race.first) if proved else 0.0


def _faults(races: Sequence[Judged]) -> Iterable[str]:
    for race in races:
        for lane in race.verdict.lanes:
            wrong = lane.rank == 1 and not race.right(lane.lane)
            refused = race.right(lane.lane) and not lane.passes_gates
            if wrong or refused:
                what = "first" if wrong else "refused"
                yield f"{race.name}: {what} {race.role(lane.lane)} ({lane.state}): {lane.why[:160]}"

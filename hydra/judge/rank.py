"""The verdict on a run: gates first, then tests, then build and lint; size and speed break ties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hydra.judge import agreement, cross, sentences
from hydra.judge.confidence import confidence
from hydra.judge.evidence import Evidence, LaneEvidence
from hydra.judge.finding import Finding
from hydra.judge.gates import gates
from hydra.judge.measures import DECIDES, MINOR, measures
from hydra.judge.order import Measure, ranked, told_apart
from hydra.judge.scope import scope
from hydra.judge.score import scores
from hydra.judge.selection import chances
from hydra.judge.standing import Standing, standing
from hydra.judge.state import Ruling, ruling
from hydra.judge.tampering import findings
from hydra.judge.verdict import (
    Confidence,
    CrossTest,
    Group,
    LaneVerdict,
    Reason,
    Shared,
    Verdict,
    may_land,
)
from hydra.judge.words import joined, number_of


def verdict(evidence: Evidence) -> Verdict:
    """Which patch, why, and how sure. The same for any order of lanes and tests, and any names."""
    known = _Known.of(evidence)
    order = ranked(known.patched, known.measures)
    places = _places(order)
    scored = scores(evidence.lanes, evidence.baseline, evidence.weights)
    lanes = [
        LaneVerdict(
            lane=lane,
            rank=place,
            mergeable=not known.gates[lane],
            state=known.rulings[lane].state,
            reason=known.rulings[lane].reason,
            tied=tuple(name for name in group if name != lane),
            gates=known.gates[lane],
            reasons=(told := known.reasons(lane, order)),
            why=sentences.why(known.gates[lane], told),
            chance=known.chances.get(lane),
            score=scored.get(lane),
        )
        for place, group in places
        for lane in group
    ]
    top = _top(order, known)
    return Verdict(
        run=evidence.run,
        lanes=(*lanes, *(_without(lane, known) for lane in evidence.lanes if not lane.files)),
        top=top,
        says=_says(top, order, lanes, known),
        confidence=_confidence(order, known),
        checked=evidence.checked,
        cross=known.rows,
        groups=known.groups,
        shared=known.shared,
        not_tried=sentences.not_tried(evidence),
        notes=tuple(
            Reason(kind="note", text=f"{one.reviewer} on {one.lane}: {one.text}", path=one.path)
            for one in evidence.notes
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """All that is worked out once, and read from many sides. `chances` is empty where no test
    tells the lanes apart."""

    evidence: Evidence
    standings: Mapping[str, Standing]
    patched: Sequence[str]
    findings: Mapping[str, tuple[Finding, ...]]
    gates: Mapping[str, tuple[Reason, ...]]
    rulings: Mapping[str, Ruling]
    rows: tuple[CrossTest, ...]
    groups: tuple[Group, ...]
    shared: tuple[Shared, ...]
    chances: Mapping[str, float]
    measures: Sequence[Measure] = field(default_factory=tuple)

    @classmethod
    def of(cls, evidence: Evidence) -> _Known:
        standings = {lane.lane: standing(lane, evidence) for lane in evidence.lanes}
        files = {lane.lane: lane.files for lane in evidence.lanes if lane.files}
        patched = tuple(files)
        found = {
            lane: (*_tampering(standings[lane].lane, evidence), *scope(lane, files))
            for lane in patched
        }
        held = {
            lane: gates(one, standings, found.get(lane, ()), evidence)
            for lane, one in standings.items()
        }
        rows = cross.matrix(evidence)
        same = agreement.groups(files, {lane: standings[lane].lane.tree for lane in patched})
        rows = cross.unheard(rows, patched)
        tests = cross.tests(rows, patched)
        rulings = {
            lane: ruling(one, standings, held[lane], found.get(lane, ()), rows, evidence)
            for lane, one in standings.items()
        }
        chance = dict(zip(patched, chances(len(patched), tests), strict=True)) if tests else {}
        return cls(
            evidence=evidence,
            standings=standings,
            patched=patched,
            findings=found,
            gates=held,
            rulings=rulings,
            rows=rows,
            groups=(*same, *cross.alike(rows, patched)),
            shared=agreement.shared(files),
            chances=chance,
            measures=measures(
                standings, held, chance, same, found, {it: rulings[it].state for it in rulings}
            ),
        )

    def may_land(self, lane: str) -> bool:
        """Whether it may land without being named."""
        return may_land(self.rulings[lane].state, not self.gates[lane], self.evidence.checked)

    def reasons(self, lane: str, order: Sequence[Sequence[str]]) -> tuple[Reason, ...]:
        """What is said of a lane besides its gates."""
        told = sentences.reasons(
            self.standings[lane],
            self.evidence,
            [it for it in self.findings[lane] if not self._is_gate(lane, it)],
            self.rows,
            self.groups,
            self.shared,
        )
        return (*told, *self._by_a_hair(lane, order))

    def _is_gate(self, lane: str, finding: Finding) -> bool:
        """Whether it is told among the gates already, with what made it one."""
        return any(
            (one.path, one.line) == (finding.path, finding.line)
            and one.text.startswith(finding.text)
            for one in self.gates[lane]
        )

    def _by_a_hair(self, lane: str, order: Sequence[Sequence[str]]) -> Iterator[Reason]:
        """Where nothing but size or speed puts it before the next."""
        by, text = self.before_next(lane, order)
        if by in MINOR:
            yield Reason(kind=by, text=text)

    def before_next(self, lane: str, order: Sequence[Sequence[str]]) -> tuple[str, str]:
        """The measure that puts a lane before the next, and a clause on it; "" for the last."""
        at = next(place for place, group in enumerate(order) if lane in group)
        for behind in order[at + 1 : at + 2]:
            by = told_apart(lane, behind[0], self.patched, self.measures)
            if by in MINOR:
                mine, theirs = (self.values(by)[it] for it in (lane, behind[0]))
                return by, MINOR[by].format(joined(behind), -mine, -theirs)
            return by, DECIDES.get(by, "").format(joined(behind))
        return "", ""

    def values(self, name: str) -> Mapping[str, float]:
        """One measure, where it is known."""
        found = next(one for one in self.measures if one.name == name)
        return {lane: value for lane, value in found.values.items() if value is not None}


def _tampering(lane: LaneEvidence, evidence: Evidence) -> tuple[Finding, ...]:
    touched = {file.path for file in lane.files}
    untouched = {path: text for path, text in evidence.tests.items() if path not in touched}
    checks = [result.check for result in lane.checks]
    return findings(lane.files, checks, untouched=untouched, base=evidence.paths)


def _places(order: Sequence[Sequence[str]]) -> Iterator[tuple[int, Sequence[str]]]:
    place = 1
    for group in order:
        yield place, group
        place += len(group)


def _without(lane: LaneEvidence, known: _Known) -> LaneVerdict:
    held = known.gates[lane.lane]
    why = sentences.why(held, ())
    mine = known.rulings[lane.lane]
    return LaneVerdict(
        lane=lane.lane,
        rank=None,
        mergeable=False,
        state=mine.state,
        reason=mine.reason,
        gates=held,
        why=why,
    )


def _top(order: Sequence[Sequence[str]], known: _Known) -> str:
    """The one to land; of patches that are the same, the first in the race's own order."""
    first = order[0] if order else ()
    able = [lane for lane in first if known.may_land(lane)]
    one = len(first) == 1 or _same(first, known)
    return able[0] if able and one else ""


def _same(lanes: Sequence[str], known: _Known) -> Group | None:
    """The group of patches that are the same and that all of these are in."""
    kinds = (it for it in known.groups if it.kind in _SAME)
    return next((group for group in kinds if {*lanes} <= {*group.lanes}), None)


_SAME = {
    "identical": "left the very same patch",
    "equivalent": "left the same patch but for formatting, comments or the order of imports",
}


def _says(
    top: str, order: Sequence[Sequence[str]], lanes: Sequence[LaneVerdict], known: _Known
) -> str:
    if top:
        first = next(lane for lane in lanes if lane.lane == top)
        group = _same(order[0], known) if first.tied else None
        same = f" ({joined(first.tied)} {_SAME[group.kind]})" if group else ""
        clauses = (first.reason, known.before_next(top, order)[1])
        return f"{top}{same}: {'; '.join(clause for clause in clauses if clause)}"
    tied = [lane.lane for lane in lanes if lane.rank == 1 and known.may_land(lane.lane)]
    if tied:
        return f"{joined(tied)} are tied: nothing that was measured tells them apart"
    if not lanes:
        return "no lane left a patch"
    first = lanes[0]
    state = first.state.replace("_", " ")
    if len(lanes) == 1:
        return f"{first.lane} is {state}: {first.reason}"
    none = f"none of {number_of(lanes, 'patch')} is proved"
    return f"{none}; {first.lane} comes first, {state}: {first.reason}"


def _confidence(order: Sequence[Sequence[str]], known: _Known) -> Confidence:
    first = [lane for lane in (order[0] if order else ()) if known.may_land(lane)]
    if not first:
        return Confidence(word="unknown", why="no patch is proved")
    winners = [known.patched.index(lane) for lane in first]
    return confidence(len(known.patched), cross.tests(known.rows, known.patched), winners)

"""The verdict on a run: gates first, then tests, then build and lint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from hydra.analysis.equivalence.groups import Group, Shared, groups
from hydra.analysis.equivalence.overlap import shared
from hydra.analysis.patch import Finding
from hydra.analysis.tampering.findings import findings
from hydra.ranking import cross_tests, explain
from hydra.ranking.confidence import confidence
from hydra.ranking.demands import Demand, Demands, contradicted, decision, idles
from hydra.ranking.evidence import Evidence, LaneEvidence
from hydra.ranking.gates import gates, of_checks, own_version, suspected
from hydra.ranking.measures import DECIDES, UNTESTED, measures, tests_brought
from hydra.ranking.model import (
    CrossTest,
    LaneVerdict,
    Proof,
    Reason,
    Verdict,
    WinnerConfidence,
    is_alone,
    may_land,
)
from hydra.ranking.ranks import Measure, deciding_measure, rank_groups
from hydra.ranking.results import RAN, LaneResults, standing
from hydra.ranking.scope import scope
from hydra.ranking.selection import chances, telling
from hydra.ranking.state import LaneState, fixed, ruling
from hydra.ranking.together import picks_of_both
from hydra.ranking.unchecked import unrun
from hydra.ranking.undone import undoing, undone
from hydra.text import NAMED, join_names, joined, plural, were


def rank(evidence: Evidence) -> Verdict:
    """Which patch, why, and how sure. The same for any order of lanes and tests, and any names."""
    evidence = cross_tests.with_new(evidence)
    ranking_state = _RankingState.of(evidence)
    order = rank_groups(ranking_state.patched, ranking_state.measures)
    places = _places(order)
    lanes = [
        LaneVerdict(
            lane=lane,
            rank=place,
            state=ranking_state.rulings[lane].state,
            reason=ranking_state.rulings[lane].reason,
            tied=tuple(name for name in group if name != lane),
            gates=ranking_state.gates[lane],
            reasons=(reasons := ranking_state.reasons(lane)),
            why=explain.why(ranking_state.gates[lane], reasons),
            chance=ranking_state.chances.get(lane),
            own_version=own_version(ranking_state.lane_results[lane]),
            decision=ranking_state.decisions[lane].text
            if lane in ranking_state.decisions
            else None,
            agreed=lane not in ranking_state.decisions or lane in ranking_state.agreed,
        )
        for place, group in places
        for lane in group
    ]
    top = _top(order, ranking_state)
    picks, hunks = _picks(top, order, ranking_state)
    return Verdict(
        run=evidence.run,
        lanes=(
            *lanes,
            *(_without(lane, ranking_state) for lane in evidence.lanes if not lane.files),
        ),
        top=top,
        says=_says(top, order, lanes, ranking_state),
        confidence=_confidence(order, ranking_state),
        checked=evidence.checked,
        tested=ranking_state.tested,
        cross=ranking_state.rows,
        groups=ranking_state.groups,
        shared=ranking_state.shared,
        picks=picks,
        hunks=hunks,
        not_tried=explain.not_tried(evidence),
    )


class _RankingState(Struct, frozen=True, kw_only=True):
    """All that is worked out once, and read from many sides. `chances` is empty where no test
    tells the lanes apart."""

    evidence: Evidence
    lane_results: Mapping[str, LaneResults]
    patched: Sequence[str]
    findings: Mapping[str, tuple[Finding, ...]]
    gates: Mapping[str, tuple[Reason, ...]]
    rulings: Mapping[str, LaneState]
    rows: tuple[CrossTest, ...]
    groups: tuple[Group, ...]
    shared: tuple[Shared, ...]
    chances: Mapping[str, float]
    idle: Mapping[str, bool | None]
    decisions: Mapping[str, Reason]
    agreed: frozenset[str]
    tested: bool
    measures: Sequence[Measure] = field(default_factory=tuple)

    @classmethod
    def of(cls, evidence: Evidence) -> _RankingState:
        lane_results = {lane.lane: standing(lane, evidence) for lane in evidence.lanes}
        files = {lane.lane: lane.files for lane in evidence.lanes if lane.files}
        patched = tuple(files)
        findings_by_lane = {
            lane: (
                *_tampering(lane_results[lane].lane, evidence),
                *scope(lane, files),
                *undone(files[lane], evidence),
            )
            for lane in patched
        }
        rows = cross_tests.matrix(evidence)
        same = groups(files, {lane: lane_results[lane].lane.tree for lane in patched})
        idle = {lane: idles(lane_results[lane], rows) for lane in patched}
        demanded = _demands(lane_results, patched, findings_by_lane, rows, idle, same, evidence)
        gate_reasons = {
            lane: gates(
                results,
                findings_by_lane.get(lane, ()),
                evidence,
                _tests(demanded, lane),
                demanded[lane].outdated if lane in demanded else frozenset(),
            )
            for lane, results in lane_results.items()
        }
        tests = cross_tests.tests(rows, patched)
        demand_reasons = {
            lane: reason
            for lane, demand in demanded.items()
            if (
                reason := decision(
                    lane_results[lane],
                    demand,
                    findings_by_lane[lane],
                    held_back=bool(gate_reasons[lane]),
                )
            )
        }
        taken = {lane: reason for lane in patched if (reason := undoing(files[lane], evidence))}
        # What others agree with is only said, and leaves the other question.
        agreed = {lane for lane in {*demand_reasons} - {*taken} if demanded[lane].agreed}
        is_open = {lane for lane in demand_reasons if not demanded[lane].agreed}
        decisions = {**demand_reasons, **{lane: taken[lane] for lane in {*taken} - is_open}}
        rulings = {
            lane: ruling(
                results,
                lane_results,
                gate_reasons[lane],
                findings_by_lane.get(lane, ()),
                rows,
                evidence,
                agreed=demand_reasons[lane].text if lane in agreed else "",
            )
            for lane, results in lane_results.items()
        }
        tested = _is_tested(lane_results, rulings)
        copy_counts = _copy_counts(patched, idle)
        chance_by_lane = (
            dict(zip(patched, chances(len(patched), tests, copy_counts), strict=True))
            if tests
            else {}
        )
        return cls(
            evidence=evidence,
            lane_results=lane_results,
            patched=patched,
            findings=findings_by_lane,
            gates=gate_reasons,
            rulings=rulings,
            rows=rows,
            groups=(*same, *cross_tests.same_results(rows, patched)),
            shared=shared(files),
            chances=chance_by_lane,
            idle=idle,
            decisions=decisions,
            agreed=frozenset(agreed),
            tested=tested,
            measures=[
                measure
                for measure in measures(
                    lane_results,
                    gate_reasons,
                    chance_by_lane,
                    same,
                    findings_by_lane,
                    {name: rulings[name].state for name in rulings},
                    rows,
                    {
                        lane: _tests(demanded, lane) - demanded[lane].looser
                        for lane in patched
                        if lane in demanded
                    },
                    idle,
                    taken,
                    evidence,
                )
                if tested or measure.name in UNTESTED
            ],
        )

    def may_land(self, lane: str) -> bool:
        """Whether it may land without being named."""
        alone = is_alone(self.evidence.checked, self.evidence.lanes)
        return may_land(self.rulings[lane].state, not self.gates[lane], alone)

    def reasons(self, lane: str) -> tuple[Reason, ...]:
        """What is said of a lane besides its gates."""
        reasons = explain.reasons(
            self.lane_results[lane],
            self.evidence,
            [finding for finding in self.findings[lane] if not self._is_said(lane, finding)],
            [row for row in self.rows if row.author == lane or not self._asks_the_old(row)],
            self.groups,
        )
        return (*self._decided(lane), *reasons)

    def _asks_the_old(self, row: CrossTest) -> bool:
        """Whether a patch that is held back brings it and the base passes it: of one that makes
        the tests fit the base's fault, what it asks speaks against no other."""
        return row.base == "passed" and bool(self.gates.get(row.author))

    def proof(self, lane: str) -> Proof:
        """What proves it."""
        if self.rulings[lane].state != "proved":
            return ""
        results = self.lane_results[lane]
        mended = fixed(results, self.findings[lane])
        if not mended:
            return "new"
        return "checks" if {*mended} <= {*results.whole_checks} - results.tests else "tests"

    def _decided(self, lane: str) -> Iterator[Reason]:
        """What it leaves to decide, unless a gate begins with just that."""
        decision = self.decisions.get(lane)
        if decision and not any(
            reason.text.startswith(decision.text) for reason in self.gates[lane]
        ):
            yield decision

    def _is_said(self, lane: str, finding: Finding) -> bool:
        """Whether a gate or the decision says it already, with what made it one."""
        decision = (self.decisions[lane],) if lane in self.decisions else ()
        return any(
            (reason.path, reason.line) == (finding.path or None, finding.line)
            and reason.text.startswith(finding.text)
            for reason in (*self.gates[lane], *decision)
        )

    def before_next(self, lane: str, order: Sequence[Sequence[str]]) -> tuple[str, str]:
        """The measure that puts a lane before the next, and a clause on it; "" for the last."""
        at = next(place for place, group in enumerate(order) if lane in group)
        for behind in order[at + 1 : at + 2]:
            by = deciding_measure(lane, behind[0], self.patched, self.measures)
            states = dict.fromkeys(self.rulings[name].state.replace("_", " ") for name in behind)
            state = " or ".join(states)
            are = "is" if len(behind) == 1 else "are"
            brings = tests_brought(self.lane_results[lane], self.rows, self.findings[lane])
            terms = {"are": are, "state": state, "brings": f"{brings:,}"}
            return by, DECIDES.get(by, "").format(joined(behind), **terms)
        return "", ""


def _demands(
    lane_results: Mapping[str, LaneResults],
    patched: Sequence[str],
    findings: Mapping[str, Sequence[Finding]],
    rows: Sequence[CrossTest],
    idle: Mapping[str, bool | None],
    same: Sequence[Group],
    evidence: Evidence,
) -> Mapping[str, Demand]:
    """What each lane may ask of the base's tests, by what else is known of all lanes."""
    asking = {lane: lane_results[lane] for lane in patched}
    if not any(map(contradicted, asking.values())):
        return {}
    gates_if_granted = {
        lane: gates(results, findings[lane], evidence, contradicted(results), contradicted(results))
        for lane, results in asking.items()
    }
    others = cross_tests.tests([row for row in rows if not row.changed], patched)
    lane_chances = chances(len(patched), others, _copy_counts(patched, idle)) if others else None
    return Demands(
        standings=asking,
        rows=rows,
        witnesses=[lane for lane in patched if idle[lane] is False and not gates_if_granted[lane]],
        unsure=[lane for lane in patched if idle[lane] is True and not gates_if_granted[lane]],
        suspected={lane: suspected(asking[lane], findings[lane]) for lane in patched},
        same=same,
        findings=findings,
        refused=[
            lane for lane in patched if {*gates_if_granted[lane]} - {*of_checks(asking[lane])}
        ],
        place={
            lane: (
                float(asking[lane].mended() or 0),
                -float(len(asking[lane].broken)),
                lane_chances[at] if lane_chances else 0.0,
            )
            for at, lane in enumerate(patched)
        },
    ).of_all()


def _tests(demanded: Mapping[str, Demand], lane: str) -> frozenset[str]:
    return frozenset(demanded[lane].tests) if lane in demanded else frozenset()


def _copy_counts(patched: Sequence[str], idle: Mapping[str, bool | None]) -> list[int]:
    """A lane that acts as the base agrees with nobody."""
    return [int(idle[lane] is not True) for lane in patched]


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


def _without(lane: LaneEvidence, ranking_state: _RankingState) -> LaneVerdict:
    reasons = ranking_state.gates[lane.lane]
    why = explain.why(reasons, ())
    lane_state = ranking_state.rulings[lane.lane]
    return LaneVerdict(
        lane=lane.lane,
        rank=None,
        state=lane_state.state,
        reason=lane_state.reason,
        gates=reasons,
        why=why,
    )


def _top(order: Sequence[Sequence[str]], ranking_state: _RankingState) -> str | None:
    """The one to land; of patches that are the same, the first in the race's own order."""
    first = order[0] if order else ()
    able = [lane for lane in first if ranking_state.may_land(lane)]
    is_decided = len(first) == 1 or _same(first, ranking_state)
    return able[0] if able and is_decided else None


def _is_tested(lane_results: Mapping[str, LaneResults], rulings: Mapping[str, LaneState]) -> bool:
    """Whether a check says something of a patch: it came to its end on one, or did on the base and
    does not with it."""
    told_apart = any(ruling.state in ("proved", "broken") for ruling in rulings.values())
    checks = (check for results in lane_results.values() for check in results.lane.checks)
    return told_apart or any(check.status in RAN and not check.untested for check in checks)


def _picks(
    top: str | None, order: Sequence[Sequence[str]], ranking_state: _RankingState
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What takes the tests of the top and the code of one that is equal to it in all tests, and of
    which nobody is to be asked."""
    if not top or len(order) < 2 or ranking_state.before_next(top, order)[0] != "tests":
        return (), ()
    lane_results, rows = ranking_state.lane_results, ranking_state.rows
    asking = {*ranking_state.decisions} - ranking_state.agreed
    for other in filter(ranking_state.may_land, [lane for lane in order[1] if lane not in asking]):
        both = picks_of_both(lane_results[other].lane, lane_results[top].lane, rows)
        if any(both):
            return both
    return (), ()


def _same(lanes: Sequence[str], ranking_state: _RankingState) -> Group | None:
    """The group of patches that are the same and that all of these are in."""
    same_groups = (group for group in ranking_state.groups if group.kind in _SAME)
    return next((group for group in same_groups if {*lanes} <= {*group.lanes}), None)


_SAME = {
    "identical": "left the very same patch",
    "equivalent": "left the same patch but for formatting, comments or the order of imports",
}


def _says(
    top: str | None,
    order: Sequence[Sequence[str]],
    lanes: Sequence[LaneVerdict],
    ranking_state: _RankingState,
) -> str:
    if top:
        first = next(lane for lane in lanes if lane.lane == top)
        group = _same(order[0], ranking_state) if first.tied else None
        same = f" ({joined(first.tied)} {_SAME[group.kind]})" if group else ""
        clauses = (first.reason, ranking_state.before_next(top, order)[1])
        return f"{top}{same}: {'; '.join(clause for clause in clauses if clause)}"
    ahead = [lane.lane for lane in lanes if lane.rank == 1]
    tied = [lane for lane in ahead if ranking_state.may_land(lane)]
    if tied:
        return f"{joined(tied)} are tied: {_undecided(tied, ranking_state)}"
    if not lanes:
        return "no lane left a patch"
    if not ranking_state.tested and len(ranking_state.evidence.lanes) > 1:
        return "nothing was tested: there is no first"
    first = lanes[0]
    state = first.state.replace("_", " ")
    if len(lanes) == 1:
        return f"{first.lane} is {state}: {first.reason}"
    none = f"none of {plural(lanes, 'patch')} is proved"
    if len(ahead) > 1:
        return f"{none}, and {joined(ahead)} are tied: {_undecided(ahead, ranking_state)}"
    return f"{none}; {first.lane} comes first, {state}: {first.reason}"


def _undecided(tied: Sequence[str], ranking_state: _RankingState) -> str:
    results = ranking_state.lane_results
    why = undecided(tied, ranking_state.rows, results)
    unrun_by_lane = (unrun(results[lane].lane, ranking_state.evidence) for lane in tied)
    paths = [*dict.fromkeys(path for paths in unrun_by_lane for path in paths)]
    return f"{why}, and {join_names(paths, NAMED)} {were(paths)} not run" if paths else why


def undecided(
    tied: Sequence[str],
    rows: Sequence[CrossTest],
    lane_results: Mapping[str, LaneResults] | None = None,
) -> str:
    """Why none of these comes first."""
    weighing = [row for row in rows if row.weighs]
    against = {
        lane
        for row in weighing
        for lane in tied
        if row.cells.get(lane) == "failed" and row.author in {*tied} - {lane}
    }
    if against == {*tied}:
        return f"each fails {'the other' if len(tied) == 2 else 'another'}'s new tests"
    if any(cross_tests.tells(row, tied) for row in weighing):
        return "new tests end differently on them, and nothing says which are right"
    tied_results = [lane_results[lane] for lane in tied] if lane_results else []
    pairs = {(frozenset(results.failing), frozenset(results.broken)) for results in tied_results}
    if len(pairs) > 1 or any(cross_tests.tells(row, tied) for row in rows):
        return "tests end differently on them, and none of these decides"
    return "no test tells them apart"


def _confidence(order: Sequence[Sequence[str]], ranking_state: _RankingState) -> WinnerConfidence:
    first = [lane for lane in (order[0] if order else ()) if ranking_state.may_land(lane)]
    if not first:
        return WinnerConfidence(word="unknown", why="no patch is proved")
    proof = min((ranking_state.proof(lane) for lane in first), key=_PROOFS.index)
    tests = cross_tests.tests(ranking_state.rows, ranking_state.patched)
    if not telling(tests) and any(row.is_from_review and row.weighs for row in ranking_state.rows):
        return WinnerConfidence(
            word="unknown",
            why="only tests asked of a model tell the patches apart",
            proof=proof,
        )
    # What a model was asked for may be asked again: neither proof nor witness comes of it here.
    without_review_tests = (
        _RankingState.of(replace(ranking_state.evidence, review_tests=()))
        if ranking_state.evidence.review_tests
        else ranking_state
    )
    index_of = {lane: at for at, lane in enumerate(ranking_state.patched)}
    sure = confidence(
        len(ranking_state.patched),
        tests,
        [index_of[lane] for lane in first],
        witnesses=[
            at
            for lane, at in index_of.items()
            if not (without_review_tests.gates[lane] or without_review_tests.idle[lane])
        ],
        proved=len(first) == 1 and without_review_tests.rulings[first[0]].state == "proved",
    )
    return replace(sure, proof=proof)


_PROOFS: Sequence[Proof] = ("", "new", "checks", "tests")
"""From the weakest on."""

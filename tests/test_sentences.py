"""No sentence of a verdict is false of the run, and no two of one lane contradict each other.

Runs are generated (`tests/support/generated_runs.py`); each sentence is read by a grammar
(`sentence_shapes.py`) and held against the run's raw results (`raw_facts.py`), which use no code of
the judge. HYDRA_GENERATED_RUNS=3000 tries more of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, note, settings
from msgspec.structs import asdict

from hydra.ranking.evidence import Evidence, LaneEvidence
from hydra.ranking.verdict import rank as verdict
from hydra.records.outcome import Patch
from tests.support.generated_runs import runs
from tests.support.raw_facts import Facts
from tests.support.rendering import comment, verdict_document
from tests.support.sentence_shapes import Clause, clauses, holds
from tests.support.verdicts import passes_gates

Document = dict[str, Any]

MANY = int(os.environ.get("HYDRA_GENERATED_RUNS", "100"))
WORDS = {"held_back": "held back"}


def document(evidence: Evidence) -> Document:
    """The result as a race records it, with its verdict."""
    result: Document = {
        "run": evidence.run,
        "lanes": [_lane(lane) for lane in evidence.lanes],
        "seconds": 300.0,
        "folder": "/state/runs/1",
    }
    data = verdict_document(verdict(evidence), evidence, result, "/state/runs/1")
    return {**result, "verdict": data}


def _lane(lane: LaneEvidence) -> Document:
    error = {"message": lane.ended.partition(": ")[2] or lane.ended} if lane.ended else None
    patch = _patch(lane.patch) if lane.patch else None
    return {"lane": lane.lane, "status": lane.status, "patch": patch, "error": error}


def _patch(patch: Patch) -> Document:
    return {**asdict(patch), "remarks": list(map(asdict, patch.remarks))}


def _proof(reason: str) -> str:
    return re.sub(r" \(\d+ passed\)", "", reason)


class Reading:
    """One run's document and what is true of it."""

    def __init__(self, evidence: Evidence) -> None:
        self.result = document(evidence)
        self.verdict: Document = self.result["verdict"]
        self.lanes: list[Document] = self.verdict["lanes"]
        self.facts = Facts(evidence)
        self.facts.states = {lane["lane"]: lane["state"] for lane in self.lanes}
        self.facts.reasons = {lane["lane"]: _proof(lane["reason"]) for lane in self.lanes}
        self.rows: dict[str, list[Clause]] = {lane["lane"]: [] for lane in self.lanes}

    def say(self, lane: str, sentence: str) -> None:
        """Reads a sentence that stands somewhere of a lane: it has a shape, and is true."""
        for clause in clauses(sentence, lane):
            note(f"{lane}: {sentence}")
            assert holds(clause, self.facts), f"false of {lane}: {clause.shape} in {sentence!r}"
            self.rows[lane].append(clause)


@pytest.mark.slow
@settings(max_examples=MANY)
@given(runs())
def test_no_sentence_is_false_or_contradicts_another_of_its_lane(evidence: Evidence) -> None:
    reading = Reading(evidence)
    for lane in reading.lanes:
        for sentence in _of_lane(lane):
            reading.say(lane["lane"], sentence)
    _says(reading)
    _screens(reading)
    for items in reading.rows.values():
        for row, other in combinations(dict.fromkeys(map(_frozen, items)), 2):
            assert not _contradict(row, other), f"{row} and {other}"
    _states(reading)
    _ranks(reading)
    _matrix(reading)
    _confidence(reading)


def _of_lane(lane: Document) -> Iterator[str]:
    yield lane["reason"]
    yield lane["why"]
    yield from (row["text"] for row in (*lane["gates"], *lane["reasons"]))
    if lane["decision"]:
        yield lane["decision"]


# Two sentences of one lane.

Frozen = tuple[str, frozenset[str], bool]

_TWO: Sequence[tuple[str, str, bool]] = (
    # Of the same other lane where the third is True.
    ("same new tests", "fails of", True),
    ("same new tests", "spoils", True),
    ("same tests", "fails of", True),
    ("same tests", "spoils", True),
    ("same patch", "fails of", True),
    ("same patch", "spoils", True),
    ("passes of", "fails of", True),
    ("breaks nothing", "breaks", False),
    ("breaks nothing", "breaks in", False),
    ("breaks nothing", "fails now", False),
    ("put back passes", "put back fails", False),
    ("put back passes", "base's fails", False),
    ("nothing", "kept", False),
    ("nothing", "fixes", False),
    ("no check", "passed", False),
    ("no check", "breaks nothing", False),
    ("red", "red too", False),
)


def _frozen(clause: Clause) -> Frozen:
    """Its shape's name, the other lanes that it names, and whether it says none."""
    name = clause.shape.rpartition(" (")[0]
    others = {clause.groups.get("lane"), *re.split(", | and ", clause.groups.get("lanes", ""))}
    none = bool(re.search("none|does not|without it", clause.groups.get("what", "")))
    return name, frozenset(filter(None, others)), none


def _contradict(row: Frozen, other: Frozen) -> bool:
    if {row[0], other[0]} <= {"fixes", "fixes in"} and row[0] != other[0]:
        whole, part = (row, other) if row[0] == "fixes" else (other, row)
        return whole[2] and not part[2]
    names = ((row, other), (other, row))
    return any(
        (mine[0], theirs[0]) == (first, second) and (not same or mine[1] & theirs[1])
        for mine, theirs in names
        for first, second, same in _TWO
    )


# The verdict's own sentence.

_ASK = r"(?P<lanes>[\w, -]+) are tied: (?P<why>.*)"


def _says(reading: Reading) -> None:
    """`says` names the top, or those that are tied, or the first and its state."""
    says, top = reading.verdict["says"], reading.verdict["top"]
    patched = [lane for lane in reading.lanes if lane["rank"] is not None]
    if not patched:
        assert (says, top) == ("no lane left a patch", None)
        return
    ahead = [lane["lane"] for lane in patched if lane["rank"] == 1]
    first = patched[0]
    if top:
        match = re.fullmatch(
            rf"{top}(?: \((?P<same>[\w, -]+) left the [^)]*\))?: (?P<why>.*)", says
        )
        assert match, says
        assert {top, *re.split(", | and ", match["same"] or top)} == {*ahead}, says
        reading.say(top, match["why"])
        return
    if _is_all_untested(reading):
        assert says == "nothing was tested: there is no first"
        return
    head = f"none of {len(patched)} patches is proved"
    name = f"{first['lane']} is {WORDS.get(first['state'], first['state'])}: {first['reason']}"
    led = f"; {first['lane']} comes first, {WORDS.get(first['state'], first['state'])}: "
    proved = [lane["lane"] for lane in patched if _may_land(lane, reading)]
    if tied := re.fullmatch(rf"(?:{head}, and )?{_ASK}", says):
        assert re.split(", | and ", tied["lanes"]) == ahead, says
        assert says.startswith(head) != bool(proved), says
        assert _is_undecided(reading.facts, ahead, tied["why"]), says
    else:
        assert says in (name, f"{head}{led}{first['reason']}"), says
        assert (proved, len(ahead)) == ([], 1)


def _may_land(lane: Document, reading: Reading) -> bool:
    alone = not reading.verdict["checked"] and len(reading.lanes) == 1
    return lane["state"] == "proved" or (alone and passes_gates(lane))


def _is_all_untested(reading: Reading) -> bool:
    return not reading.verdict["tested"] and len(reading.lanes) > 1


def _is_undecided(facts: Facts, tied: Sequence[str], why: str) -> bool:
    differ = any(facts.differ(name, other) for name, other in combinations(tied, 2))
    if why == "no test tells them apart":
        return not differ
    if why.startswith("each fails "):
        against = {
            lane
            for test in facts.telling()
            for lane in tied
            if test.author in tied and test.author != lane and facts.cell(test, lane) is False
        }
        return against == {*tied}
    if why == "new tests end differently on them, and nothing says which are right":
        return differ
    assert why == "tests end differently on them, and none of these decides"
    own = [{name: facts.own.get((lane, name)) for name in facts.base} for lane in tied]
    return differ or any(results != own[0] for results in own[1:])


def _screens(reading: Reading) -> None:
    """A comment begins with the lane that is landed, where there is one."""
    head = comment(reading.verdict).partition("\n")[0]
    top = reading.verdict["top"]
    assert (f"land `{top}`" in head) if top else "land " not in head


# States, ranks and codes.

_PROOFS = {"fixes", "turned", "own prove", "proved by", "proved by asked"}


def _states(reading: Reading) -> None:
    for lane in reading.lanes:
        name, state = lane["lane"], lane["state"]
        lines = {_frozen(clause)[0] for clause in clauses(lane["reason"], name)}
        idle = reading.facts.acts_as_base(name)
        if state == "proved":
            assert passes_gates(lane)
            assert lines & _PROOFS, lane["reason"]
            assert not idle, f"{name} acts as the base and is called proved"
            assert not reading.facts.broken(name, required=True)
        if state == "held_back":
            assert not passes_gates(lane)
    checked, lanes = reading.verdict["checked"], reading.lanes
    usable = any(_may_land(lane, reading) for lane in lanes)
    assert reading.verdict["exit_code"] == (0 if usable else 1)
    assert checked == any(lane.checks for lane in reading.facts.evidence.lanes) or bool(
        reading.facts.evidence.baseline
    )
    if top := reading.verdict["top"]:
        mine = next(lane for lane in lanes if lane["lane"] == top)
        assert mine["rank"] == 1
        assert _may_land(mine, reading)


_BEST = {"proved": 0, "untested": 1, "broken": 2, "held_back": 2}


def _ranks(reading: Reading) -> None:
    """A better state comes first, and lanes of one rank name each other."""
    patched = [lane for lane in reading.lanes if lane["rank"] is not None]
    order = [_BEST[lane["state"]] for lane in patched]
    assert order == sorted(order)
    for lane in patched:
        same = {row["lane"] for row in patched if row["rank"] == lane["rank"]}
        assert {*lane["tied"]} == same - {lane["lane"]}
    assert [lane["rank"] for lane in patched] == [
        1 + sum(row["rank"] < lane["rank"] for row in patched) for lane in patched
    ]
    ahead = [lane["lane"] for lane in patched if lane["rank"] == 1]
    if any(lane["state"] == "proved" for lane in patched):
        assert not any(reading.facts.acts_as_base(lane) for lane in ahead)


_ENDS: Mapping[str, bool] = {"passed": True, "own": True, "failed": False}


def _matrix(reading: Reading) -> None:
    """Each row has the ends that the trials had."""
    facts = reading.facts
    tests = {(brought.author, brought.check, brought.id): brought for brought in facts.brought}
    rows = [row for row in reading.verdict["cross"] if not row["author"].startswith("asked of ")]
    assert {(row["author"], row["check"], row["id"]) for row in rows} == {*tests}
    for row in rows:
        test = tests[row["author"], row["check"], row["id"]]
        if facts.is_unsteady(test):
            continue
        cells = {lane: _ENDS.get(cell) for lane, cell in row["cells"].items()}
        assert cells == {lane: facts.cell(test, lane) for lane in facts.patched}, row
        assert _ENDS.get(row["base"]) is facts.cell(test, "")


def _confidence(reading: Reading) -> None:
    data = reading.verdict["confidence"]
    why, facts = data["why"], reading.facts
    telling = facts.telling()
    proved = [lane for lane in reading.lanes if lane["rank"] and _may_land(lane, reading)]
    assert (why == "no patch is proved") == (not proved), why
    if why == "no new test tells the patches apart":
        assert not telling
    if agree := re.match(r"(\d) of (\d) patches agree on the new tests", why):
        winner = next(lane["lane"] for lane in reading.lanes if lane["rank"] == 1)
        row = [facts.cell(brought, winner) for brought in telling]
        alike = [
            name
            for name in facts.patched
            if [facts.cell(brought, name) for brought in telling] == row
        ]
        assert 1 < int(agree[1]) <= min(len(alike), int(agree[2])), why

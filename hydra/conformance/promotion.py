"""When an adapter may become Tier 1: seed 004's rules and seed 002's stages, as code.

Each is met or missing by evidence that lies in files (records, recordings, notes, issues) or in
the cases of the offline suite; nobody ticks anything. Tier 1 itself stays the owner's decision.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from hydra.adapters import detection
from hydra.adapters.contract import Adapter
from hydra.adapters.proofs.proven_capabilities import standing
from hydra.adapters.proofs.records import Record
from hydra.conformance.facts import LIMITS, PARSER, Facts, gather
from hydra.conformance.notes import ISSUES
from hydra.conformance.report.promotion import Promotion, Requirement
from hydra.conformance.results import Case
from hydra.conformance.stages import beside, live, of_cases, offline, reached, stages
from hydra.records.agent import Tier

CYCLES = 2
"""Consecutive minor releases of Hydra in which the probe suite has to pass on each platform."""

GRAVE = ("P0", "P1")

Cycle = tuple[int, ...]


def promotion(
    root: Path,
    adapters: Sequence[Adapter],
    cases: Iterable[Case] = (),
    *,
    elsewhere: Mapping[str, Path] | None = None,
    third_party: Collection[str] = (),
) -> list[Promotion]:
    """Each adapter against every rule, in their order.

    `cases` are what the offline suite has just said (what it was not asked, the newest record
    says); `elsewhere` are the roots of those whose files do not lie in `root`, by key;
    `third_party` names others' adapters that do not say so themselves. Raises `RecordError` or
    `ConfigError` for a file that cannot be understood.
    """
    places, items = elsewhere or {}, list(cases)
    return [
        judged(
            gather(
                adapter,
                places.get(adapter.key(), root),
                cases=items,
                third_party=adapter.key() in third_party,
            )
        )
        for adapter in adapters
    ]


def judged(facts: Facts) -> Promotion:
    """One agent's facts against every rule. Pure."""
    requirements, grown = rules(facts), stages(facts)
    return Promotion(
        agent=facts.key,
        label=facts.adapter.descriptor.label,
        tier=facts.adapter.descriptor.tier,
        third_party=facts.third_party,
        rules=requirements,
        stages=grown,
        stage=reached(grown),
        says=_says(facts, requirements, grown),
    )


def rules(facts: Facts) -> tuple[Requirement, ...]:
    """The seed's three rules; the first is one for each platform, the second for each half."""
    return (
        _platform(facts, "linux", "Linux"),
        _platform(facts, "windows", "Windows"),
        _parser(facts),
        _timeouts(facts),
        _issues(facts),
    )


def cycle(hydra: str) -> Cycle:
    """The minor release: `0.3.1` is of (0, 3)."""
    return (*detection.parts(hydra), 0, 0)[:2]


def follows(later: Cycle, earlier: Cycle) -> bool:
    """Whether no minor release lies between them: 0.4 after 0.3, 1.0 after any 0.x."""
    if later[0] == earlier[0]:
        return later[1] == earlier[1] + 1
    return later == (earlier[0] + 1, 0)


def passed(record: Record) -> bool:
    """Whether something was tried for the record, and nothing failed."""
    tried = [*(proof.passed for proof in record.situations.values()), *record.contract.values()]
    return bool(tried) and all(tried)


def _platform(facts: Facts, platform: str, label: str) -> Requirement:
    met, says = _cycles([record for record in facts.records if record.platform == platform], label)
    # A race is refused off Linux, so only the probes and the offline part can be recorded there.
    part = "probe suite" if platform == "linux" else "probe suite (without races)"
    command = live(facts) if platform == "linux" else f"{offline(facts)} --record"
    return Requirement(
        name=platform,
        text=f"{part} passes on {label} for {CYCLES} consecutive releases",
        met=met,
        says=says,
        command="" if met else f"{command}  (on {label})",
    )


def _cycles(records: Sequence[Record], label: str) -> tuple[bool, str]:
    """In each release the newest CLI that was tried counts; of the releases the newest two."""
    newest: dict[Cycle, Record] = {}
    for record in records:  # the newest version comes last
        newest[cycle(record.hydra)] = record
    last = sorted(newest.items())[-CYCLES:]
    if not last:
        return False, f"no record of a run on {label}"
    broken = [(of, record) for of, record in last if not passed(record)]
    if broken:
        of, record = broken[-1]
        return False, f"something failed in {record.version} with Hydra {_dotted(of)} on {label}"
    named = ", ".join(f"{record.version} with Hydra {_dotted(of)}" for of, record in last)
    if len(last) < CYCLES:
        return False, f"passed on {label} in one release only ({named}); the next one is needed"
    if not all(follows(later, earlier) for (earlier, _), (later, _) in pairwise(last)):
        return False, f"passed on {label} in releases that do not follow each other ({named})"
    return True, f"passed on {label}: {named}"


def _dotted(of: Cycle) -> str:
    return ".".join(map(str, of))


def _parser(facts: Facts) -> Requirement:
    met, says = of_cases(facts, PARSER, "the parser")
    if met and not facts.streams:
        met, says = False, "no stream of the real CLI is recorded with the events it gives"
    elif met:
        says = f"{says}, on {facts.streams} recorded streams of the real CLI"
    return Requirement(
        name="parser",
        text="conformance fixtures cover the parser",
        met=met,
        says=says,
        command="" if met else offline(facts) if facts.streams else live(facts),
    )


def _timeouts(facts: Facts) -> Requirement:
    met, says = of_cases(facts, LIMITS, "limits")
    seen = standing(facts.records, "limits")
    if met and seen is None:
        met, says = False, f"{says}, and no limit was tried live"
    elif met and seen is not None:
        met = seen.passed
        shown = f"{seen.situation} passed live in {seen.version} ({seen.evidence})"
        says = f"{says}; {seen.note or shown}"
    return Requirement(
        name="timeouts",
        text="conformance fixtures cover time-outs",
        met=met,
        says=says,
        command="" if met else live(facts) if facts.of(*LIMITS) else offline(facts),
    )


def _issues(facts: Facts) -> Requirement:
    place = beside(facts, ISSUES)
    grave = [issue for issue in facts.issues or () if issue.priority in GRAVE]
    met = facts.issues is not None and not grave
    if facts.issues is None:
        says = f"unknown: there is no {place}"
    elif grave:
        text = "; ".join(f"{issue.priority}: {issue.title}" for issue in grave)
        says = f"{text} (open in {place})"
    else:
        says = f"{place} has {len(facts.issues)} open, none of them P1 or worse"
    return Requirement(
        name="issues",
        text="no open P1 issue of its runtime path",
        met=met,
        says=says,
        # A list can be begun by hand; what is on it has to be mended, and shown to be.
        command="" if met else live(facts) if grave else f"$EDITOR {place}",
    )


def _says(facts: Facts, requirements: Sequence[Requirement], grown: Sequence[Requirement]) -> str:
    count = (
        f"{sum(requirement.met for requirement in requirements)} of {len(requirements)} rules met"
    )
    stage = f"stage {reached(grown)} of {len(grown)} reached"
    met = all(requirement.met for requirement in (*requirements, *grown))
    if facts.third_party:
        return f"a third party's, which stays experimental; {count}, {stage}"
    if facts.adapter.descriptor.tier is Tier.TIER1:
        why = "by the owner's decision" + ("" if met else ", not by these rules")
        return f"tier 1 {why}; {count}, {stage}"
    could = "nothing is missing: the owner may make it tier 1" if met else "stays experimental"
    return f"{could}; {count}, {stage}"

"""When an adapter may become Tier 1: seed 004's rules and seed 002's stages of maturity, as code.

Each is met or missing by evidence that lies in files (records, recordings, notes, issues) or in
the cases of the offline suite; nobody ticks anything. No stage is skipped: the one that counts is
the last before the first gap. Tier 1 itself stays the owner's decision.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct, field

from hydra.adapters import detection
from hydra.adapters.contract import Adapter
from hydra.adapters.proofs import records
from hydra.adapters.proofs.proven_capabilities import standing
from hydra.adapters.proofs.records import Record
from hydra.conformance import notes
from hydra.conformance.live.agent_settings import AGENTS, reaches
from hydra.conformance.notes import HEADINGS, ISSUES, NOTE, Issue
from hydra.conformance.recorded import recordings
from hydra.conformance.results import Case, CaseVerdict
from hydra.records.agent import Tier

CYCLES = 2
"""Consecutive minor releases of Hydra in which the probe suite has to pass on each platform."""

GRAVE = ("P0", "P1")

CORE = ("headless", "stream", "edit", "errors", "limits", "interrupt")
"""What has to be verified live before clients may count on an agent (stage 6)."""

Cycle = tuple[int, ...]

LINES, DETECTION, LIMITS = ("lines", "prompt"), ("detect",), ("limits",)
PARSER = ("streams", "endings", "hostile")
"""The offline suite's cases by what they are about: a case is called `<group>.<name>`."""


class Requirement(Struct, frozen=True, kw_only=True):
    """A rule or a stage. `says` is the evidence where it is met, else what is missing, in one
    sentence; `command` is what would provide it, "" where it is met."""

    name: str
    text: str
    met: bool
    says: str
    command: str = ""


class Promotion(Struct, frozen=True, kw_only=True):
    """One agent, held against the rules for Tier 1 and the stages of maturity.

    `stage` is the last one that was reached without a gap before it, 0 for none; `says` is the
    whole in one sentence.
    """

    agent: str
    label: str
    tier: Tier
    third_party: bool
    rules: tuple[Requirement, ...]
    stages: tuple[Requirement, ...]
    stage: int
    says: str

    @property
    def ready(self) -> bool:
        """Whether nothing is missing."""
        return all(requirement.met for requirement in (*self.rules, *self.stages))


class Facts(Struct, frozen=True, kw_only=True):
    """All that one agent is judged by.

    `cases` says of each case of the offline suite whether it passed (a skipped one is not there);
    `issues` is None where nobody keeps a list; `noted` whether its research note is whole;
    `streams` counts the recorded streams of the real CLI whose events somebody has put down;
    `real` is False where its answers to probes were written by hand.
    """

    adapter: Adapter
    records: Sequence[Record] = ()
    cases: Mapping[str, bool] = field(default_factory=dict)
    issues: Sequence[Issue] | None = None
    noted: bool = False
    streams: int = 0
    real: bool = True
    third_party: bool = False

    @property
    def key(self) -> str:
        """The name users type."""
        return self.adapter.key()

    def of(self, *groups: str) -> dict[str, bool]:
        """The cases of these groups: `lines` are those called `lines.<something>`."""
        return {name: passed for name, passed in self.cases.items() if _group(name) in groups}


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


def gather(
    adapter: Adapter, root: Path, *, cases: Iterable[Case] = (), third_party: bool = False
) -> Facts:
    """The facts of one agent whose files lie in `root`.

    `cases` are the suite's own of this run; of a group that has none there, those of the newest
    record count. Raises `RecordError` or `ConfigError` for a file that cannot be understood.
    """
    key = adapter.key()
    entries = records.read_all(root, key)
    versions = [recording for recording in recordings(root, key) if notes.is_real(recording.folder)]
    return Facts(
        adapter=adapter,
        records=entries,
        cases=_with_recorded(_tried(cases, key), entries),
        issues=notes.issues(root, key),
        noted=notes.noted(root, key),
        streams=sum(
            stream.expected is not None and not stream.synthetic
            for recording in versions
            for stream in recording.streams()
        ),
        real=bool(versions),
        third_party=third_party or adapter.descriptor.third_party is not None,
    )


def _with_recorded(tried: Mapping[str, bool], entries: Sequence[Record]) -> dict[str, bool]:
    last = next((record.contract for record in reversed(entries) if record.contract), {})
    groups = {_group(name) for name in tried}
    return {
        **{name: passed for name, passed in last.items() if _group(name) not in groups},
        **tried,
    }


def _group(name: str) -> str:
    return name.partition(".")[0]


def _tried(cases: Iterable[Case], key: str) -> dict[str, bool]:
    """A case that was tried on several versions passed where it passed on each."""
    tried: dict[str, bool] = {}
    for case in cases:
        mine = case.agent == key and case.suite == "contract"
        if mine and case.verdict is not CaseVerdict.SKIPPED:
            passed = case.verdict is CaseVerdict.PASSED
            tried[case.name] = tried.get(case.name, True) and passed
    return tried


Judged = tuple[bool, str]
"""Whether it is met, and the evidence or what is missing."""


def _requirements(*rows: tuple[str, str, Judged, str]) -> tuple[Requirement, ...]:
    """Each of a name, a text, whether it is met and why, and the command that would provide it."""
    return tuple(
        Requirement(name=name, text=text, met=met, says=says, command="" if met else command)
        for name, text, (met, says), command in rows
    )


def rules(facts: Facts) -> tuple[Requirement, ...]:
    """The seed's three rules; the first is one for each platform, the second for each half."""
    offline, live = _offline(facts), _live(facts)
    # A list can be begun by hand; what is on it has to be mended, and shown to be.
    grave = any(issue.priority in GRAVE for issue in facts.issues or ())
    mend = live if grave else f"$EDITOR {_beside(facts, ISSUES)}"
    cycles = f"for {CYCLES} consecutive releases"
    # A race is refused off Linux, so only the probes and the offline part can be recorded there.
    without = "probe suite (without races) passes on Windows"
    covered = "conformance fixtures cover"
    return _requirements(
        (
            "linux",
            f"probe suite passes on Linux {cycles}",
            _cycles(facts, "Linux"),
            f"{live}  (on Linux)",
        ),
        (
            "windows",
            f"{without} {cycles}",
            _cycles(facts, "Windows"),
            f"{offline} --record  (on Windows)",
        ),
        ("parser", f"{covered} the parser", _parsed(facts), offline if facts.streams else live),
        ("timeouts", f"{covered} time-outs", _timed(facts), live if facts.of(*LIMITS) else offline),
        ("issues", "no open P1 issue of its runtime path", _issues(facts), mend),
    )


def stages(facts: Facts) -> tuple[Requirement, ...]:
    """All six, in their order."""
    parsed, says = _parsed(facts)
    read_back, seen = _proven(facts, ("stream",))
    replayed = f"{facts.streams} recorded streams give their events; {seen}"
    replay = (parsed and read_back, (replayed if read_back else seen) if parsed else says)
    offline, live = _offline(facts), _live(facts)
    note = f"$EDITOR {_beside(facts, NOTE)}"
    core = f"client compatibility: {', '.join(CORE)} verified live, on docs/reference/agents.md"
    return _requirements(
        ("research", "research note: the CLI's shape and its risks", _noted(facts), note),
        (
            "command",
            "command construction: every line is tried",
            _of_cases(facts, LINES, "its lines"),
            offline,
        ),
        (
            "doctor",
            "doctor detection, with what to install and how to sign in",
            _detected(facts),
            offline,
        ),
        (
            "launch",
            "launch smoke: the real CLI edits a file in a scratch project",
            _proven(facts, ("edit",)),
            live,
        ),
        (
            "replay",
            "replay smoke: recorded streams give their events, a run's are read back",
            replay,
            live if parsed or not facts.streams else offline,
        ),
        ("clients", core, _counted_on(facts), live),
    )


def reached(requirements: Sequence[Requirement]) -> int:
    """The last stage before the first gap, 0 for none."""
    return next(
        (number for number, requirement in enumerate(requirements) if not requirement.met),
        len(requirements),
    )


def _offline(facts: Facts) -> str:
    """The command that runs the agent's offline suite."""
    return f"hydra conformance {facts.key}"


def _beside(facts: Facts, name: str) -> str:
    """Where a file about the agent lies: a third party's beside its module."""
    return f"fixtures/{'' if facts.third_party else 'adapters/'}{facts.key}/{name}"


def _live(facts: Facts) -> str:
    """What tries the installed CLI and keeps what came of it; first of all Hydra has to know how
    the CLI finds its model server."""
    is_known = facts.key in reaches()
    place = f"hydra/conformance/live/{AGENTS.name}"
    return f"{_offline(facts)} --live --record" if is_known else f"$EDITOR {place}"


def _parsed(facts: Facts) -> Judged:
    met, says = _of_cases(facts, PARSER, "the parser")
    if met and not facts.streams:
        return False, "no stream of the real CLI is recorded with the events it gives"
    return met, f"{says}, on {facts.streams} recorded streams of the real CLI" if met else says


def _timed(facts: Facts) -> Judged:
    met, says = _of_cases(facts, LIMITS, "limits")
    seen = standing(facts.records, "limits")
    if not met:
        return met, says
    if seen is None:
        return False, f"{says}, and no limit was tried live"
    shown = f"{seen.situation} passed live in {seen.version} ({seen.evidence})"
    return seen.passed, f"{says}; {seen.note or shown}"


def _issues(facts: Facts) -> Judged:
    place = _beside(facts, ISSUES)
    grave = [issue for issue in facts.issues or () if issue.priority in GRAVE]
    if facts.issues is None:
        return False, f"unknown: there is no {place}"
    if grave:
        text = "; ".join(f"{issue.priority}: {issue.title}" for issue in grave)
        return False, f"{text} (open in {place})"
    return True, f"{place} has {len(facts.issues)} open, none of them P1 or worse"


def _noted(facts: Facts) -> Judged:
    place = _beside(facts, NOTE)
    text = " and ".join(heading.removeprefix("## ") for heading in HEADINGS)
    return facts.noted, place if facts.noted else f"{place} does not say something under {text}"


def _detected(facts: Facts) -> Judged:
    descriptor = facts.adapter.descriptor
    hints = {"an install hint": descriptor.install_hint, "a sign-in hint": descriptor.sign_in_hint}
    lacking = [what for what, hint in hints.items() if not hint]
    met, says = _of_cases(facts, DETECTION, "detection")
    if met and lacking:
        return False, f"its descriptor lacks {' and '.join(lacking)}"
    return met, says


def _counted_on(facts: Facts) -> Judged:
    met, says = _proven(facts, CORE)
    if met and facts.third_party:
        return False, "Hydra's own pages and tests do not cover a third party's adapter"
    return met, says


def _of_cases(facts: Facts, groups: Iterable[str], what: str) -> tuple[bool, str]:
    """Whether the suite's cases of these groups passed, and a sentence about it."""
    tried = facts.of(*groups)
    failed = sorted(name for name, passed in tried.items() if not passed)
    if not tried:
        return False, f"no case of the offline suite about {what} was tried"
    if failed:
        return False, f"{', '.join(failed)} failed"
    by_hand = "" if facts.real else ", on answers of the CLI that were written by hand"
    return True, f"{len(tried)} cases about {what} passed{by_hand}"


def _proven(facts: Facts, dimensions: Iterable[str]) -> tuple[bool, str]:
    """Whether each dimension passed live where it was tried last, and a sentence about it."""
    proofs = {name: standing(facts.records, name) for name in dimensions}
    untried = [name for name, proof in proofs.items() if proof is None]
    dimension_proofs = [proof for proof in proofs.values() if proof is not None]
    failed = [proof for proof in dimension_proofs if not proof.passed]
    if failed:
        return False, failed[0].note
    if untried:
        return False, f"never tried live: {', '.join(untried)}"
    files = dict.fromkeys(proof.evidence for proof in dimension_proofs)
    where = {f"{proof.version} on {proof.platform}" for proof in dimension_proofs}
    return True, f"passed live in {', '.join(sorted(where))} ({', '.join(files)})"


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


def _cycles(facts: Facts, label: str) -> Judged:
    """In each release the newest CLI that was tried counts; of the releases the newest two."""
    mine = [record for record in facts.records if record.platform == label.lower()]
    newest = {cycle(record.hydra): record for record in mine}  # the newest version comes last
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

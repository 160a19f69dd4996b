"""When an adapter may become Tier 1: seed 004's rules and seed 002's stages of maturity, as tables.

Each is met or missing by evidence that lies in files (records, recordings, notes, issues) or in
the cases of the offline suite; nobody ticks anything. No stage is skipped: the one that counts is
the last before the first gap. Tier 1 itself stays the owner's decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import asdict

from hydra.adapters import detection
from hydra.adapters.proofs import records
from hydra.adapters.proofs.proven_capabilities import standing
from hydra.adapters.proofs.records import Record
from hydra.conformance import notes
from hydra.conformance.contract.subject import ContractSubject
from hydra.conformance.live.agent_settings import AGENTS, reaches
from hydra.conformance.matrix import tier_named
from hydra.conformance.results import Case, CaseVerdict
from hydra.records.agent import Tier
from hydra.records.codec import SCHEMA
from hydra.report.document import Document
from hydra.report.markdown import code, inert, rows_table
from hydra.report.style import paint
from hydra.report.text import clean, wrapped

CYCLES = 2
"""Consecutive minor releases of Hydra in which the probe suite has to pass on each platform."""

GRAVE = ("P0", "P1")

CORE = ("headless", "stream", "edit", "errors", "limits", "interrupt")
"""What has to be verified live before clients may count on an agent (stage 6)."""

LINES, DETECTION, LIMITS = ("lines", "prompt"), ("detect",), ("limits",)
PARSER = ("streams", "endings", "hostile")
"""The offline suite's cases by what they are about: a case is called `<group>.<name>`."""

Judged = tuple[bool, str]
"""Whether it is met, and the evidence or what is missing."""


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


class Promotions(Struct, frozen=True):
    """Each agent, in their order."""

    agents: tuple[Promotion, ...]

    def document(self) -> Document:
        """As JSON-ready data."""
        agents = [
            {
                **asdict(promotion),
                "tier": promotion.tier.value,
                "rules": list(map(asdict, promotion.rules)),
                "stages": list(map(asdict, promotion.stages)),
                "ready": promotion.ready,
            }
            for promotion in self.agents
        ]
        return {"schema": SCHEMA, "kind": "promotion", "agents": agents}

    def text(self, width: int | None, color: bool = False) -> str:
        """Each agent with its rules and stages, and below what is missing the command for it."""
        return "\n".join("\n".join(_agent(each, width, color)) + "\n" for each in self.agents)

    def markdown(self) -> str:
        """The same as Markdown; ends with a newline."""
        return "\n\n".join(block for each in self.agents for block in _section(each)) + "\n"


class _Facts(Struct, frozen=True, kw_only=True):
    """All that one agent is judged by.

    `cases` says of each case of the offline suite whether it passed (a skipped one is not there);
    `streams` counts the recorded streams of the real CLI whose events somebody has put down;
    `real` is False where its answers to probes were written by hand.
    """

    subject: ContractSubject
    records: Sequence[Record]
    cases: Mapping[str, bool]
    streams: int
    real: bool

    def beside(self, name: str) -> str:
        """Where a file about the agent lies: a third party's beside its module."""
        folder = "" if self.subject.third_party else "adapters/"
        return f"fixtures/{folder}{self.subject.key}/{name}"

    def tried(self, groups: Iterable[str]) -> dict[str, bool]:
        """The cases of these groups: `lines` are those called `lines.<something>`."""
        return {name: passed for name, passed in self.cases.items() if _group(name) in groups}

    def passed(self, groups: Iterable[str], what: str) -> Judged:
        """Whether the suite's cases of these groups passed."""
        tried = self.tried(groups)
        failed = sorted(name for name, passed in tried.items() if not passed)
        if not tried:
            return False, f"no case of the offline suite about {what} was tried"
        if failed:
            return False, f"{', '.join(failed)} failed"
        by_hand = "" if self.real else ", on answers of the CLI that were written by hand"
        return True, f"{len(tried)} cases about {what} passed{by_hand}"

    def proven(self, dimensions: Iterable[str]) -> Judged:
        """Whether each dimension passed live where it was tried last."""
        proofs = {name: standing(self.records, name) for name in dimensions}
        tried = [proof for proof in proofs.values() if proof is not None]
        for proof in tried:
            if not proof.passed:
                return False, proof.note
        if len(tried) < len(proofs):
            untried = [name for name, proof in proofs.items() if proof is None]
            return False, f"never tried live: {', '.join(untried)}"
        files = dict.fromkeys(proof.evidence for proof in tried)
        where = sorted({f"{proof.version} on {proof.platform}" for proof in tried})
        return True, f"passed live in {', '.join(where)} ({', '.join(files)})"


def promotion(subjects: Sequence[ContractSubject], cases: Iterable[Case] = ()) -> Promotions:
    """Each adapter against every rule, in their order.

    `cases` are what the offline suite has just said (what it was not asked, the newest record
    says). Raises `RecordError` or `ConfigError` for a file that cannot be understood.
    """
    now = list(cases)
    return Promotions(tuple(_judged(_facts(subject, now)) for subject in subjects))


def _facts(subject: ContractSubject, cases: Sequence[Case]) -> _Facts:
    entries = records.read_all(subject.recordings, subject.key)
    versions = [version for version in subject.versions() if notes.is_real(version.folder)]
    now: dict[str, bool] = {}  # a case that was tried on several versions has to pass on each
    for case in cases:
        mine = case.agent == subject.key and case.suite == "contract"
        if mine and case.verdict is not CaseVerdict.SKIPPED:
            passed = case.verdict is CaseVerdict.PASSED
            now[case.name] = now.get(case.name, True) and passed
    last = next((record.contract for record in reversed(entries) if record.contract), {})
    groups = {_group(name) for name in now}
    before = {name: passed for name, passed in last.items() if _group(name) not in groups}
    return _Facts(
        subject=subject,
        records=entries,
        cases=before | now,
        streams=sum(
            stream.expected is not None and not stream.synthetic
            for version in versions
            for stream in version.streams()
        ),
        real=bool(versions),
    )


def _group(name: str) -> str:
    return name.partition(".")[0]


def _judged(facts: _Facts) -> Promotion:
    descriptor, third_party = facts.subject.adapter.descriptor, facts.subject.third_party
    rules, stages = (
        tuple(
            Requirement(name=name, text=text, met=met, says=says, command="" if met else command)
            for name, text, (met, says), command in rows
        )
        for rows in (_rules(facts), _stages(facts))
    )
    stage = next((n for n, each in enumerate(stages) if not each.met), len(stages))
    met = sum(rule.met for rule in rules)
    whole = met == len(rules) and stage == len(stages)
    if third_party:
        first = "a third party's, which stays experimental"
    elif descriptor.tier is Tier.TIER1:
        first = f"tier 1 by the owner's decision{'' if whole else ', not by these rules'}"
    else:
        first = (
            "nothing is missing: the owner may make it tier 1" if whole else "stays experimental"
        )
    return Promotion(
        agent=facts.subject.key,
        label=descriptor.label,
        tier=descriptor.tier,
        third_party=third_party,
        rules=rules,
        stages=stages,
        stage=stage,
        says=f"{first}; {met} of {len(rules)} rules met, stage {stage} of {len(stages)} reached",
    )


_Rows = tuple[tuple[str, str, Judged, str], ...]
"""Each of a name, a text, whether it is met and why, and the command that would provide it."""


def _rules(facts: _Facts) -> _Rows:
    """The seed's three rules; the first is one for each platform, the second for each half."""
    offline, live = _commands(facts)
    issues, grave = _issues(facts)
    releases = f"for {CYCLES} consecutive releases"
    # A race is refused off Linux, so only the probes and the offline part can be recorded there.
    without = "probe suite (without races) passes on Windows"
    covered = "conformance fixtures cover"
    on_linux, on_windows = (f"{live}  (on Linux)", f"{offline} --record  (on Windows)")
    # A list can be begun by hand; what is on it has to be mended, and shown to be.
    mend = live if grave else f"$EDITOR {facts.beside(notes.ISSUES)}"
    missing = live if facts.tried(LIMITS) else offline
    parser = offline if facts.streams else live
    return (
        ("linux", f"probe suite passes on Linux {releases}", _cycles(facts, "Linux"), on_linux),
        ("windows", f"{without} {releases}", _cycles(facts, "Windows"), on_windows),
        ("parser", f"{covered} the parser", _parsed(facts), parser),
        ("timeouts", f"{covered} time-outs", _timed(facts), missing),
        ("issues", "no open P1 issue of its runtime path", issues, mend),
    )


def _stages(facts: _Facts) -> _Rows:
    """All six, in their order."""
    offline, live = _commands(facts)
    note = f"$EDITOR {facts.beside(notes.NOTE)}"
    parsed, says = _parsed(facts)
    read_back, seen = facts.proven(("stream",))
    replayed = f"{facts.streams} recorded streams give their events; {seen}"
    replay = (parsed and read_back, (replayed if read_back else seen) if parsed else says)
    core = f"client compatibility: {', '.join(CORE)} verified live, on docs/reference/agents.md"
    smoke = "replay smoke: recorded streams give their events, a run's are read back"
    counted = facts.proven(CORE)
    if counted[0] and facts.subject.third_party:
        counted = False, "Hydra's own pages and tests do not cover a third party's adapter"
    built = facts.passed(LINES, "its lines")
    doctor = "doctor detection, with what to install and how to sign in"
    launch = "launch smoke: the real CLI edits a file in a scratch project"
    again = live if parsed or not facts.streams else offline
    return (
        ("research", "research note: the CLI's shape and its risks", _noted(facts), note),
        ("command", "command construction: every line is tried", built, offline),
        ("doctor", doctor, _detected(facts), offline),
        ("launch", launch, facts.proven(("edit",)), live),
        ("replay", smoke, replay, again),
        ("clients", core, counted, live),
    )


def _commands(facts: _Facts) -> tuple[str, str]:
    """What runs the agent's offline suite; and what tries the installed CLI and keeps what came of
    it: first of all Hydra has to know how the CLI finds its model server."""
    offline = f"hydra conformance {facts.subject.key}"
    place = f"$EDITOR hydra/conformance/live/{AGENTS.name}"
    return offline, f"{offline} --live --record" if facts.subject.key in reaches() else place


def _parsed(facts: _Facts) -> Judged:
    met, says = facts.passed(PARSER, "the parser")
    if met and not facts.streams:
        return False, "no stream of the real CLI is recorded with the events it gives"
    return met, f"{says}, on {facts.streams} recorded streams of the real CLI" if met else says


def _timed(facts: _Facts) -> Judged:
    met, says = facts.passed(LIMITS, "limits")
    seen = standing(facts.records, "limits")
    if not met:
        return met, says
    if seen is None:
        return False, f"{says}, and no limit was tried live"
    shown = f"{seen.situation} passed live in {seen.version} ({seen.evidence})"
    return seen.passed, f"{says}; {seen.note or shown}"


def _issues(facts: _Facts) -> tuple[Judged, bool]:
    """And whether a grave one is open."""
    place = facts.beside(notes.ISSUES)
    issues = notes.issues(facts.subject.recordings, facts.subject.key)
    if issues is None:
        return (False, f"unknown: there is no {place}"), False
    grave = [f"{each.priority}: {each.title}" for each in issues if each.priority in GRAVE]
    if grave:
        return (False, f"{'; '.join(grave)} (open in {place})"), True
    return (True, f"{place} has {len(issues)} open, none of them P1 or worse"), False


def _noted(facts: _Facts) -> Judged:
    place = facts.beside(notes.NOTE)
    text = " and ".join(heading.removeprefix("## ") for heading in notes.HEADINGS)
    noted = notes.noted(facts.subject.recordings, facts.subject.key)
    return noted, place if noted else f"{place} does not say something under {text}"


def _detected(facts: _Facts) -> Judged:
    descriptor = facts.subject.adapter.descriptor
    hints = {"an install hint": descriptor.install_hint, "a sign-in hint": descriptor.sign_in_hint}
    lacking = [what for what, hint in hints.items() if not hint]
    met, says = facts.passed(DETECTION, "detection")
    return (
        (False, f"its descriptor lacks {' and '.join(lacking)}") if met and lacking else (met, says)
    )


Cycle = tuple[int, ...]


def cycle(hydra: str) -> Cycle:
    """The minor release: `0.3.1` is of (0, 3)."""
    return (*detection.parts(hydra), 0, 0)[:2]


def follows(later: Cycle, earlier: Cycle) -> bool:
    """Whether no minor release lies between them: 0.4 after 0.3, 1.0 after any 0.x."""
    if later[0] == earlier[0]:
        return later[1] == earlier[1] + 1
    return later == (earlier[0] + 1, 0)


def _passed(record: Record) -> bool:
    """Whether something was tried for the record, and nothing failed."""
    tried = [*(proof.passed for proof in record.situations.values()), *record.contract.values()]
    return bool(tried) and all(tried)


def _cycles(facts: _Facts, label: str) -> Judged:
    """In each release the newest CLI that was tried counts; of the releases the newest two."""
    mine = [record for record in facts.records if record.platform == label.lower()]
    newest = {cycle(record.hydra): record for record in mine}  # the newest version comes last
    last = sorted(newest.items())[-CYCLES:]
    names = [f"{record.version} with Hydra {'.'.join(map(str, of))}" for of, record in last]
    if not last:
        return False, f"no record of a run on {label}"
    if broken := [name for name, (_, each) in zip(names, last, strict=True) if not _passed(each)]:
        return False, f"something failed in {broken[-1]} on {label}"
    named = ", ".join(names)
    if len(last) < CYCLES:
        return False, f"passed on {label} in one release only ({named}); the next one is needed"
    if not all(follows(later, earlier) for (earlier, _), (later, _) in pairwise(last)):
        return False, f"passed on {label} in releases that do not follow each other ({named})"
    return True, f"passed on {label}: {named}"


# as text, as Markdown


def _agent(each: Promotion, width: int | None, color: bool) -> Iterator[str]:
    tier = tier_named(each.tier, each.third_party)
    yield f"{paint(clean(each.agent), 'bold', color)}  {tier}"
    yield from _wrapped(each.says, width, 2)
    for title, all in (
        ("rules for tier 1", each.rules),
        (f"stages of maturity: {each.stage} of {len(each.stages)} reached", each.stages),
    ):
        yield from ("", f"  {title}")
        for number, requirement in enumerate(all, 1):
            term, style = ("met", "good") if requirement.met else ("MISSING", "bad")
            first, *rest = _wrapped(f"{number} {requirement.text}", width, 11)
            yield f"  {paint(term, style, color)}{first[2 + len(term) :]}"
            yield from rest
            yield from _wrapped(requirement.says, width, 13)
            if requirement.command:
                yield from _wrapped(f"-> {requirement.command}", width, 13)


def _wrapped(text: str, width: int | None, indent: int) -> Iterator[str]:
    yield from (f"{'':{indent}}{part}" for part in wrapped(clean(text), width, indent, least=20))


def _section(each: Promotion) -> Iterator[str]:
    tier = tier_named(each.tier, each.third_party)
    yield f"## {inert(each.label)} ({code(each.agent)}, {tier})"
    yield inert(each.says)
    yield _table("Rule for tier 1", each.rules)
    yield f"Stage {each.stage} of {len(each.stages)} is reached."
    yield _table("Stage", each.stages)


def _table(title: str, all: Sequence[Requirement]) -> str:
    rows = [
        (
            str(number),
            inert(requirement.text),
            "met" if requirement.met else "**missing**",
            inert(requirement.says, 1000),
            code(requirement.command),
        )
        for number, requirement in enumerate(all, 1)
    ]
    head = ("", title, "", "Evidence, or what is missing", "What would provide it")
    return rows_table(head, rows)

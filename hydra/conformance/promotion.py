"""When an adapter may become Tier 1: seed 004's rules and seed 002's stages of maturity, as tables.

Each is met or missing by evidence that lies in files (records, recordings, notes, issues) or in
the cases of the offline suite; nobody ticks anything. No stage is skipped: the one that counts is
the last before the first gap. Tier 1 itself stays the owner's decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise, takewhile

from msgspec import Struct, to_builtins

from hydra.adapters import detection
from hydra.adapters.proofs import records
from hydra.adapters.proofs.proven_capabilities import standing
from hydra.conformance import notes
from hydra.conformance.contract.subject import ContractSubject
from hydra.conformance.live.agent_settings import AGENTS, reaches
from hydra.conformance.matrix import AgentSection, verdicts
from hydra.conformance.results import Case, CaseVerdict
from hydra.records.agent import Tier
from hydra.records.codec import SCHEMA
from hydra.report.document import Document
from hydra.report.markdown import code, inert, rows_table
from hydra.report.style import paint
from hydra.report.text import clean, hanging, labelled

CYCLES = 2
"""Consecutive minor releases of Hydra in which the probe suite has to pass on each platform."""

GRAVE = ("P0", "P1")

CORE = ("headless", "stream", "edit", "errors", "limits", "interrupt")
"""What has to be verified live before clients may count on an agent (stage 6)."""

LINES, DETECTION, LIMITS = ("lines", "prompt"), ("detect",), ("limits",)
PARSER = ("streams", "endings", "hostile")
"""The offline suite's cases by what they are about: a case is called `<group>.<name>`."""

# A race is refused off Linux, so only the probes and the offline part can be recorded there.
RULES = {
    "linux": f"probe suite passes on Linux for {CYCLES} consecutive releases",
    "windows": f"probe suite (without races) passes on Windows for {CYCLES} consecutive releases",
    "parser": "conformance fixtures cover the parser",
    "timeouts": "conformance fixtures cover time-outs",
    "issues": "no open P1 issue of its runtime path",
}
"""The seed's three rules; the first is one for each platform, the second for each half."""

STAGES = {
    "research": "research note: the CLI's shape and its risks",
    "command": "command construction: every line is tried",
    "doctor": "doctor detection, with what to install and how to sign in",
    "launch": "launch smoke: the real CLI edits a file in a scratch project",
    "replay": "replay smoke: recorded streams give their events, a run's are read back",
    "clients": f"client compatibility: {', '.join(CORE)}"
    " verified live, on docs/reference/agents.md",
}
"""All six, in their order."""

_Answer = tuple[str, str]
"""The evidence and "", or what is missing and the command that would provide it."""


class Requirement(Struct, frozen=True):
    """A rule or a stage. `says` is the evidence where it is met, else what is missing, in one
    sentence; `command` is what would provide it, "" where it is met."""

    name: str
    text: str
    met: bool
    says: str
    command: str


class Promotion(AgentSection, frozen=True):
    """One agent, held against the rules for Tier 1 and the stages of maturity.

    `stage` is the last one that was reached without a gap before it, 0 for none; `says` is the
    whole in one sentence.
    """

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
        agents = [{**to_builtins(each), "ready": each.ready} for each in self.agents]
        return {"schema": SCHEMA, "kind": "promotion", "agents": agents}

    def text(self, width: int | None, color: bool = False) -> str:
        """Each agent with its rules and stages, and below what is missing the command for it."""
        return "\n".join("\n".join(_agent(each, width, color)) + "\n" for each in self.agents)

    def markdown(self) -> str:
        """The same as Markdown; ends with a newline."""
        return "\n\n".join(block for each in self.agents for block in _section(each)) + "\n"


class _Evidence:
    """All that one agent is judged by, and each thing that is judged.

    `cases` says of each case of the offline suite whether it passed (a skipped one is not in it):
    as it has just been tried, else as the newest record has its group. `streams` counts the
    recorded streams of the real CLI whose events somebody has put down; `real` is False where its
    answers to probes were written by hand.
    """

    def __init__(self, subject: ContractSubject, cases: Sequence[Case]) -> None:
        self.subject = subject
        self.records = records.read_all(subject.recordings, subject.key)
        mine = [c for c in cases if (c.agent, c.suite) == (subject.key, "contract")]
        tried = [case for case in mine if case.verdict is not CaseVerdict.SKIPPED]
        failed = {case.name for case in tried if case.verdict is CaseVerdict.FAILED}
        groups = {_group(case.name) for case in tried}
        last = next((each.contract for each in reversed(self.records) if each.contract), {})
        self.cases = {name: passed for name, passed in last.items() if _group(name) not in groups}
        self.cases |= {case.name: case.name not in failed for case in tried}
        real = [version for version in subject.versions() if notes.is_real(version.folder)]
        streams = [stream for version in real for stream in version.streams()]
        self.real = bool(real)
        self.streams = sum(s.expected is not None and not s.synthetic for s in streams)
        # What runs the offline suite; and what tries the installed CLI and keeps what came of it:
        # first of all Hydra has to know how the CLI finds its model server.
        self.offline = f"hydra conformance {subject.key}"
        place = f"$EDITOR hydra/conformance/live/{AGENTS.name}"
        self.live = f"{self.offline} --live --record" if subject.key in reaches() else place

    def beside(self, name: str) -> str:
        """Where a file about the agent lies: a third party's beside its module."""
        folder = "" if self.subject.third_party else "adapters/"
        return f"fixtures/{folder}{self.subject.key}/{name}"

    def answers(self) -> dict[str, _Answer]:
        """By each rule's and each stage's name."""
        return {
            "linux": self.released("Linux", f"{self.live}  (on Linux)"),
            "windows": self.released("Windows", f"{self.offline} --record  (on Windows)"),
            "parser": self.parsed(),
            "timeouts": self.timed(),
            "issues": self.unhindered(),
            "research": self.noted(),
            "command": self.passed(LINES, "its lines"),
            "doctor": self.detected(),
            "launch": self.proven("edit"),
            "replay": self.replayed(),
            "clients": self.counted_on(),
        }

    def passed(self, groups: Iterable[str], about: str) -> _Answer:
        """Whether the suite's cases of these groups passed."""
        tried = {name: passed for name, passed in self.cases.items() if _group(name) in groups}
        failed = sorted(name for name, passed in tried.items() if not passed)
        if not tried:
            return f"no case of the offline suite about {about} was tried", self.offline
        if failed:
            return f"{', '.join(failed)} failed", self.offline
        by_hand = "" if self.real else ", on answers of the CLI that were written by hand"
        return f"{len(tried)} cases about {about} passed{by_hand}", ""

    def proven(self, *dimensions: str) -> _Answer:
        """Whether each dimension passed live where it was tried last."""
        proofs = {name: standing(self.records, name) for name in dimensions}
        tried = [proof for proof in proofs.values() if proof is not None]
        if failed := [proof.note for proof in tried if not proof.passed]:
            return failed[0], self.live
        if untried := [name for name, proof in proofs.items() if proof is None]:
            return f"never tried live: {', '.join(untried)}", self.live
        files = dict.fromkeys(proof.evidence for proof in tried)
        where = sorted({f"{proof.version} on {proof.platform}" for proof in tried})
        return f"passed live in {', '.join(where)} ({', '.join(files)})", ""

    def released(self, label: str, command: str) -> _Answer:
        """In each release the newest CLI that was tried counts; of the releases the newest two."""
        mine = [record for record in self.records if record.platform == label.lower()]
        newest = {cycle(record.hydra): record for record in mine}  # the newest version comes last
        last = sorted(newest.items())[-CYCLES:]
        names = [f"{each.version} with Hydra {'.'.join(map(str, of))}" for of, each in last]
        # Something was tried, and nothing failed.
        good = [set(verdicts(each).values()) == {True} for _, each in last]
        named = ", ".join(names)
        if not last:
            says = f"no record of a run on {label}"
        elif broken := [name for name, passed in zip(names, good, strict=True) if not passed]:
            says = f"something failed in {broken[-1]} on {label}"
        elif len(last) < CYCLES:
            says = f"passed on {label} in one release only ({named}); the next one is needed"
        elif not all(follows(later, earlier) for (earlier, _), (later, _) in pairwise(last)):
            says = f"passed on {label} in releases that do not follow each other ({named})"
        else:
            return f"passed on {label}: {named}", ""
        return says, command

    def parsed(self) -> _Answer:
        says, command = self.passed(PARSER, "the parser")
        if not self.streams:
            none = "no stream of the real CLI is recorded with the events it gives"
            return says if command else none, self.live
        on = f", on {self.streams} recorded streams of the real CLI"
        return says if command else f"{says}{on}", command

    def timed(self) -> _Answer:
        says, command = self.passed(LIMITS, "limits")
        seen = standing(self.records, "limits")
        if command:
            tried = any(_group(name) in LIMITS for name in self.cases)
            return says, self.live if tried else command
        if seen is None:
            return f"{says}, and no limit was tried live", self.live
        shown = f"{seen.situation} passed live in {seen.version} ({seen.evidence})"
        return f"{says}; {seen.note or shown}", "" if seen.passed else self.live

    def unhindered(self) -> _Answer:
        """A list can be begun by hand; what is on it has to be mended, and shown to be."""
        place = self.beside(notes.ISSUES)
        issues = notes.issues(self.subject.recordings, self.subject.key)
        if issues is None:
            return f"unknown: there is no {place}", f"$EDITOR {place}"
        if grave := [f"{each.priority}: {each.title}" for each in issues if each.priority in GRAVE]:
            return f"{'; '.join(grave)} (open in {place})", self.live
        return f"{place} has {len(issues)} open, none of them P1 or worse", ""

    def noted(self) -> _Answer:
        place = self.beside(notes.NOTE)
        if notes.noted(self.subject.recordings, self.subject.key):
            return place, ""
        text = " and ".join(heading.removeprefix("## ") for heading in notes.HEADINGS)
        return f"{place} does not say something under {text}", f"$EDITOR {place}"

    def detected(self) -> _Answer:
        says, command = self.passed(DETECTION, "detection")
        descriptor = self.subject.adapter.descriptor
        lacking = [] if descriptor.install_hint else ["an install hint"]
        lacking += [] if descriptor.sign_in_hint else ["a sign-in hint"]
        if command or not lacking:
            return says, command
        return f"its descriptor lacks {' and '.join(lacking)}", self.offline

    def replayed(self) -> _Answer:
        parsed, seen = self.parsed(), self.proven("stream")
        read_back = f"{self.streams} recorded streams give their events; {seen[0]}"
        return next((each for each in (parsed, seen) if each[1]), (read_back, ""))

    def counted_on(self) -> _Answer:
        says, command = self.proven(*CORE)
        if command or not self.subject.third_party:
            return says, command
        return "Hydra's own pages and tests do not cover a third party's adapter", self.live


def promotion(subjects: Sequence[ContractSubject], cases: Iterable[Case] = ()) -> Promotions:
    """Each adapter against every rule, in their order.

    `cases` are what the offline suite has just said (what it was not asked, the newest record
    says). Raises `RecordError` or `ConfigError` for a file that cannot be understood.
    """
    now = list(cases)
    return Promotions(tuple(_judged(_Evidence(subject, now)) for subject in subjects))


def _judged(evidence: _Evidence) -> Promotion:
    subject, descriptor = evidence.subject, evidence.subject.adapter.descriptor
    answers = evidence.answers()
    rules, stages = (
        tuple(
            Requirement(name, text, not command, says, command)
            for name, text in texts.items()
            for says, command in (answers[name],)
        )
        for texts in (RULES, STAGES)
    )
    stage = len(list(takewhile(lambda each: each.met, stages)))
    met = sum(rule.met for rule in rules)
    whole = met == len(rules) and stage == len(stages)
    first = "nothing is missing: the owner may make it tier 1" if whole else "stays experimental"
    if subject.third_party:
        first = "a third party's, which stays experimental"
    elif descriptor.tier is Tier.TIER1:
        first = f"tier 1 by the owner's decision{'' if whole else ', not by these rules'}"
    says = f"{first}; {met} of {len(rules)} rules met, stage {stage} of {len(stages)} reached"
    agent = subject.key, descriptor.label, descriptor.tier, subject.third_party
    return Promotion(*agent, rules, stages, stage, says)


def _group(name: str) -> str:
    return name.partition(".")[0]


Cycle = tuple[int, ...]


def cycle(hydra: str) -> Cycle:
    """The minor release: `0.3.1` is of (0, 3)."""
    return (*detection.parts(hydra), 0, 0)[:2]


def follows(later: Cycle, earlier: Cycle) -> bool:
    """Whether no minor release lies between them: 0.4 after 0.3, 1.0 after any 0.x."""
    return later in ((earlier[0], earlier[1] + 1), (earlier[0] + 1, 0))


# as text, as Markdown


def _agent(each: Promotion, width: int | None, color: bool) -> Iterator[str]:
    lines = partial(hanging, "", width=width, least=20)
    yield f"{paint(clean(each.agent), 'bold', color)}  {each.tier_text}"
    yield from lines(each.says, indent=2)
    title = f"stages of maturity: {each.stage} of {len(each.stages)} reached"
    for head, rows in (("rules for tier 1", each.rules), (title, each.stages)):
        yield from ("", f"  {head}")
        for number, row in enumerate(rows, 1):
            term, style = ("met", "good") if row.met else ("MISSING", "bad")
            first, *rest = labelled(term, f"{number} {row.text}", width)
            yield from (first.replace(term, paint(term, style, color), 1), *rest)
            yield from lines(row.says, indent=13)
            if row.command:
                yield from lines(f"-> {row.command}", indent=13)


def _section(each: Promotion) -> Iterator[str]:
    yield from (each.heading, inert(each.says), _table("Rule for tier 1", each.rules))
    yield f"Stage {each.stage} of {len(each.stages)} is reached."
    yield _table("Stage", each.stages)


def _table(title: str, requirements: Sequence[Requirement]) -> str:
    met = {True: "met", False: "**missing**"}
    rows = [
        (str(number), inert(row.text), met[row.met], inert(row.says, 1000), code(row.command))
        for number, row in enumerate(requirements, 1)
    ]
    head = ("", title, "", "Evidence, or what is missing", "What would provide it")
    return rows_table(head, rows)

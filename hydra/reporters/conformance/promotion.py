"""What each agent still lacks for Tier 1, rule by rule: for a terminal, a page, a program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from hydra.model import Tier
from hydra.reporters.conformance.matrix import tier_named
from hydra.reporters.document import SCHEMA, Document
from hydra.reporters.inert import code, inert, rows_table
from hydra.reporters.style import paint
from hydra.reporters.text import clean
from hydra.reporters.wrapping import wrapped


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """A rule or a stage. `says` is the evidence where it is met, else what is missing, in one
    sentence; `command` is what would provide it, "" where it is met."""

    name: str
    text: str
    met: bool
    says: str
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
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
        return all(one.met for one in (*self.rules, *self.stages))


def promotion_document(found: Sequence[Promotion]) -> Document:
    """As JSON-ready data."""
    agents = [{**asdict(one), "tier": one.tier.value, "ready": one.ready} for one in found]
    return {"schema": SCHEMA, "kind": "promotion", "agents": agents}


def promotion_text(found: Sequence[Promotion], *, width: int | None, color: bool = False) -> str:
    """Each agent with its rules and stages, and below what is missing the command for it."""
    return "\n".join("\n".join(_agent(one, width, color)) + "\n" for one in found)


def _agent(one: Promotion, width: int | None, color: bool) -> Iterator[str]:
    yield f"{paint(clean(one.agent), 'bold', color)}  {tier_named(one.tier, one.third_party)}"
    yield from _wrapped(one.says, width, 2)
    yield ""
    yield "  rules for tier 1"
    yield from _listed(one.rules, width, color)
    yield ""
    yield f"  stages of maturity: {one.stage} of {len(one.stages)} reached"
    yield from _listed(one.stages, width, color)


def _listed(all: Sequence[Requirement], width: int | None, color: bool) -> Iterator[str]:
    for number, one in enumerate(all, 1):
        word, style = ("met", "good") if one.met else ("MISSING", "bad")
        first, *rest = _wrapped(f"{number} {one.text}", width, 11)
        yield f"  {paint(word, style, color)}{first[2 + len(word) :]}"
        yield from rest
        yield from _wrapped(one.says, width, 13)
        if one.command:
            yield from _wrapped(f"-> {one.command}", width, 13)


def _wrapped(said: str, width: int | None, indent: int) -> Iterator[str]:
    yield from (f"{'':{indent}}{part}" for part in wrapped(clean(said), width, indent, least=20))


def promotion_markdown(found: Sequence[Promotion]) -> str:
    """The same as Markdown; ends with a newline."""
    return "\n\n".join(block for one in found for block in _section(one)) + "\n"


def _section(one: Promotion) -> Iterator[str]:
    yield f"## {inert(one.label)} ({code(one.agent)}, {tier_named(one.tier, one.third_party)})"
    yield inert(one.says)
    yield _table("Rule for tier 1", one.rules)
    yield f"Stage {one.stage} of {len(one.stages)} is reached."
    yield _table("Stage", one.stages)


def _table(title: str, all: Sequence[Requirement]) -> str:
    rows = [
        (
            str(number),
            inert(one.text),
            "met" if one.met else "**missing**",
            inert(one.says, 1000),
            code(one.command),
        )
        for number, one in enumerate(all, 1)
    ]
    head = ("", title, "", "Evidence, or what is missing", "What would provide it")
    return rows_table(head, rows)

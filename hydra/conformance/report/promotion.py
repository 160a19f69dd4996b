"""What each agent still lacks for Tier 1, rule by rule: for a terminal, a page, a program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import asdict

from hydra.conformance.promotion import Promotion, Requirement
from hydra.conformance.report.matrix import tier_named
from hydra.records.codec import SCHEMA
from hydra.report.document import Document
from hydra.report.markdown import code, inert, rows_table
from hydra.report.style import paint
from hydra.report.text import clean, wrapped


def promotion_document(promotions: Sequence[Promotion]) -> Document:
    """As JSON-ready data."""
    agents = [
        {
            **asdict(promotion),
            "tier": promotion.tier.value,
            "rules": list(map(asdict, promotion.rules)),
            "stages": list(map(asdict, promotion.stages)),
            "ready": promotion.ready,
        }
        for promotion in promotions
    ]
    return {"schema": SCHEMA, "kind": "promotion", "agents": agents}


def promotion_text(
    promotions: Sequence[Promotion], *, width: int | None, color: bool = False
) -> str:
    """Each agent with its rules and stages, and below what is missing the command for it."""
    return "\n".join("\n".join(_agent(promotion, width, color)) + "\n" for promotion in promotions)


def _agent(promotion: Promotion, width: int | None, color: bool) -> Iterator[str]:
    tier = tier_named(promotion.tier, promotion.third_party)
    yield f"{paint(clean(promotion.agent), 'bold', color)}  {tier}"
    yield from _wrapped(promotion.says, width, 2)
    yield ""
    yield "  rules for tier 1"
    yield from _listed(promotion.rules, width, color)
    yield ""
    yield f"  stages of maturity: {promotion.stage} of {len(promotion.stages)} reached"
    yield from _listed(promotion.stages, width, color)


def _listed(all: Sequence[Requirement], width: int | None, color: bool) -> Iterator[str]:
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


def promotion_markdown(promotions: Sequence[Promotion]) -> str:
    """The same as Markdown; ends with a newline."""
    return "\n\n".join(block for promotion in promotions for block in _section(promotion)) + "\n"


def _section(promotion: Promotion) -> Iterator[str]:
    tier = tier_named(promotion.tier, promotion.third_party)
    yield f"## {inert(promotion.label)} ({code(promotion.agent)}, {tier})"
    yield inert(promotion.says)
    yield _table("Rule for tier 1", promotion.rules)
    yield f"Stage {promotion.stage} of {len(promotion.stages)} is reached."
    yield _table("Stage", promotion.stages)


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

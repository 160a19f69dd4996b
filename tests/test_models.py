"""The catalogue of models, what a lane's name stands for, and what tokens would cost."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pytest
from msgspec.structs import replace

from hydra.adapters import registry
from hydra.adapters.models.catalog import Catalog, built_in, estimate, plain, with_own
from hydra.adapters.models.selection import choose, nearest
from hydra.config.schema import OwnModel
from hydra.records.outcome import Usage
from hydra.records.plan import Rates
from tests.support.golden_text import approved, section

MINE = {
    "large": OwnModel(id="gw-large-7", aliases=("big",), input_price=2, output_price=8),
    "opus": OwnModel(id="gw-opus", family="claude"),
}
SOURCE = re.compile(r" inside [A-Z][\w ]+ \d+\.\d+\.\d+$")


def test_every_fact_has_a_source_and_every_price_a_day() -> None:
    known = built_in()
    names = [plain(name) for model in known.models for name in (model.id, *model.aliases)]
    assert len(names) == len(set(names)) > 60  # every name stands for one model
    for model in known.models:
        assert SOURCE.search(model.source), model.id
        assert (bool(model.family), bool(model.maker)) == (True, True), model.id
        assert model.context is not None, model.id
        assert model.context > 1000, model.id
        if rates := model.rates:
            assert date(2026, 1, 1) <= date.fromisoformat(rates.read) <= date(2027, 12, 31)
            assert SOURCE.search(rates.source), model.id
            assert 0 < rates.input <= rates.output, model.id
            assert rates.cached is None or rates.cached < rates.input, model.id
        assert not model.successor or known.find(model.successor), model.id
        if model.until:
            assert (bool(model.deprecated), bool(date.fromisoformat(model.until))) == (True, True)
    families = {model.family for model in known.models}
    for adapter in registry.OWN.values():
        assert set(adapter.descriptor.families) <= families, adapter.key()
    for agent, values in known.cli_names.items():
        assert agent in {*registry.OWN, "aider", "omp"}, agent
        assert all(known.find(id) for id in filter(None, values.values())), agent


# --- what a name stands for, for an agent --------------------------------------------------------

KNOWN = """
claude: opus opus[1m] claude-haiku-4-5-20251001 opusplan opsu
claude: claude-sonnet-4-5
gemini: flash
aider: opus
cline: opus
copilot: claude-opus-4.6
codex: gpt-6-sol opus
opencode: anthropic/claude-opus-5-5 claude-opus-5-5 openrouter/claude-opus-5-5 acme/none-of-ours
opencode: openrouter/anthropic/claude-opus-5-5 gpt-6-sol
qwen: zzzz
"""
LARGE = OwnModel(id="claude-opus-5-5")
PRICED = replace(LARGE, input_price=3, output_price=15)
OF_ONES_OWN: dict[str, tuple[dict[str, OwnModel], str]] = {
    "entries of one's own": (MINE, "claude: large opus sonnet\ngemini: BIG"),
    "an entry of a known id": (
        {"large": PRICED},
        "claude: opus large\ncodex: large",
    ),
    "an alias that is another's now": ({"large": LARGE, **MINE}, "claude: opus large"),
    "a known id, once": ({"mine": OwnModel(id="gpt-5.5", context=99)}, "codex: gpt-5.5 mine"),
}


def stands_for(catalog: Catalog, rows: str) -> str:
    lines = []
    for row in rows.strip().splitlines():
        agent, _, names = row.partition(": ")
        families = registry.OWN[agent].descriptor.families
        for name in names.split():
            choice = choose(catalog, name, agent=agent, families=families)
            lines.append(f"{agent} {name} -> {choice.argument}")
            if model := choice.model:
                ids = [item.id for item in catalog.models]
                assert ids.count(model.id) == 1
                facts = f"{model.maker} {model.family} {model.context} {' '.join(model.aliases)}"
                lines.append(f"  {model.id}: {facts}")
            lines.append(f"  {choice.rates}")
            lines += [f"  {remark}" for remark in choice.remarks]
    return "\n".join(lines)


def test_what_an_agent_is_told_and_warned_of_as_approved() -> None:
    text = section("known", stands_for(built_in(), KNOWN))
    for name, (entries, rows) in OF_ONES_OWN.items():
        text += section(name, stands_for(with_own(entries.items()), rows))
    approved("models.txt", text)
    # Of two that are near, the one that this agent takes.
    assert nearest(built_in(), "flsh", agent="gemini", families=("gemini",)) == "flash"
    assert nearest(built_in(), "flsh", agent="claude", families=("claude",)) != "flash"


# --- estimates -----------------------------------------------------------------------------------

RATES = Rates(4, 20, 0.5, None, "2026-11-22", "a list")
MILLION = 1_000_000


def usage(*values: float | None) -> Usage:
    """Tokens of the input, the output and the cache, and a cost."""
    names = ("input_tokens", "output_tokens", "cached_tokens", "cost_usd")
    known: dict[str, Any] = dict(zip(names, values, strict=False))
    return Usage(**known)


@pytest.mark.parametrize(
    ("rates", "tokens", "cost"),
    [
        # Cached tokens are part of the input, and cost their own price where there is one.
        (RATES, usage(MILLION, MILLION // 10, MILLION * 6 // 10), 0.4 * 4 + 0.1 * 20 + 0.6 * 0.5),
        (replace(RATES, cached=None), usage(MILLION, 0), 4),
        (replace(RATES, longest=100), usage(100, 1, 0), 420 / MILLION),
        (replace(RATES, longest=100), usage(101, 1, 0), None),  # perhaps it was too long
        # What is unknown is not zero, and a cost that was told stands.
        (RATES, usage(), None),
        (RATES, usage(None, 1, 0), None),
        (RATES, usage(5, 1), None),
        (RATES, usage(5, 1, 0, 0.0), None),
        (RATES, usage(-5, 1, -6), None),
    ],
)
def test_what_tokens_would_cost(rates: Rates, tokens: Usage, cost: float | None) -> None:
    item = estimate(rates, tokens)
    assert (item is None) is (cost is None)
    if item is not None:
        assert item.cost_usd == pytest.approx(cost)
        assert (item.prices_of, item.source) == ("2026-11-22", "a list")

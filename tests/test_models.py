"""The catalogue of models, what a lane's name stands for, and what tokens would cost."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pytest
from msgspec.structs import replace

from hydra.adapters import registry
from hydra.adapters.models.catalog import OWN, Catalog, Model, built_in, estimate, plain, with_own
from hydra.adapters.models.selection import choose, nearest
from hydra.config.schema import OwnModel
from hydra.records.outcome import Usage
from hydra.records.plan import Rates

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


# --- what a name stands for ----------------------------------------------------------------------


def word(agent: str, name: str, catalog: Catalog | None = None) -> tuple[str, str, tuple[str, ...]]:
    families = registry.OWN[agent].descriptor.families if agent in registry.OWN else ()
    choice = choose(catalog or built_in(), name, agent=agent, families=families)
    return choice.argument, choice.model.id if choice.model else "", choice.remarks


@pytest.mark.parametrize(
    ("agent", "name", "model"),
    [
        ("claude", "opus", "claude-opus-5-5"),
        ("claude", "opus[1m]", "claude-opus-5-5"),
        ("claude", "claude-opus-4-8", "claude-opus-4-8"),
        ("claude", "claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("claude", "opusplan", ""),
        ("gemini", "flash", ""),
        ("aider", "opus", "claude-opus-4-6"),
        ("copilot", "claude-opus-4.6", "claude-opus-4-6"),
        ("codex", "gpt-6-sol", "gpt-6-sol"),
        ("opencode", "anthropic/claude-opus-5-5", "claude-opus-5-5"),
        ("opencode", "acme/none-of-ours", ""),
    ],
)
def test_what_an_agent_is_told(agent: str, name: str, model: str) -> None:
    assert word(agent, name) == (name, model, ())


def test_what_is_passed_on_with_a_remark() -> None:
    assert word("cline", "opus") == ("claude-opus-5-5", "claude-opus-5-5", ())
    remark = "the model opsu is unknown to Hydra; did you mean opus?"
    assert word("claude", "opsu") == ("opsu", "", (remark,))
    assert word("codex", "gpt-6-soll")[2][0].endswith("did you mean gpt-6-sol?")
    assert word("qwen", "zzzz") == ("zzzz", "", ("the model zzzz is unknown to Hydra",))
    # Of two that are near, the one that this agent takes.
    assert nearest(built_in(), "flsh", agent="gemini", families=("gemini",)) == "flash"
    assert nearest(built_in(), "flsh", agent="claude", families=("claude",)) != "flash"
    text, _, (remark,) = word("codex", "opus")
    assert text == "claude-opus-5-5"
    assert remark == "codex takes models of the family gpt, and claude-opus-5-5 is of claude"
    text, _, (remark,) = word("claude", "claude-sonnet-4-5")
    assert text == "claude-sonnet-4-5"
    assert "deprecated, gone from 2026-11-30 on: claude-sonnet-5-5 follows it" in remark


def test_prices_hold_at_the_makers_own_address_alone_and_up_to_a_prompts_length() -> None:
    def rates(name: str, agent: str = "opencode", families: tuple[str, ...] = ()) -> Rates | None:
        return choose(built_in(), name, agent=agent, families=families).rates

    assert rates("anthropic/claude-opus-5-5") == rates("claude-opus-5-5") != None  # noqa: E711
    assert rates("openrouter/claude-opus-5-5") is None
    assert rates("openrouter/anthropic/claude-opus-5-5") is None
    own, other = rates("gpt-6-sol", "codex", ("gpt",)), rates("gpt-6-sol")
    assert own is not None
    assert other is not None
    # The limit does not matter where the window is no larger.
    assert (own.longest, other.longest) == (None, 272_000)


# --- the user's own ------------------------------------------------------------------------------


def find(catalog: Catalog, id: str) -> Model:
    (model,) = (model for model in catalog.models if model.id == id)  # it is there once
    return model


def test_own_entries_go_over_what_hydra_knows() -> None:
    catalog = with_own(MINE.items())
    assert word("claude", "large", catalog)[:2] == ("gw-large-7", "gw-large-7")
    assert word("gemini", "BIG", catalog)[:2] == ("gw-large-7", "gw-large-7")
    assert word("claude", "opus", catalog) == ("gw-opus", "gw-opus", ())
    assert word("claude", "sonnet", catalog)[0] == "sonnet"
    assert find(catalog, "gw-large-7").rates == Rates(2, 8, None, None, "", OWN)


def test_an_entry_of_a_known_id_goes_over_it_in_what_it_says() -> None:
    priced = OwnModel(id="claude-opus-5-5", input_price=3, output_price=15)
    catalog = with_own([("large", priced)])
    model, item = find(catalog, "claude-opus-5-5"), find(built_in(), "claude-opus-5-5")
    assert (model.context, model.family, model.maker) == (item.context, "claude", "anthropic")
    assert model.aliases == ("large", "opus")
    assert model.rates == Rates(3, 15, None, None, "", OWN)
    # What an agent's own CLI takes stays its own word.
    assert word("claude", "opus", catalog)[:2] == ("opus", "claude-opus-5-5")
    assert word("cline", "opus", catalog) == ("claude-opus-5-5", "claude-opus-5-5", ())
    catalog = with_own([("large", OwnModel(id="claude-opus-5-5")), *MINE.items()])
    assert word("claude", "opus", catalog)[0] == "gw-opus"  # the alias is another's now
    assert find(catalog, "claude-opus-5-5").aliases == ("large",)
    catalog = with_own([("mine", OwnModel(id="gpt-5.5", context=99))])
    assert find(catalog, "gpt-5.5").context == 99


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
        (RATES, usage(1), None),
        (RATES, usage(None, 1, 0), None),
        (RATES, usage(5, 1), None),
        (RATES, usage(5, 1, 6), None),
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

"""The catalogue of models, what a lane's name stands for, and what tokens would cost."""

from __future__ import annotations

import re
from datetime import date

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


# --- the catalogue ---------------------------------------------------------------------------


def test_every_name_stands_for_one_model() -> None:
    names = [plain(name) for model in built_in().models for name in (model.id, *model.aliases)]
    assert len(names) == len(set(names))
    assert len(names) > 60


@pytest.mark.parametrize("model", built_in().models, ids=lambda row: row.id)
def test_every_fact_has_a_source_and_every_price_a_day(model: Model) -> None:
    assert re.search(r" inside [A-Z][\w ]+ \d+\.\d+\.\d+$", model.source)
    assert model.family
    assert model.maker
    assert model.context is not None
    assert model.context > 1000
    assert model.output is None or model.output > 1000
    if model.rates:
        assert date(2026, 1, 1) <= date.fromisoformat(model.rates.read) <= date(2027, 12, 31)
        assert re.search(r" inside [A-Z][\w ]+ \d+\.\d+\.\d+$", model.rates.source)
        assert 0 < model.rates.input <= model.rates.output
        assert model.rates.cached is None or model.rates.cached < model.rates.input
    if model.successor:
        assert built_in().find(model.successor) is not None
    if model.until:
        assert model.deprecated
        date.fromisoformat(model.until)


def test_words_are_of_agents_that_there_are_and_name_models_that_there_are() -> None:
    for agent, values in built_in().cli_names.items():
        assert agent in {*registry.OWN, "aider", "omp"}, agent
        for id in filter(None, values.values()):
            assert built_in().find(id) is not None, (agent, id)


def test_every_family_that_an_agent_takes_has_models() -> None:
    families = {model.family for model in built_in().models}
    for adapter in registry.OWN.values():
        assert set(adapter.descriptor.families) <= families, adapter.key()


# --- what a name stands for --------------------------------------------------------------------


def word(agent: str, name: str, catalog: Catalog | None = None) -> tuple[str, str, tuple[str, ...]]:
    families = registry.OWN[agent].descriptor.families if agent in registry.OWN else ()
    choice = choose(catalog or built_in(), name, agent=agent, families=families)
    return choice.argument, choice.model.id if choice.model else "", choice.remarks


@pytest.mark.parametrize(
    ("agent", "name", "text", "model"),
    [
        ("claude", "opus", "opus", "claude-opus-5-5"),
        ("claude", "opus[1m]", "opus[1m]", "claude-opus-5-5"),
        ("claude", "claude-opus-4-8", "claude-opus-4-8", "claude-opus-4-8"),
        ("claude", "claude-haiku-4-5-20251001", "claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("claude", "opusplan", "opusplan", ""),
        ("gemini", "flash", "flash", ""),
        ("aider", "opus", "opus", "claude-opus-4-6"),
        ("cline", "opus", "claude-opus-5-5", "claude-opus-5-5"),
        ("copilot", "claude-opus-4.6", "claude-opus-4.6", "claude-opus-4-6"),
        ("codex", "gpt-6-sol", "gpt-6-sol", "gpt-6-sol"),
        ("opencode", "anthropic/claude-opus-5-5", "anthropic/claude-opus-5-5", "claude-opus-5-5"),
        ("opencode", "acme/none-of-ours", "acme/none-of-ours", ""),
    ],
)
def test_what_an_agent_is_told(agent: str, name: str, text: str, model: str) -> None:
    assert word(agent, name) == (text, model, ())


def test_an_unknown_model_is_passed_on_with_the_nearest_of_what_the_agent_takes() -> None:
    assert word("claude", "opsu") == (
        "opsu",
        "",
        ("the model opsu is unknown to Hydra; did you mean opus?",),
    )
    assert word("codex", "gpt-6-soll")[2][0].endswith("did you mean gpt-6-sol?")
    assert word("qwen", "zzzz") == ("zzzz", "", ("the model zzzz is unknown to Hydra",))
    # Of two that are near, the one that this agent takes.
    assert nearest(built_in(), "flsh", agent="gemini", families=("gemini",)) == "flash"
    assert nearest(built_in(), "flsh", agent="claude", families=("claude",)) != "flash"


def test_another_family_than_the_agent_takes_is_warned_of_and_passed_on() -> None:
    text, _, remarks = word("codex", "opus")
    assert text == "claude-opus-5-5"
    assert remarks == ("codex takes models of the family gpt, and claude-opus-5-5 is of claude",)


def test_a_deprecated_one_is_warned_of_with_its_successor() -> None:
    text, _, remarks = word("claude", "claude-sonnet-4-5")
    assert text == "claude-sonnet-4-5"
    assert remarks == (
        "claude-sonnet-4-5 is deprecated, gone from 2026-11-30 on: claude-sonnet-5-5 follows it",
    )


def test_prices_hold_at_the_makers_own_address_alone() -> None:
    def rates(name: str) -> Rates | None:
        return choose(built_in(), name, agent="opencode").rates

    assert rates("anthropic/claude-opus-5-5") == rates("claude-opus-5-5") != None  # noqa: E711
    assert rates("openrouter/claude-opus-5-5") is None
    assert rates("openrouter/anthropic/claude-opus-5-5") is None


def test_a_limit_of_the_prompt_does_not_matter_where_the_window_is_no_larger() -> None:
    own = choose(built_in(), "gpt-6-sol", agent="codex", families=("gpt",)).rates
    other = choose(built_in(), "gpt-6-sol", agent="opencode").rates
    assert own is not None
    assert other is not None
    assert (own.longest, other.longest) == (None, 272_000)


# --- the user's own ----------------------------------------------------------------------------


def test_own_entries_go_over_what_hydra_knows() -> None:
    catalog = with_own(MINE.items())
    assert word("claude", "large", catalog)[:2] == ("gw-large-7", "gw-large-7")
    assert word("gemini", "BIG", catalog)[:2] == ("gw-large-7", "gw-large-7")
    assert word("claude", "opus", catalog) == ("gw-opus", "gw-opus", ())
    assert word("claude", "sonnet", catalog)[0] == "sonnet"
    mine = catalog.find("large")
    assert mine is not None
    assert mine.rates == Rates(2, 8, None, None, "", OWN)


def test_an_entry_of_a_known_id_goes_over_it_in_what_it_says() -> None:
    priced = OwnModel(id="claude-opus-5-5", input_price=3, output_price=15)
    catalog = with_own([("large", priced)])
    (model,) = (model for model in catalog.models if model.id == "claude-opus-5-5")
    item = built_in().find("claude-opus-5-5")
    assert item is not None
    assert (model.context, model.family, model.maker) == (item.context, "claude", "anthropic")
    assert model.aliases == ("large", "opus")
    assert model.rates == Rates(3, 15, None, None, "", OWN)
    # What an agent's own CLI takes stays its own word.
    assert word("claude", "opus", catalog)[:2] == ("opus", "claude-opus-5-5")
    assert word("cline", "opus", catalog) == ("claude-opus-5-5", "claude-opus-5-5", ())
    (other,) = word("codex", "large", catalog)[2]
    assert "claude-opus-5-5 is of claude" in other


def test_an_alias_that_is_given_to_another_model_is_no_longer_the_known_ones() -> None:
    catalog = with_own([("large", OwnModel(id="claude-opus-5-5")), *MINE.items()])
    assert word("claude", "opus", catalog)[0] == "gw-opus"
    (model,) = (model for model in catalog.models if model.id == "claude-opus-5-5")
    assert model.aliases == ("large",)
    assert model.rates is not None


def test_an_entry_of_a_known_id_is_there_once() -> None:
    catalog = with_own([("mine", OwnModel(id="gpt-5.5", context=99))])
    assert [model.context for model in catalog.models if model.id == "gpt-5.5"] == [99]
    assert word("codex", "gpt-5.5", catalog)[0] == "gpt-5.5"


# --- estimates ---------------------------------------------------------------------------------

RATES = Rates(4, 20, 0.5, None, "2026-11-22", "a list")


def test_cached_tokens_are_part_of_the_input_and_cost_their_own_price() -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=100_000, cached_tokens=600_000)
    item = estimate(RATES, usage)
    assert item is not None
    assert item.cost_usd == pytest.approx(0.4 * 4 + 0.1 * 20 + 0.6 * 0.5)
    assert (item.prices_of, item.source) == ("2026-11-22", "a list")


def test_without_a_price_for_cached_tokens_they_cost_as_any_other() -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=0)
    item = estimate(replace(RATES, cached=None), usage)
    assert item is not None
    assert item.cost_usd == pytest.approx(4)


@pytest.mark.parametrize(
    "usage",
    [
        Usage(),
        Usage(input_tokens=1),
        Usage(output_tokens=1, cached_tokens=0),
        Usage(input_tokens=5, output_tokens=1),
        Usage(input_tokens=5, output_tokens=1, cached_tokens=6),
        Usage(input_tokens=5, output_tokens=1, cached_tokens=0, cost_usd=0.0),
        Usage(input_tokens=-5, output_tokens=1, cached_tokens=-6),
    ],
)
def test_what_is_unknown_is_not_zero_and_a_cost_that_was_told_stands(usage: Usage) -> None:
    assert estimate(RATES, usage) is None


def test_nothing_is_said_where_a_prompt_may_have_been_too_long() -> None:
    rates = replace(RATES, longest=100)
    assert estimate(rates, Usage(input_tokens=100, output_tokens=1, cached_tokens=0)) is not None
    assert estimate(rates, Usage(input_tokens=101, output_tokens=1, cached_tokens=0)) is None

"""The models that Hydra knows, as records: those of `catalog.toml`, and the user's own."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from hydra.config.schema import OwnModel
from hydra.records.outcome import Estimate, Usage
from hydra.records.plan import Rates

FILE = Path(__file__).with_name("catalog.toml")

OWN = "your own hydra.toml"
"""The source of what the user wrote."""

_DATED = re.compile(r"-20\d{6}$")


class Model(Struct, frozen=True, kw_only=True):
    """One model. None, "" and () are unknown. `context` and `output` are tokens at most; `efforts`
    and `service_tiers` are in its maker's words; `successor` is another's id; `until` is the day
    from which it is gone. `source` says where the facts are from, `rates` have their own.
    `user_names` are the names that the user's own file gives it."""

    id: str
    family: str
    maker: str = ""
    name: str = ""
    aliases: tuple[str, ...] = ()
    context: int | None = None
    output: int | None = None
    efforts: tuple[str, ...] = ()
    service_tiers: tuple[str, ...] = ()
    deprecated: bool = False
    until: str = ""
    successor: str = ""
    source: str = ""
    rates: Rates | None = None
    user_names: tuple[str, ...] = ()


class Catalog(Struct, frozen=True):
    """All of them, the user's own first. `cli_names` are what an agent's own CLI takes for a model,
    by agent, each to the id of the model that it is, "" where the CLI decides."""

    models: tuple[Model, ...]
    cli_names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def find(self, name: str) -> Model | None:
        """The model of that id or alias: in any case, `.` for `-`, a day or `[1m]` after it."""
        request = plain(name)
        for model in self.models:
            if request in map(plain, (model.id, *model.aliases)):
                return model
        return None

    def words_of(self, agent: str) -> Mapping[str, str]:
        """What this agent's CLI takes."""
        return self.cli_names.get(agent, {})


def plain(name: str) -> str:
    """A model's name without what tells nothing of which it is."""
    return _DATED.sub("", name.lower().removesuffix("[1m]").replace(".", "-"))


@cache
def built_in() -> Catalog:
    """What comes with Hydra."""
    with FILE.open("rb") as file:
        document = tomllib.load(file)
    sources = document["sources"]
    return Catalog(tuple(_model(row, sources) for row in document["model"]), document["words"])


def with_own(own: Iterable[tuple[str, OwnModel]]) -> Catalog:
    """The same with the user's entries (name, record), which go over one of the same name: what
    they do not say of it holds on, and its aliases too, but for those that they give to another."""
    catalog = built_in()
    entries = tuple(own)
    names = {plain(text) for name, entry in entries for text in (name, *entry.aliases)}
    mine = tuple(_own(name, entry, _of_id(catalog, entry.id, names)) for name, entry in entries)
    taken = {plain(name) for model in mine for name in (model.id, *model.aliases)}
    # A name that the user has given to another model is no longer this one's.
    rest = [model for model in catalog.models if plain(model.id) not in taken]
    return Catalog((*mine, *rest), catalog.cli_names)


def _model(document: Mapping[str, Any], sources: Mapping[str, str]) -> Model:
    facts: dict[str, Any] = {
        key: tuple(documents) if isinstance(documents, list) else documents
        for key, documents in document.items()
    }
    prices = facts.pop("prices", None)
    facts["source"] = sources[document["source"]]
    rates = None if prices is None else Rates(**{**prices, "source": sources[prices["source"]]})
    return Model(**facts, rates=rates)


def _of_id(catalog: Catalog, id: str, names: Collection[str]) -> Model:
    """What Hydra knows of the model by itself, without the aliases that are somebody's `names`."""
    for model in catalog.models:
        if plain(model.id) == plain(id):
            texts = tuple(alias for alias in model.aliases if plain(alias) not in names)
            return replace(model, aliases=texts)
    return Model(id=id, family="")


def _own(name: str, entry: OwnModel, model: Model) -> Model:
    rates = model.rates
    if entry.input_price is not None and entry.output_price is not None:
        rates = Rates(
            input=entry.input_price,
            output=entry.output_price,
            cached=entry.cached_price,
            read=entry.prices_read,
            source=OWN,
        )
    names = (name, *entry.aliases)
    aliases = tuple(dict.fromkeys((*names, *model.aliases)))
    return replace(
        model,
        id=entry.id,
        family=entry.family or model.family,
        aliases=tuple(alias for alias in aliases if alias != entry.id),
        context=model.context if entry.context is None else entry.context,
        output=model.output if entry.output is None else entry.output,
        source=f"{OWN}, else {model.source}" if model.source else OWN,
        rates=rates,
        user_names=(entry.id, *names),
    )


# ---- What tokens cost by a list of prices, where an agent tells its tokens and no cost. Pure.

_MILLION = 1_000_000


def estimate(rates: Rates, usage: Usage) -> Estimate | None:
    """The cost in dollars, or None where it cannot be told: unknown is not zero.

    `input_tokens` has the cached ones in it. What was written into a cache is counted as any other
    token of the prompt. Where a prompt may have been longer than these prices hold for, nothing is
    said: which of them were is not known.
    """
    came, went, cached = usage.input_tokens, usage.output_tokens, usage.cached_tokens
    if usage.cost_usd is not None or came is None or went is None or min(came, went) < 0:
        return None
    if rates.longest is not None and came > rates.longest:
        return None
    at_once = 0
    if rates.cached is not None:
        if cached is None or not 0 <= cached <= came:
            return None
        at_once = cached
    dollars = (came - at_once) * rates.input + went * rates.output + at_once * (rates.cached or 0)
    return Estimate(dollars / _MILLION, rates.read or None, rates.source)

"""The models that Hydra knows, as records: those of `catalog.toml`, and the user's own."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from hydra.config.records import OwnModel
from hydra.model import Rates

FILE = Path(__file__).with_name("catalog.toml")

OWN = "your own hydra.toml"
"""The source of what the user wrote."""

_DATED = re.compile(r"-20\d{6}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One model. None, "" and () are unknown. `context` and `output` are tokens at most; `efforts`
    and `service_tiers` are in its maker's words; `successor` is another's id; `until` is the day
    from which it is gone. `source` says where the facts are from, `rates` have their own. `given`
    are the names that the user's own file gives it."""

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
    given: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalog:
    """All of them, the user's own first. `words` are what an agent's own CLI takes for a model, by
    agent, each to the id of the model that it is, "" where the CLI decides."""

    models: tuple[Model, ...]
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def find(self, name: str) -> Model | None:
        """The model of that id or alias: in any case, `.` for `-`, a day or `[1m]` after it."""
        asked = plain(name)
        for model in self.models:
            if asked in map(plain, (model.id, *model.aliases)):
                return model
        return None

    def words_of(self, agent: str) -> Mapping[str, str]:
        """What this agent's CLI takes; one that is driven by ACP takes what the other does."""
        return self.words.get(agent) or self.words.get(agent.removesuffix("-acp"), {})


def plain(name: str) -> str:
    """A model's name without what tells nothing of which it is."""
    return _DATED.sub("", name.lower().removesuffix("[1m]").replace(".", "-"))


@cache
def built_in() -> Catalog:
    """What comes with Hydra."""
    with FILE.open("rb") as file:
        told = tomllib.load(file)
    sources = told["sources"]
    return Catalog(tuple(_model(one, sources) for one in told["model"]), told["words"])


def with_own(own: Iterable[tuple[str, OwnModel]]) -> Catalog:
    """The same with the user's entries (name, record), which go over one of the same name: what
    they do not say of it holds on, and its aliases too, but for those that they give to another."""
    known = built_in()
    entries = tuple(own)
    names = {plain(said) for name, entry in entries for said in (name, *entry.aliases)}
    mine = tuple(_own(name, entry, _of_id(known, entry.id, names)) for name, entry in entries)
    taken = {plain(name) for model in mine for name in (model.id, *model.aliases)}
    # A name that the user has given to another model is no longer this one's.
    rest = [model for model in known.models if plain(model.id) not in taken]
    return Catalog((*mine, *rest), known.words)


def _model(told: Mapping[str, Any], sources: Mapping[str, str]) -> Model:
    facts: dict[str, Any] = {
        key: tuple(it) if isinstance(it, list) else it for key, it in told.items()
    }
    prices = facts.pop("prices", None)
    facts["source"] = sources[told["source"]]
    rates = None if prices is None else Rates(**{**prices, "source": sources[prices["source"]]})
    return Model(**facts, rates=rates)


def _of_id(known: Catalog, id: str, names: Collection[str]) -> Model:
    """What Hydra knows of the model by itself, without the aliases that are somebody's `names`."""
    for model in known.models:
        if plain(model.id) == plain(id):
            kept = tuple(alias for alias in model.aliases if plain(alias) not in names)
            return replace(model, aliases=kept)
    return Model(id=id, family="")


def _own(name: str, entry: OwnModel, known: Model) -> Model:
    rates = known.rates
    if entry.input_price is not None and entry.output_price is not None:
        rates = Rates(
            input=entry.input_price,
            output=entry.output_price,
            cached=entry.cached_price,
            read=entry.prices_read,
            source=OWN,
        )
    given = (name, *entry.aliases)
    aliases = tuple(dict.fromkeys((*given, *known.aliases)))
    return replace(
        known,
        id=entry.id,
        family=entry.family or known.family,
        aliases=tuple(alias for alias in aliases if alias != entry.id),
        context=known.context if entry.context is None else entry.context,
        output=known.output if entry.output is None else entry.output,
        source=f"{OWN}, else {known.source}" if known.source else OWN,
        rates=rates,
        given=(entry.id, *given),
    )

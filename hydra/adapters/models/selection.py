"""The model that a lane asked for: what its CLI is told, and what a person should know of it.

No name is refused here: a CLI knows models that no list has. Pure.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from msgspec.structs import replace

from hydra.adapters.models.catalog import Catalog, Model, plain
from hydra.records.plan import Rates
from hydra.text import nearest as nearest_name


class ModelChoice(NamedTuple):
    """`word` is what the CLI is told. `model` is None where Hydra does not know which that is,
    `rates` where nobody here knows its prices at that address; `remarks` are sentences."""

    argument: str
    model: Model | None = None
    rates: Rates | None = None
    remarks: tuple[str, ...] = ()


def choose(
    catalog: Catalog, name: str, *, agent: str, families: Collection[str] = ()
) -> ModelChoice:
    """What `name` is for this agent, which takes models of `families` (none: of any)."""
    own = catalog.find(name)
    values = catalog.words_of(agent)
    text = name.lower().removesuffix("[1m]")
    if text in values and not (own is not None and plain(name) in map(plain, own.user_names)):
        model = catalog.find(values[text]) if values[text] else None
        return ModelChoice(name, model, _rates(model, families), _remarks(model, agent, families))
    if own is not None:
        term = own.id if name.lower() in map(str.lower, own.aliases) else name
        return ModelChoice(term, own, _rates(own, families), _remarks(own, agent, families))
    if "/" in name:
        return _of_provider(catalog, name)
    near = nearest(catalog, name, agent=agent, families=families)
    meant = f"; did you mean {near}?" if near else ""
    return ModelChoice(name, remarks=(f"the model {name} is unknown to Hydra{meant}",))


def _of_provider(catalog: Catalog, name: str) -> ModelChoice:
    """`anthropic/claude-opus-5-5`: at its maker's own address its prices hold, elsewhere nobody
    here knows them."""
    provider, _, rest = name.partition("/")
    model = catalog.find(rest)
    if model is None:
        return ModelChoice(name)
    rates = model.rates if provider.lower() == model.maker else None
    return ModelChoice(name, model, rates, _deprecated(model))


def _rates(model: Model | None, families: Collection[str]) -> Rates | None:
    if model is None or model.rates is None or model.rates.longest is None:
        return None if model is None else model.rates
    # The maker's own CLI keeps to the window that is listed: no prompt of it is longer.
    within = families and model.context is not None and model.context <= model.rates.longest
    return replace(model.rates, longest=None) if within else model.rates


def _remarks(model: Model | None, agent: str, families: Collection[str]) -> tuple[str, ...]:
    if model is None:
        return ()
    if not families or not model.family or model.family in families:
        return _deprecated(model)
    takes = " and ".join(families)
    other = f"{agent} takes models of the family {takes}, and {model.id} is of {model.family}"
    return (other, *_deprecated(model))


def _deprecated(model: Model) -> tuple[str, ...]:
    if not model.deprecated:
        return ()
    gone = f", gone from {model.until} on" if model.until else ""
    instead = f": {model.successor} follows it" if model.successor else ""
    return (f"{model.id} is deprecated{gone}{instead}",)


def nearest(catalog: Catalog, name: str, *, agent: str = "", families: Collection[str] = ()) -> str:
    """The name that was most likely meant, "" for none."""
    fitting = [
        model
        for model in catalog.models
        if not families or model.family in families or not model.family
    ]
    values = {alias.lower(): alias for model in fitting for alias in (model.id, *model.aliases)}
    values |= {term: term for term in catalog.words_of(agent)}
    return values.get(nearest_name(name.lower(), values), "")

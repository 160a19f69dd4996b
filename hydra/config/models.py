"""`[models.<name>]` to records: a model under a name of the user's own, with its prices."""

from __future__ import annotations

from collections.abc import Mapping

from hydra.config.key import NAME
from hydra.config.keys import MODEL
from hydra.config.model import OwnModel
from hydra.config.sources import ConfigValue, Layer, tables_of
from hydra.errors import ConfigError


def own_models(layer: Layer) -> dict[str, OwnModel]:
    """Every one. Raises `ConfigError` for one without an id, half of whose prices are missing, or
    whose name stands for another as well."""
    tables = tables_of(layer, "models")
    models = {name: _model(name, table) for name, table in sorted(tables.items())}
    taken: dict[str, str] = {}
    for name, model in models.items():
        for term in {term.lower() for term in (name, *model.aliases)}:
            if taken.setdefault(term, name) != name:
                where = next(iter(tables[name].values())).where
                raise ConfigError(f'{where}: "{term}" already stands for the model {taken[term]}')
    return models


def _model(name: str, table: Mapping[str, ConfigValue]) -> OwnModel:
    where = next(iter(table.values())).where
    if not NAME.fullmatch(name):
        raise ConfigError(f'{where}: no model can be called "{name}": a name is of a-z, 0-9 and -')
    if "id" not in table:
        hint = f'add id = "..." to [models.{name}], as the agent\'s CLI calls it'
        raise ConfigError(f"{where}: the model {name} has no id", hint=hint)
    priced = [leaf for leaf in ("input_price", "output_price") if leaf in table]
    if len(priced) == 1 or (not priced and "cached_price" in table):
        hint = "give input_price and output_price, or none"
        raise ConfigError(f"{where}: the model {name} has half of its prices", hint=hint)
    return OwnModel(**{MODEL[leaf].field: item.value for leaf, item in table.items()})

"""What a place that settings come from says: values by dotted key, with where each stood."""

from typing import Any, NamedTuple


class ConfigValue(NamedTuple):
    """A value; its source as records keep it; the place (with the line) as a message says it."""

    value: Any
    source: str
    where: str
    trusted: bool = True


Layer = dict[str, ConfigValue]


def tables_of(layer: Layer, matter: str) -> dict[str, dict[str, ConfigValue]]:
    """What each `[<matter>.<name>]` of a layer says, by name and by its keys' last parts."""
    rows: dict[str, dict[str, ConfigValue]] = {}
    for dotted, value in layer.items():
        section, _, leaf = dotted.rpartition(".")
        above, dot, name = section.partition(".")
        if above == matter and dot:
            rows.setdefault(name, {})[leaf] = value
    return rows

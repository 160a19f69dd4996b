"""Options that are settings too: name, type, bounds and default are the schema's."""

from collections.abc import Callable, Mapping
from typing import Any

import click

from hydra.cli.common import Duration, F
from hydra.config.schema import FIXED, Key


class _AsTyped(Duration):
    """A duration as it was typed, so that who refuses it can say what it refuses."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The text, where it is one."""
        super().convert(value, param, ctx)
        return value


def setting(name: str, text: str, metavar: str | None = None, *short: str) -> Callable[[F], F]:
    """The option of a key: `{}` in its help is the default; a list's is repeatable."""
    key = FIXED[name]
    kind = key.kind
    default = kind.write(key.default)
    types: dict[str, Any] = {"duration": _AsTyped()}
    if kind.name == "number":
        types["number"] = click.IntRange(*kind.allowed)
    if kind.name == "word":
        types["word"] = click.Choice([f"{term}" for term in kind.allowed])
    return click.option(
        *short,
        key.flag.replace(" / ", "/"),
        type=types.get(kind.name),
        is_flag=kind.name == "boolean" or None,
        multiple=bool(kind.separator),
        default=None,
        metavar=metavar,
        help=text.replace("{}", f"{default}"),
    )


def flags(options: Mapping[str, Any]) -> dict[str, object]:
    """What a command was given of the settings, as `config.load` takes it."""
    rows = ((key.name, _parameter(key)) for key in FIXED.values() if key.flag)
    return {name: options[parameter] for name, parameter in rows if parameter in options}


def _parameter(key: Key) -> str:
    return key.flag.partition(" / ")[0].strip("-").replace("-", "_")

"""Options that are settings too: name, words, bounds, default and help are the schema's."""

from collections.abc import Callable, Mapping
from typing import Any

import click

from hydra.cli.common import F
from hydra.config.schema import FIXED, Key


def settings(*names: str, text: str = "") -> Callable[[F], F]:
    """The options of these keys, in this order; `text` is the help of one that means less here."""

    def add(function: F) -> F:
        for name in reversed(names):
            function = _option(FIXED[name], text)(function)
        return function

    return add


def _option(key: Key, text: str) -> Callable[[F], F]:
    kind = key.kind
    # What else there is goes on as it was typed, so that who refuses it can say what it refuses.
    types: dict[str, Any] = {"word": click.Choice([f"{term}" for term in kind.allowed])}
    if kind.name == "number":
        types["number"] = click.IntRange(*kind.allowed)
    return click.option(
        *filter(None, (key.short, key.flag.replace(" / ", "/"))),
        type=types.get(kind.name),
        is_flag=kind.name == "boolean" or None,
        multiple=bool(kind.separator),
        default=None,
        metavar=key.metavar,
        help=(text or key.help).replace("{}", f"{kind.write(key.default)}"),
    )


def flags(options: Mapping[str, Any]) -> dict[str, object]:
    """What a command was given of the settings, as `config.load` takes it."""
    rows = ((key.name, key.flag.partition(" / ")[0]) for key in FIXED.values() if key.flag)
    names = {name: flag.strip("-").replace("-", "_") for name, flag in rows}
    return {name: options[option] for name, option in names.items() if option in options}

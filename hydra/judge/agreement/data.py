"""JSON and TOML without their layout; the order of keys stays."""

from __future__ import annotations

import json
import tomllib

MOST = 128 * 1024
"""Characters. Parsers of nested text are slow on what is made so."""


def json_form(text: str) -> str | None:
    """The document, numbers as they are written; None if it is not JSON."""
    if len(text) > MOST:
        return None
    try:
        whole = json.loads(
            text,
            object_pairs_hook=lambda pairs: {"": pairs},
            parse_int=lambda digits: {"i": digits},
            parse_float=lambda digits: {"f": digits},
            parse_constant=lambda name: {"c": name},
        )
        return json.dumps(whole)
    except (ValueError, RecursionError):
        return None


def toml_form(text: str) -> str | None:
    """The document, its keys in their order; None if it is not TOML."""
    if len(text) > MOST:
        return None
    try:
        return repr(tomllib.loads(text, parse_float=lambda digits: ("f", digits)))
    except (ValueError, RecursionError):
        return None

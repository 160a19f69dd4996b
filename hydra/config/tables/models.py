"""`[models.<name>]`: the user's own models."""

import re
from datetime import date

from hydra.config.key import NO, Key, Table, model_name, plain
from hydra.config.kinds import count, points, strings, text
from hydra.errors import ConfigError

_MODEL = Table("models.<name>", NO)


def day(line: str) -> str:
    """`2026-11-22`."""
    try:
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", line):
            raise ValueError
        return date.fromisoformat(line).isoformat()
    except ValueError:
        raise ConfigError(f'takes a day as "2026-11-22", not "{line}"') from None


_PRICE = points(0, 100_000)
_TOKENS = count(1, 1_000_000_000)

MODELS: tuple[Key, ...] = (
    _MODEL.key(
        "id",
        text(model_name),
        "What the agent's CLI calls it; the table's name stands for it.",
        shown="required",
        example='"claude-opus-5-5"',
    ),
    _MODEL.key(
        "family",
        text(plain),
        "Its family: an agent that takes models of others only is warned of.",
        default="",
        example='"claude"',
    ),
    _MODEL.key(
        "aliases",
        strings(model_name, separator=","),
        "Further names that stand for it.",
        default=(),
        example='["work-large"]',
    ),
    _MODEL.key("context", _TOKENS, "Its window, in tokens.", shown="unknown", example="200000"),
    _MODEL.key(
        "output", _TOKENS, "The longest answer, in tokens.", shown="unknown", example="64000"
    ),
    _MODEL.key(
        "input_price",
        _PRICE,
        "Dollars for a million tokens of prompts.",
        shown="unknown",
        example="3",
    ),
    _MODEL.key(
        "output_price",
        _PRICE,
        "Dollars for a million tokens of answers; with `input_price` only.",
        shown="unknown",
        example="15",
    ),
    _MODEL.key(
        "cached_price",
        _PRICE,
        "Dollars for a million tokens that were read from a cache.",
        shown="as any other of a prompt",
        example="0.3",
    ),
    _MODEL.key(
        "prices_read",
        text(day),
        "The day on which these prices held.",
        default="",
        shown="unknown",
        example='"2026-11-22"',
    ),
)

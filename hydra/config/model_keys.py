"""The keys of the user's own models."""

import re
from datetime import date

from hydra.config.key import NO, Key, model_name, plain
from hydra.config.kinds import count, points, strings, text
from hydra.errors import ConfigError


def day(words: str) -> str:
    """`2026-11-22`."""
    try:
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", words):
            raise ValueError
        return date.fromisoformat(words).isoformat()
    except ValueError:
        raise ConfigError(f'takes a day as "2026-11-22", not "{words}"') from None


_PRICE = points(0, 100_000)
_TOKENS = count(1, 1_000_000_000)

MODEL_KEYS = (
    Key(
        name="models.<name>.id",
        field="id",
        kind=text(model_name),
        default=None,
        shown="required",
        example='"claude-opus-5-5"',
        meaning="What the agent's CLI calls it; the table's name stands for it.",
        repository=NO,
    ),
    Key(
        name="models.<name>.family",
        field="family",
        kind=text(plain),
        default="",
        shown="none",
        example='"claude"',
        meaning="Its family: an agent that takes models of others only is warned of.",
        repository=NO,
    ),
    Key(
        name="models.<name>.aliases",
        field="aliases",
        kind=strings(model_name, separator=","),
        default=(),
        shown="none",
        example='["work-large"]',
        meaning="Further names that stand for it.",
        repository=NO,
    ),
    Key(
        name="models.<name>.context",
        field="context",
        kind=_TOKENS,
        default=None,
        shown="unknown",
        example="200000",
        meaning="Its window, in tokens.",
        repository=NO,
    ),
    Key(
        name="models.<name>.output",
        field="output",
        kind=_TOKENS,
        default=None,
        shown="unknown",
        example="64000",
        meaning="The longest answer, in tokens.",
        repository=NO,
    ),
    Key(
        name="models.<name>.input_price",
        field="input_price",
        kind=_PRICE,
        default=None,
        shown="unknown",
        example="3",
        meaning="Dollars for a million tokens of prompts.",
        repository=NO,
    ),
    Key(
        name="models.<name>.output_price",
        field="output_price",
        kind=_PRICE,
        default=None,
        shown="unknown",
        example="15",
        meaning="Dollars for a million tokens of answers; with `input_price` only.",
        repository=NO,
    ),
    Key(
        name="models.<name>.cached_price",
        field="cached_price",
        kind=_PRICE,
        default=None,
        shown="as any other of a prompt",
        example="0.3",
        meaning="Dollars for a million tokens that were read from a cache.",
        repository=NO,
    ),
    Key(
        name="models.<name>.prices_read",
        field="prices_read",
        kind=text(day),
        default="",
        shown="unknown",
        example='"2026-11-22"',
        meaning="The day on which these prices held.",
        repository=NO,
    ),
)

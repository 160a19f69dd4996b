"""Records to JSON and back: their shape by msgspec, their bytes by the standard library.

That one keeps a path that is no UTF-8 (a lone surrogate) and writes ASCII alone, which msgspec does
not. What a reader may meet, damage of any kind or another type than is due, ends in `ValueError`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, TypeVar

from msgspec import Meta, ValidationError, convert, to_builtins

from hydra.redaction import redacted
from hydra.text import shortened

T = TypeVar("T")

SCHEMA = 1
"""Version of a run's documents, and of what `--json` prints. A field may be added under it; none
changes its meaning or goes, and a reader refuses a newer one (exit 6)."""

_NAME = r"\A[^\x00\ud800-\udc7f\udd00-\udfff]*\Z"
DiskName = Annotated[str, Meta(pattern=_NAME)]
"""What a file, a folder, a ref or a commit may be called: it has no NUL, and no half character but
those that stand for bytes."""


def as_json(record: object) -> Any:
    """A record as a reader of its JSON has it. An agent may tell a number that is none: null."""
    text = json.dumps(to_builtins(record, enc_hook=str))
    return json.loads(text, parse_constant=lambda _name: None)


def dump(document: Mapping[str, object]) -> str:
    """The document as indented ASCII JSON with a last newline, without typed secrets: safe to show
    on a terminal. Raises `ValueError` for a number that is none."""
    text = json.dumps(redacted(document), indent=2, ensure_ascii=True, allow_nan=False, default=str)
    return text + "\n"


def parse(data: bytes) -> dict[str, Any]:
    """A JSON object. Raises `ValueError` for whatever else stands there: damage, another value,
    more levels than can be read, or a number that is none or that no float holds."""
    try:
        document = _DECODER.decode(data.decode())
    except RecursionError as damage:
        raise ValueError("nested too deeply") from damage
    if not isinstance(document, dict):
        raise ValueError("another value stands there")
    return document


def _real(text: str) -> float:
    if isfinite(number := float(text)):
        return number
    raise ValueError(f"{shortened(text)} is no number")


def _whole(text: str) -> int:
    _real(text)  # it is reckoned with, and 5,000 digits take their time
    return int(text)


_DECODER = json.JSONDecoder(parse_constant=_real, parse_float=_real, parse_int=_whole)


def shaped(value: object, kind: type[T]) -> T:
    """What was read as a record. Fields that it has not are passed over: a later Hydra may add
    some. Raises `ValueError`, in a line, where one lacks, or is of another type."""
    try:
        return convert(value, kind, dec_hook=_path)
    except (ValidationError, RecursionError) as damage:  # it may quote what stands there
        raise ValueError(shortened(" ".join(f"{damage}".split()), _LONGEST)) from None


_LONGEST = 200
"""Characters of such a line."""


def _path(kind: type[Any], value: object) -> Path:
    if kind is Path and isinstance(value, str) and re.search(_NAME, value):
        return Path(value)
    raise TypeError(f"Expected a path, got `{type(value).__name__}`")

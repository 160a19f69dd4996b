"""What is spoiled: every recorded line of an agent, and the words that adapters look for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from hydra import adapters
from hydra.adapters import registry
from tests import adapter_recordings

AGENTS = tuple(registry.OWN)


@cache
def recordings(agent: str) -> tuple[tuple[bytes, ...], ...]:
    """Every recorded stream of `agent`, its lines."""
    rows = (
        tuple(line for line in path.read_bytes().split(b"\n") if line)
        for path in adapter_recordings.recordings()
        if path.parent.parent.name == agent
    )
    return tuple(lines for lines in rows if lines)


@cache
def lines(agent: str) -> tuple[bytes, ...]:
    """Every recorded line of `agent`."""
    return tuple(line for stream in recordings(agent) for line in stream)


@cache
def complaints() -> tuple[bytes, ...]:
    """What the CLIs wrote to stderr, each recording's whole."""
    paths = sorted(adapter_recordings.FIXTURES.glob("*/*/*.stderr.txt"))
    return tuple(path.read_bytes() for path in paths)


@cache
def words() -> tuple[str, ...]:
    """What the adapters look for in a text: the literal parts of all their patterns."""
    literal = re.compile(r"[A-Za-z][A-Za-z0-9' :_/-]{3,}")
    documents = {
        document
        for module in iter_modules(adapters.__path__)
        for pattern in _patterns(vars(import_module(f"{adapters.__name__}.{module.name}")).values())
        for document in literal.findall(re.sub(r"\\.", "", pattern.replace(r"\d", "1")))
    }
    return tuple(sorted(documents))


def _patterns(values: Any) -> Iterator[str]:
    for value in values:
        if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
            yield value.pattern
        elif isinstance(value, tuple | list | frozenset):
            yield from _patterns(value)

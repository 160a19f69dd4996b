"""Hydra's own adapters by key, each loaded when it is first asked for.

A race has two or three agents, and reading thirty adapters would take as long as all else before
the first of them starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from hydra.adapters.contract import Adapter

Rows = Mapping[str, str]
"""Key to the module, beside this one, that has it as ADAPTER or among its ADAPTERS."""


class Shelf(Mapping[str, Adapter]):
    """A mapping whose keys cost nothing and whose values are loaded once."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._taken: dict[str, Adapter] = {}

    def __getitem__(self, key: str) -> Adapter:
        if key not in self._taken:
            module = import_module(f"hydra.adapters.{self._rows[key]}")
            several = getattr(module, "ADAPTERS", None) or (module.ADAPTER,)
            self._taken |= {adapter.key(): adapter for adapter in several}
        return self._taken[key]

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

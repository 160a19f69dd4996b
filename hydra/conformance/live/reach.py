"""How each CLI finds the scripted model server: a row of `agents.toml` for each, by key."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from hydra.conformance.live.data import mapping, only, texts, words
from hydra.errors import ConfigError

AGENTS = Path(__file__).parent / "agents.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """One agent's way to the server. `files` are relative to its HOME; `{url}` is the server's.

    `session` are the fields that its session event is known to have; `may_warn` patterns of
    warnings that come and go.
    """

    environ: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    session: tuple[str, ...] = ()
    may_warn: tuple[str, ...] = ()

    def prepare(self, home: Path, url: str) -> dict[str, str]:
        """Writes the files, and gives the environment."""
        for name, text in self.files.items():
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("{url}", url) + "\n", encoding="utf-8")
        return {name: value.replace("{url}", url) for name, value in self.environ.items()}


@cache
def reaches() -> Mapping[str, Reach]:
    """Every row. Raises `ConfigError` for a key it does not know."""
    try:
        data = tomllib.loads(AGENTS.read_text(encoding="utf-8"))
    except ValueError as damage:
        raise ConfigError(f"{AGENTS}: {damage}") from damage
    return {agent: _row(agent, mapping(row, agent)) for agent, row in data.items()}


def _row(agent: str, row: Mapping[str, object]) -> Reach:
    only(row, Reach.__dataclass_fields__, f"{AGENTS.name}: {agent}")
    return Reach(
        environ=texts(row.get("environ", {}), f"{agent}: environ"),
        files=texts(row.get("files", {}), f"{agent}: files"),
        session=words(row.get("session", ()), f"{agent}: session"),
        may_warn=words(row.get("may_warn", ()), f"{agent}: may_warn"),
    )

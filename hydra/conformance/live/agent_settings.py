"""What is particular to one CLI in live runs: `agents/<key>.toml` for each, by its key.

How it finds the scripted model server, which situations it is run in, and what comes of those
where that is other than for all.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct, convert, field

from hydra.conformance.script import Script, among, naming, parse
from hydra.records.events import SESSION_FIELDS

AGENTS = Path(__file__).parent / "agents"


class Reach(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One agent's way to the server. `files` are relative to its HOME; `{url}` is the server's.

    `session` are the fields that its session event is known to have; `may_warn` patterns of
    warnings that come and go. `options` are words of `hydra race` that every situation gets.
    `situations` are those it is run in, () for all. `turns` are played to it in place of a
    situation's own. `expect` is, by situation, what goes over that
    situation's own `[expect]`, key by key. `unproved` are columns of the matrix that nothing here
    proves of it, because what is expected of it leaves them out.
    """

    environ: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    session: tuple[str, ...] = ()
    may_warn: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    late_tools: bool = False
    """Whether its stream tells a tool only when that has ended, or never."""
    idle: float = 6.0
    """The idle limit in seconds of a situation that waits for it: longer than its start takes."""
    prompt_bytes: int = 0
    """The longest task that it takes, where a situation's is longer; 0: any."""
    situations: tuple[str, ...] = ()
    unproved: tuple[str, ...] = ()
    expect: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    turns: Mapping[str, Script] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.session:
            among(name, SESSION_FIELDS, "session")

    def prepare(self, home: Path, url: str) -> dict[str, str]:
        """Writes the files, and gives the environment."""
        for name, text in self.files.items():
            path = home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("{url}", url) + "\n", encoding="utf-8")
        return {name: value.replace("{url}", url) for name, value in self.environ.items()}

    def left_out(self, situation: str) -> str:
        """Why it is not run in that situation; "" where it is."""
        if self.situations and situation not in self.situations:
            return "not among the situations that this agent is run in"
        return ""


@cache
def reaches() -> Mapping[str, Reach]:
    """Every agent's. Raises `ConfigError` for a key it does not know."""
    return {path.stem: _read(path) for path in sorted(AGENTS.glob("*.toml"))}


def _read(path: Path) -> Reach:
    with naming(str(path)):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        turns = {
            name: parse(f"turns.{name}", {"turn": turns})
            for name, turns in data.get("turns", {}).items()
        }
        return convert({**data, "turns": turns}, Reach)

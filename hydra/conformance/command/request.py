"""What `hydra conformance` is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field

from hydra import executables


class ConformanceRequest(Struct, frozen=True, kw_only=True):
    """What is asked for. Without `live` no CLI is started, and nothing is needed.

    `agents` are keys, `adapters` a third party's (`module:NAME`); both empty: all that are known.
    `cases` and `situations` are names, empty for all. `fixtures` is the folder of the recordings,
    None for the usual ones. `drift` is the older version, "" for none. `jobs` run at once.
    """

    agents: Sequence[str] = ()
    adapters: Sequence[str] = ()
    fixtures: Path | None = None
    cases: Sequence[str] = ()
    live: bool = False
    situations: Sequence[str] = ()
    jobs: int = 2
    drift: str = ""
    record: bool = False
    keep: bool = False
    environ: Mapping[str, str] = field(default_factory=executables.users_environment)

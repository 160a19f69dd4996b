"""What one agent did in one situation, and what Hydra said of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field


class Observation(Struct, frozen=True, kw_only=True):
    """One situation as one agent met it.

    `events` are the agent's own in order, as documents (`kind`, `sub`, `data`); `patch` are paths
    with git's letter; `usage` as the result has it. `stdout` and `stderr` are what the CLI wrote
    (kept until the run's folders are removed). `places` are this run's own paths, which a record
    has to be scrubbed of: what each is called there, by path. `differences` are sentences, empty
    where all was as expected; `reason` is why it was not tried, or "".
    """

    situation: str
    agent: str
    version: str
    status: str = ""
    error: str = ""
    error_reason: str = ""
    exit: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[Mapping[str, Any], ...] = ()
    usage: Mapping[str, Any] = field(default_factory=dict)
    patch: Mapping[str, str] = field(default_factory=dict)
    stdout: Path | None = None
    stderr: Path | None = None
    places: Mapping[str, str] = field(default_factory=dict)
    sides: Mapping[int, Path] = field(default_factory=dict)
    """Side files that were in the lane's own home, by their place in the descriptor."""
    differences: tuple[str, ...] = ()
    reason: str = ""
    seconds: float = 0.0
    proves: tuple[str, ...] = ()
    """The dimensions of the matrix that this situation proves where it passed."""

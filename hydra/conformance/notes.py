"""What people put down about an agent, beside its recordings: research note, open issues."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert

from hydra.errors import ConfigError

NOTE = "note.md"
ISSUES = "issues.toml"

HEADINGS = ("## Shape", "## Risks")
"""What a research note has to say something under (seed 002, stage 1)."""


class Issue(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An open issue of one adapter. `priority` is P0 (worst) to P9; `since` a day, `place` a link
    or a file that has more of it, or ""."""

    priority: Annotated[str, Meta(pattern=r"^P\d$")]
    title: Annotated[str, Meta(min_length=1)]
    since: str = ""
    place: str = ""


def is_real(folder: Path) -> bool:
    """Whether a version's folder was recorded: not where its NOTE.txt says `Not recorded`."""
    return not _text(folder / "NOTE.txt").startswith("Not recorded")


def noted(root: Path, agent: str) -> bool:
    """Whether the agent's research note says something under each heading."""
    values: dict[str, bool] = {}
    heading = ""
    for line in _text(root / agent / NOTE).splitlines():
        if line.startswith("## "):
            heading = line.rstrip()
        elif line.strip():
            values[heading] = True
    return all(values.get(text) for text in HEADINGS)


def issues(root: Path, agent: str) -> tuple[Issue, ...] | None:
    """The agent's known open issues; None where there is no list: unknown, which is not none.

    Raises `ConfigError` where the list cannot be understood.
    """
    path = root / agent / ISSUES
    if not path.is_file():
        return None
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        if document.keys() - {"open"}:
            raise ValueError("it has nothing but [[open]]")
        rows = convert(document.get("open", []), list[dict[str, Any]])
        # A day may be written as TOML's own.
        return tuple(convert({**row, "since": str(row.get("since", ""))}, Issue) for row in rows)
    except (ValueError, ValidationError) as error:
        raise ConfigError(
            f"{agent}/{ISSUES} cannot be read: {error}",
            hint="an [[open]] has a priority (P0 to P9) and a title, may have since and place",
        ) from error


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.is_file() else ""

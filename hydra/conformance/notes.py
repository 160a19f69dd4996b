"""What people put down about an agent, beside its recordings: research note, open issues."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from hydra.errors import ConfigError

NOTE = "note.md"
ISSUES = "issues.toml"

HEADINGS = ("## Shape", "## Risks")
"""What a research note has to say something under (seed 002, stage 1)."""

_PRIORITY = re.compile(r"P\d")


class Issue(Struct, frozen=True, kw_only=True):
    """An open issue of one adapter. `priority` is P0 (worst) to P9; `since` a day, `place` a link
    or a file that has more of it, or ""."""

    priority: str
    title: str
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
        if document.keys() - {"open"} or not isinstance(document.get("open", []), list):
            raise ValueError("it has nothing but [[open]]")
        return tuple(_issue(row) for row in document.get("open", []))
    except ValueError as error:
        raise ConfigError(
            f"{agent}/{ISSUES} cannot be read: {error}",
            hint="an [[open]] has a priority (P0 to P9) and a title, may have since and place",
        ) from error


def _issue(document: Mapping[str, Any]) -> Issue:
    names = {"priority", "title", "since", "place"}
    if not isinstance(document, dict) or document.keys() - names:
        raise ValueError(f"an [[open]] has {', '.join(sorted(names))}")
    priority, title = str(document.get("priority", "")), str(document.get("title", ""))
    if not _PRIORITY.fullmatch(priority) or not title:
        raise ValueError(f"an [[open]] lacks its priority or its title: {dict(document)}")
    since, place = str(document.get("since", "")), str(document.get("place", ""))
    return Issue(priority=priority, title=title, since=since, place=place)


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.is_file() else ""

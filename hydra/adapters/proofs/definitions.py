"""What a situation was when it was met: what a CLI did in another proves nothing of this one."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

_CONFORMANCE = Path(__file__).parents[2] / "conformance"
_REMARKS = ("about", "seconds", "waits", "skip", "proves")
"""What of a situation changes nothing that happens in it."""


@lru_cache
def definition(name: str) -> str:
    """A digest of what is done and expected in a situation, of its script too; "" where there is
    no such situation. What one agent alone is expected to do is left out."""
    try:
        data = _data("live/situations", name)
    except (OSError, ValueError):
        return ""
    scripted = _data("scripts", str(data["script"])) if "script" in data else {}
    agents = {path.stem for path in (_CONFORMANCE / "live" / "agents").glob("*.toml")}
    return digest(data, scripted, agents)


def digest(data: Mapping[str, Any], script: Mapping[str, Any], agents: set[str]) -> str:
    """Of a situation's data and its script's, less the expectations of these agents."""
    expect = {key: value for key, value in data.get("expect", {}).items() if key not in agents}
    facts = {key: value for key, value in data.items() if key not in _REMARKS}
    document = [facts | {"expect": expect}, {**script, "about": ""}]
    text = json.dumps(document, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _data(folder: str, name: str) -> dict[str, Any]:
    return tomllib.loads((_CONFORMANCE / folder / f"{name}.toml").read_text(encoding="utf-8"))

"""What real agent CLIs offered the model, and how they named their folder: tests/data/offers.toml,
shortened from their requests (arguments only, `*` where one is required; all of them texts but for
those in `_KINDS`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.support.tables import table

FOLDER = "/lane/the shop"

_KINDS: dict[str, dict[str, Any]] = {
    "edits": {"type": "array", "items": {"type": "object"}},
    "files": {"type": "array", "items": {"type": "object"}},
    "commands": {"type": "array", "items": {"type": "string"}},
    "riskLevel": {"type": "string", "enum": ["low", "medium", "high"]},
    "timeout": {"type": "number"},
    "initial_wait": {"type": "integer"},
    "is_background": {"type": "boolean"},
    "edit_mode": {"type": "string", "enum": ["replace", "insert"]},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One CLI in one version: how it names the folder, and its tools."""

    version: str
    folder: str
    tools: dict[str, str]

    def schemas(self) -> dict[str, dict[str, Any]]:
        """The tools with the JSON schema of each."""
        return {name: _schema(arguments.split()) for name, arguments in self.tools.items()}


def _schema(arguments: list[str]) -> dict[str, Any]:
    names = [name.rstrip("*") for name in arguments]
    needed = [name.rstrip("*") for name in arguments if name.endswith("*")]
    properties = {name: _KINDS.get(name, {"type": "string"}) for name in names}
    return {"type": "object", "properties": properties, "required": needed}


OFFERS = {
    agent: Offer(**{**row, "folder": row["folder"].replace("FOLDER", FOLDER)})
    for agent, row in table("offers").items()
}

"""What a descriptor tells of an agent beyond what a race needs: for `hydra agents NAME`."""

from __future__ import annotations

from collections.abc import Mapping

from hydra.adapters.contract import Descriptor, Sessions
from hydra.model import Tier

TIERS = {Tier.TIER1: "tier 1", Tier.EXPERIMENTAL: "experimental"}
"""A tier as people read it in the tables of what is proved."""

KINDS = {Tier.TIER1: "default", Tier.EXPERIMENTAL: "experimental"}
"""A tier as people read it where they choose: the default ones race when none is named."""


def facts(one: Descriptor) -> list[tuple[str, str]]:
    """(label, words) in the order in which they are shown; without words it is left out."""
    more = [f"{it.kind} ({it.platform}): {it.command}" for it in one.installs]
    return [
        ("about", one.tagline),
        ("permissions", _pairs({key.value: word for key, word in one.modes.items()})),
        ("hidden", f"confined, of a repository: {', '.join(one.masked)}" if one.masked else ""),
        ("effort", _pairs({key.value: word for key, word in one.efforts.items()})),
        ("budget", f"itself keeps {', '.join(one.budgets)}" if one.budgets else ""),
        ("tiers", ", ".join(one.service_tiers)),
        ("models", f"only {', '.join(one.families)}" if one.families else "of any provider"),
        ("local", "can be led to a model server on this machine" if one.local_models else ""),
        *(("installs", way) for way in more),
        ("sessions", _sessions(one.sessions)),
        ("extensions", ", ".join(one.extensions.formats)),
        ("registry", one.extensions.registry),
        ("MCP", one.extensions.mcp),
        *((f"on {name}", note) for name, note in one.platforms.items() if note),
        ("not run", one.unrunnable),
    ]


def document(one: Descriptor) -> dict[str, object]:
    """The same as JSON; every field is always there."""
    return {
        "tagline": one.tagline or None,
        "permissions": {key.value: word for key, word in one.modes.items()},
        "efforts": {key.value: word for key, word in one.efforts.items()},
        "budgets": list(one.budgets),
        "service_tiers": list(one.service_tiers),
        "families": list(one.families),
        "local_models": one.local_models,
        "installs": [it._asdict() for it in one.installs],
        "sessions": None if one.sessions is None else one.sessions._asdict(),
        "extensions": {**one.extensions._asdict(), "formats": list(one.extensions.formats)},
        "platforms": dict(one.platforms),
        "masked": list(one.masked),
        "unrunnable": one.unrunnable or None,
    }


def _pairs(words: Mapping[str, str]) -> str:
    return ", ".join(name if name == word else f"{name} ({word})" for name, word in words.items())


def _sessions(held: Sessions | None) -> str:
    if held is None:
        return ""
    can = [word for word, there in (("resume", held.resume), ("fork", held.fork)) if there]
    return f"~/{held.place} ({held.format})" + (f"; {' and '.join(can)}" if can else "")

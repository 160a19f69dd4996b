"""What Hydra says of itself in the Agent Client Protocol, and what one attempt wants."""

from __future__ import annotations

from dataclasses import dataclass, field

from hydra import __version__
from hydra.adapters.jsonlines import Object
from hydra.model import Permission

VERSION = 1
"""Of the protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What one attempt wants of its session."""

    root: str = ""
    prompt: str = ""
    permission: Permission | None = None
    model: str = ""
    effort: str = ""
    resume: str = ""
    fork: bool = False
    meta: Object = field(default_factory=dict)
    """What its sessions take beyond the protocol, as `_meta`."""


def introduction() -> Object:
    """The parameters of `initialize`: neither files nor a terminal are offered."""
    return {
        "protocolVersion": VERSION,
        "clientCapabilities": {},
        "clientInfo": {"name": "hydra", "title": "Hydra", "version": __version__},
    }

"""The wire formats a scripted agent can speak, one module each, imported only when spoken."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hydra.commands.demo.wires.base import Wire

SPEAKERS = {
    "claude": ("claude", "ClaudeWire"),
    "codex": ("codex", "CodexWire"),
    "cursor-agent": ("cursor", "CursorWire"),
}
"""Adapter key to the module here and the class in it."""


def speaker(agent: str) -> type[Wire]:
    """The wire format of `agent`, an adapter's key."""
    module, name = SPEAKERS[agent]
    # Not importlib: it imports warnings, which costs a millisecond.
    cls: type[Wire] = getattr(__import__(f"{__name__}.{module}", fromlist=[name]), name)
    return cls

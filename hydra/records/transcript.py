"""What an attempt's events say, folded as they come."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from msgspec.structs import replace

from hydra.records.events import AgentEvent
from hydra.records.outcome import Usage


@dataclass
class AgentTranscript:
    """What one attempt's events say, folded as they come."""

    usage: Usage = field(default_factory=Usage)
    session: str = ""
    message: str = ""
    permission: str = ""
    sandbox: str = ""
    completed: AgentEvent | None = None
    failed: AgentEvent | None = None
    denied: list[str] = field(default_factory=list)
    failed_items: int = 0
    last_words: str = ""
    """The last that it said, be it a message or a line of plain text among its output."""
    sign_in_refused: bool = False
    """Whether its service refused the sign-in, by the agent's own word."""

    def add(self, event: AgentEvent) -> None:
        """Takes one event in. A later closing event stands over an earlier one."""
        data = event.data
        refused = data.get("error") == "AuthMissing" or data.get("status") in (401, 403)
        if event.kind in ("failed", "progress") and refused:
            self.sign_in_refused = True
        if event.kind == "message" and not event.sub:
            self.message = self.last_words = str(data.get("text", ""))
        elif event.kind == "usage":
            self.usage = _usage(self.usage, event)
        elif event.kind == "progress" and event.sub == "session":
            self.session = str(data.get("session") or self.session)
            self.permission = str(data.get("permission") or self.permission)
            self.sandbox = str(data.get("sandbox") or self.sandbox)
        elif event.kind == "progress" and event.sub == "malformed":
            self.last_words = str(data.get("line") or self.last_words)
        elif event.kind == "completed":
            self.completed, self.failed = event, None
            denials = data.get("denials")
            if isinstance(denials, list | tuple):
                self.denied = [str(name) for name in denials]
            items = data.get("failed_items")
            self.failed_items = items if isinstance(items, int) else 0
            self.message = str(data.get("text") or self.message)
        elif event.kind == "failed" and data.get("terminal"):
            self.failed = event


def _usage(usage: Usage, event: AgentEvent) -> Usage:
    numbers = usage.numbers
    for name in ("input_tokens", "output_tokens", "cached_tokens", "cost_usd"):
        value = event.data.get(name)
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue
        if abs(value) < math.inf:  # an agent may say NaN
            # Totals: one that is smaller than before is of a part alone.
            numbers[name] = max(value, numbers.get(name, value))
    return replace(usage, **numbers)

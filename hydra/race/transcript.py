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
        kind, sub, data = event
        if data.get("error") == "AuthMissing" or data.get("status") in (401, 403):
            self.sign_in_refused |= kind in ("failed", "progress")
        match kind, sub:
            case "message", "":
                self.message = self.last_words = str(data.get("text", ""))
            case "usage", _:
                self.usage = _usage(self.usage, event)
            case "progress", "session":
                self.session = str(data.get("session") or self.session)
            case "progress", "malformed":
                self.last_words = str(data.get("line") or self.last_words)
            case "completed", _:
                self.completed, self.failed = event, None
                denials, items = data.get("denials"), data.get("failed_items")
                if isinstance(denials, list | tuple):
                    self.denied = [str(name) for name in denials]
                self.failed_items = items if isinstance(items, int) else 0
                self.message = str(data.get("text") or self.message)
            case "failed", _ if data.get("terminal"):
                self.failed = event


def _usage(usage: Usage, event: AgentEvent) -> Usage:
    numbers = usage.numbers
    for name in Usage.__struct_fields__:
        value = event.data.get(name)
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue
        if abs(value) < math.inf:  # an agent may say NaN
            # Totals: one that is smaller than before is of a part alone.
            numbers[name] = max(value, numbers.get(name, value))
    return replace(usage, **numbers)

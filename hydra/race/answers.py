"""What an agent answered, whole."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from hydra.race.context import AttemptContext
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus, Outcome

MESSAGES = 50
"""Of an agent's last words so many are kept in mind."""

_LINE = 4 * 1024**2


def answers(context: AttemptContext, folder: Path, outcome: Outcome) -> tuple[str, ...]:
    """What the agent said, whole, the last first: read again from what it printed, since events
    hold the beginnings of long texts alone."""
    parser = context.adapter.parser()
    lines: list[str] = []
    name = "raw.jsonl" if outcome.attempt == 1 else f"raw.{outcome.attempt}.jsonl"
    with suppress(OSError), (folder / name).open("rb") as raw:
        while line := raw.readline(_LINE):
            with suppress(Exception):  # an adapter's mistake costs a line
                lines += _texts(parser.parse_line(line.rstrip(b"\n")))
            del lines[:-MESSAGES]
    with suppress(Exception):
        lines += _texts(parser.end(outcome.exit or ExitStatus(code=0), {}))
    texts = dict.fromkeys(context.redactor.text(text) for text in reversed(lines) if text.strip())
    return tuple(texts) or ((outcome.message,) if outcome.message.strip() else ())


def _texts(events: Sequence[AgentEvent]) -> list[str]:
    agent_events = [
        event for event in events if event.kind in ("message", "completed") and not event.sub
    ]
    return [str(event.data.get("text", "")) for event in agent_events]

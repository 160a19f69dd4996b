"""`--events`: the run's events as they are recorded, one JSON object a line, nothing decided."""

from __future__ import annotations

from collections.abc import Callable

from hydra.records.events import Event, decode, encode
from hydra.report import checks
from hydra.report.phrases import describe, opening
from hydra.report.text import clean, duration

_ENCODED = bytes(range(0x20, 0x7F)) + b"\n"
"""All that `encode` writes."""


class JsonLines:
    """Writes each event's line, byte for byte as in `events.jsonl` (docs/reference/events.md)."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write

    def event(self, event: Event) -> None:
        """Writes one event. Raises what `write` raises: a reader that has gone
        (`BrokenPipeError`) is for the caller to answer."""
        self._write(encode(event))

    def lines(self, data: bytes) -> None:
        """Writes whole lines of the record as they are; what has a byte that Hydra never writes
        there (somebody else did) is read and written anew, so that a terminal can show it."""
        if not data.translate(None, _ENCODED):
            self._write(data)
            return
        for line in data.split(b"\n")[:-1]:
            self.event(decode(line))

    def tick(self, mono: float) -> None:
        """Nothing: an event stream has no clock."""

    def close(self) -> None:
        """Nothing is held back."""


# ---- One plain line an event, where standard error is no terminal (a log, CI, a pipe).


class PlainLines:
    """Prints what matters of each event: `0:41 claude  Edit src/pager.py`.

    Messages, token counts, successful tool results and unknown lines are left out: there are
    thousands of them, and `--events` has them all.
    """

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._closings: dict[str, str] = {}

    def event(self, event: Event) -> None:
        """Prints one event's line, if it has one; a race's beginning has several."""
        who = clean(event.lane) or checks.nobodys(event.kind) or "hydra"
        whats = opening(event) if event.kind == "run_started" else [describe(event)]
        if event.kind == "agent_started":
            self._closings.pop(event.lane, None)
        elif event.sub == "closing" or event.kind in ("completed", "failed"):
            if whats[0] == self._closings.get(event.lane):
                return  # it was told when it was first said
            self._closings[event.lane] = whats[0]
        for what in filter(None, whats):
            self._write(f"{duration(event.mono):>5} {who:<10} {what}\n")

    def tick(self, mono: float) -> None:
        """Nothing: a log has no clock to repaint. Here so that both displays are driven alike."""

    def close(self) -> None:
        """Nothing is held back."""

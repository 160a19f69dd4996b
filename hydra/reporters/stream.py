"""`--events`: the run's events as they are recorded, one JSON object a line, nothing decided."""

from __future__ import annotations

from collections.abc import Callable

from hydra.events import Event, decode, encode

_ENCODED = bytes(range(0x20, 0x7F)) + b"\n"
"""All that `encode` writes."""


class EventStream:
    """Writes each event's line, byte for byte as `events.jsonl` has it (docs/events.md)."""

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

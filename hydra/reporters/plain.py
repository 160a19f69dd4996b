"""One plain line an event, where standard error is no terminal (a log, CI, a pipe)."""

from __future__ import annotations

from collections.abc import Callable

from hydra.events import Event
from hydra.reporters import checks
from hydra.reporters.text import clean, duration
from hydra.reporters.words import describe


class PlainLines:
    """Prints what matters of each event: `0:41 claude  Edit src/pager.py`.

    Messages, token counts, successful tool results and unknown lines are left out: there are
    thousands of them, and `--events` has them all.
    """

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write

    def event(self, event: Event) -> None:
        """Prints one event's line, if it has one."""
        what = describe(event)
        if what:
            nobodys = checks.nobodys(event.kind) or "hydra"
            who = clean(event.lane) or nobodys
            self._write(f"{duration(event.mono):>5} {who:<10} {what}\n")

    def tick(self, mono: float) -> None:
        """Nothing: a log has no clock to repaint. Here so that both displays are driven alike."""

    def close(self) -> None:
        """Nothing is held back."""

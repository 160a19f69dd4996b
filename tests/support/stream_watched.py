"""A parser under watch: what it is given, what it raises, and how long anybody waits for it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from hydra.adapters import json_stream
from hydra.adapters.contract import Parser
from hydra.records.events import AgentEvent
from hydra.records.outcome import ExitStatus

T = TypeVar("T")


class Endless(BaseException):
    """No `Exception`, which the reading would take for an adapter's mistake."""


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Raises `Endless` in what takes longer; the regular expressions of Python let it through."""

    def give_up(number: int, frame: object) -> None:
        raise Endless

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@dataclass
class Watched:
    """A parser that counts what it is given, and says what it raises before `reading` hides it."""

    parser: Parser
    faults: list[str]
    lines: int = 0
    malformed: int = 0
    unknown: int = 0
    blank: int = 0
    plain: int = 0
    """Lines that were told as plain text."""
    again: int = 0
    """Of these, the ones that were tried as JSON before."""
    raw_mode: bool = False
    """Set when the reading falls back to plain text."""

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        self.lines += 1
        events = self._try(self.parser.parse_line, line)
        if not events and json_stream.decode(line) is None:
            self.blank += 1
        unknown = sum(event.sub == "unknown" for event in events if event.kind == "progress")
        malformed = sum(event.sub == "malformed" for event in events if event.kind == "progress")
        self.unknown += unknown
        self.malformed += malformed
        self.again += malformed and self.raw_mode
        return events

    def parse_raw(self, chunk: bytes) -> list[AgentEvent]:
        self.plain += sum(1 for line in chunk.split(b"\n")[:-1] if line)
        return self._try(self.parser.parse_raw, chunk)

    def end(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        return self._try(lambda files: self.parser.end(exit, files), files)

    def _try(self, work: Callable[[T], list[AgentEvent]], what: T) -> list[AgentEvent]:
        try:
            return work(what)
        except Exception as error:
            self.faults.append(f"the parser raised {error!r}")
            raise

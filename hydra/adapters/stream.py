"""What every JSON-lines parser here shares: decoding, counting, and exactly one ending.

A CLI's own "done" is held until its process has ended: Claude Code writes several `result`
lines in one run (background tasks), Codex tells some denials on stderr only. What must end a
lane at once (a refused sign-in) is given at once.
"""

from __future__ import annotations

import codecs
from collections import OrderedDict
from collections.abc import Mapping

from hydra.adapters import said
from hydra.adapters.endings import Unclosed, explain
from hydra.adapters.jsonlines import Malformed, Object, decode
from hydra.events import AgentEvent
from hydra.model import ExitStatus


class Recent:
    """Ids that a stream has named, with a word for each: the newest, however many it makes up."""

    LARGEST = 10_000
    LONGEST = 200

    def __init__(self) -> None:
        self._held: OrderedDict[str, str] = OrderedDict()

    def __contains__(self, id: str) -> bool:
        return id[: self.LONGEST] in self._held

    def add(self, id: str, word: str = "") -> None:
        """`id` was there; a word that it has already is replaced."""
        self._held[id[: self.LONGEST]] = word[: self.LONGEST]
        if len(self._held) > self.LARGEST:
            self._held.popitem(last=False)

    def word(self, id: str) -> str:
        """What belongs to `id`; "" for one that is not known (any more)."""
        return self._held.get(id[: self.LONGEST], "")

    def words(self) -> list[str]:
        """All of them, in the order in which their ids came."""
        return list(self._held.values())


class JsonStream:
    """Base of the parsers: a subclass gives `take` and `finish`."""

    label = ""

    def __init__(self) -> None:
        self.malformed = 0
        self.understood = 0
        self.ended = False
        self._plain = codecs.getincrementaldecoder("utf-8")("replace")

    def take(self, line: Object) -> list[AgentEvent]:
        """One JSON object of the stream."""
        raise NotImplementedError

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """What is to be said at the end; the ending itself too, where the stream had one."""
        raise NotImplementedError

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        """One line without its newline. Never raises."""
        try:
            holder = decode(line)
        except Malformed as error:
            self.malformed += 1
            return [said.progress("malformed", text=str(error))]
        if holder is None:
            return []
        events = self.take(holder)
        understood = True
        ends = False
        for event in events:
            if event.kind == "progress":
                understood = understood and event.sub != "unknown"
            elif event.kind in ("completed", "failed"):
                ends = True
        self.understood += understood
        return self._once(events) if ends else events

    def parse_raw(self, chunk: bytes) -> list[AgentEvent]:
        """Plain text, after JSON has failed repeatedly."""
        return said.message(self._plain.decode(chunk).strip("\x00\r\n"))

    def end(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """What only the end tells; after it the stream has had exactly one ending."""
        events = self._once(self.finish(exit, files))
        if self.ended:
            return events
        stderr = files.get("stderr", b"").decode("utf-8", "replace")
        unclosed = Unclosed(
            label=self.label,
            exit=exit,
            stderr=stderr,
            understood=self.understood,
            malformed=self.malformed,
        )
        return [*events, *self._once([explain(unclosed)])]

    def _once(self, events: list[AgentEvent]) -> list[AgentEvent]:
        """`events` less every ending after the first."""
        kept = []
        for event in events:
            if event.kind in ("completed", "failed"):
                if self.ended:
                    continue
                self.ended = True
            kept.append(event)
        return kept


def unknown(line: Object) -> list[AgentEvent]:
    """A line of a type that this adapter does not know: counted, never an error."""
    parts = [line.get(key) for key in ("type", "subtype")]
    name = "/".join(part for part in parts if isinstance(part, str))
    return [said.progress("unknown", type=name[:80] or "?")]

"""What every JSON-lines parser here shares: decoding, counting, and exactly one ending.

A CLI's own "done" is held until its process has ended: Claude Code writes several `result`
lines in one run (background tasks), Codex tells some denials on stderr only. What must end a
lane at once (a refused sign-in) is given at once.
"""

from __future__ import annotations

import codecs
from collections import OrderedDict
from collections.abc import Callable, Container, Mapping, Sequence
from types import MappingProxyType

from hydra.adapters import event_builders as build
from hydra.adapters.failures import UnclosedStream, explain
from hydra.adapters.json_fields import MalformedLine, Object, decode, first, integer, string
from hydra.records.events import AgentEvent, clip
from hydra.records.outcome import ExitStatus

_PLAIN = 500
"""Characters of a line of plain text that are kept."""


class RecentIds:
    """Ids that a stream has named, with a word for each: the newest, however many it makes up."""

    LARGEST = 10_000
    LONGEST = 200

    def __init__(self) -> None:
        self._values: OrderedDict[str, str] = OrderedDict()

    def __contains__(self, id: str) -> bool:
        return id[: self.LONGEST] in self._values

    def add(self, id: str, term: str = "") -> None:
        """`id` was there; a word that it has already is replaced."""
        self._values[id[: self.LONGEST]] = term[: self.LONGEST]
        if len(self._values) > self.LARGEST:
            self._values.popitem(last=False)

    def label(self, id: str) -> str:
        """What belongs to `id`; "" for one that is not known (any more)."""
        return self._values.get(id[: self.LONGEST], "")

    def labels(self) -> list[str]:
        """All of them, in the order in which their ids came."""
        return list(self._values.values())


class Tools:
    """What was called and what came of it. Sans-I/O, and bounded."""

    def __init__(self, edits: Container[str]) -> None:
        """`edits` are the names of those that change files."""
        self.denials: list[str] = []
        """The names of those that were refused, in order; the first that there is room for."""
        self.failed_edits = 0
        self._edits = edits
        self._called = RecentIds()
        self._answered = RecentIds()

    def call(self, id: str, name: str, summary: str) -> list[AgentEvent]:
        """A call; nothing where it was told before."""
        if id in self._called:
            return []
        self._called.add(id, name)
        return [build.tool_call(id, name, summary)]

    def name(self, id: str) -> str:
        """The tool that this call was of; "" for one that is not known."""
        return self._called.label(id)

    def over(self, id: str) -> bool:
        """Whether this call has its answer."""
        return id in self._answered

    def answer(
        self, id: str, name: str, text: str, *, ok: bool, denied: bool = False
    ) -> list[AgentEvent]:
        """What a tool answered; nothing where it was told before. A refusal is no failure."""
        if id in self._answered:
            return []
        self._answered.add(id)
        if denied and len(self.denials) < RecentIds.LARGEST:
            self.denials.append(name[: RecentIds.LONGEST])
        self.failed_edits += name in self._edits and not ok and not denied
        return [build.tool_result(id, ok, text, denied)]


def summary(verb: str, document: Object, targets: Sequence[str], root: str = "") -> str:
    """`$ pytest -q`, or the verb and what it works on: the first of `targets` that was given,
    relative to the worktree `root`."""
    if string(document, "command"):
        return build.command(string(document, "command"))
    target = first(document, targets)
    return f"{verb} {build.path(target, root)}" if target else verb


class JsonStream:
    """Base of the parsers: a subclass gives `take`, or who reads which type of line, and
    `finish`."""

    label = ""
    edits: Container[str] = ()
    """Its tools that change files."""
    _readers: Mapping[str, Callable[[Object], list[AgentEvent]]] = MappingProxyType({})

    def __init__(self) -> None:
        self.malformed = 0
        self.understood = 0
        self.ended = False
        self._tools = Tools(self.edits)
        self._plain = codecs.getincrementaldecoder("utf-8")("replace")

    def take(self, line: Object) -> list[AgentEvent]:
        """One JSON object of the stream."""
        reader = self._readers.get(string(line, "type"))
        return reader(line) if reader else unknown(line)

    def finish(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """What is to be said at the end; the ending itself too, where the stream had one."""
        raise NotImplementedError

    def parse_line(self, line: bytes) -> list[AgentEvent]:
        """One line without its newline. Never raises."""
        try:
            holder = decode(line)
        except MalformedLine as error:
            self.malformed += 1
            text = line.decode("utf-8", "replace").strip("\x00\r\n\t ")
            # Plain text may be the CLI's last word; a torn line of JSON is none.
            plain = "" if text.startswith(("{", "[")) else clip(text, _PLAIN)
            return [build.progress("malformed", text=str(error), line=plain)]
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
        return build.message(self._plain.decode(chunk).strip("\x00\r\n"))

    def end(self, exit: ExitStatus, files: Mapping[str, bytes]) -> list[AgentEvent]:
        """What only the end tells; after it the stream has had exactly one ending."""
        events = self._once(self.finish(exit, files))
        if self.ended:
            return events
        stderr = stderr_of(files)
        unclosed = UnclosedStream(
            label=self.label,
            exit=exit,
            stderr=stderr,
            understood=self.understood,
            malformed=self.malformed,
        )
        return [*events, *self._once([explain(unclosed)])]

    def closing(self) -> list[AgentEvent]:
        """That its closing line has come, with how the stream ends as far as it is known by now;
        the ending itself is held until the process has ended."""
        last = next(iter(self.finish(ExitStatus(code=0), {})[-1:]), None)
        if last is None or last.kind not in ("completed", "failed"):
            return []
        ok = last.kind == "completed"
        text = str(last.data.get("text" if ok else "message", ""))
        return [build.progress("closing", ok=ok, text=text)]

    def _done(self, text: str, *, turns: int | None = None, after: str = "") -> list[AgentEvent]:
        """It says that it is done, with what was refused to its tools and what edits failed."""
        denials, failed = self._tools.denials, self._tools.failed_edits
        done = build.completed(text, turns=turns, denials=denials, failed_items=failed, after=after)
        return [done]

    def _once(self, events: list[AgentEvent]) -> list[AgentEvent]:
        """`events` less every ending after the first."""
        agent_events = []
        for event in events:
            if event.kind in ("completed", "failed"):
                if self.ended:
                    continue
                self.ended = True
            agent_events.append(event)
        return agent_events


def unknown(line: Object) -> list[AgentEvent]:
    """A line of a type that this adapter does not know: counted, never an error."""
    parts = [line.get(key) for key in ("type", "subtype")]
    name = "/".join(part for part in parts if isinstance(part, str))
    return [build.progress("unknown", type=name[:80] or "?")]


def tokens(
    usage: Object,
    count: str,
    out: str,
    cached: str,
    *,
    beside: Sequence[str] = (),
    cost: float | None = None,
) -> list[AgentEvent]:
    """Totals as `usage` has them by these names. `beside` are those of tokens that came out of a
    cache or went into one and are not in its `count`. A cost of 0 is a price that nobody knows."""
    total = integer(usage, count)
    if total is not None:
        total += sum(integer(usage, name) or 0 for name in beside)
    return build.usage(
        input_tokens=total,
        output_tokens=integer(usage, out),
        cached_tokens=integer(usage, cached),
        cost_usd=cost or None,
    )


def stderr_of(files: Mapping[str, bytes]) -> str:
    """The last of what it wrote to stderr, as text."""
    return files.get("stderr", b"").decode("utf-8", "replace")

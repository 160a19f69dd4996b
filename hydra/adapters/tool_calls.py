"""The tools that an agent uses, as one stream tells of them: each call and each answer once."""

from __future__ import annotations

from collections.abc import Container, Sequence

from hydra.adapters import event_builders
from hydra.adapters.json_stream import Object, RecentIds, first, string
from hydra.records.events import AgentEvent


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
        return [event_builders.tool_call(id, name, summary)]

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
        return [event_builders.tool_result(id, ok, text, denied)]


def summary(verb: str, document: Object, targets: Sequence[str], root: str = "") -> str:
    """`$ pytest -q`, or the verb and what it works on: the first of `targets` that was given,
    relative to the worktree `root`."""
    if string(document, "command"):
        return event_builders.command(string(document, "command"))
    target = first(document, targets)
    return f"{verb} {event_builders.path(target, root)}" if target else verb

"""The tools that an agent uses, as one stream tells of them: each call and each answer once."""

from __future__ import annotations

from collections.abc import Container, Sequence

from hydra.adapters import said
from hydra.adapters.jsonlines import Object, first, string
from hydra.adapters.stream import Recent
from hydra.events import AgentEvent


class Tools:
    """What was called and what came of it. Sans-I/O, and bounded."""

    def __init__(self, edits: Container[str]) -> None:
        """`edits` are the names of those that change files."""
        self.denials: list[str] = []
        """The names of those that were refused, in order; the first that there is room for."""
        self.failed_edits = 0
        self._edits = edits
        self._called = Recent()
        self._answered = Recent()

    def call(self, id: str, name: str, summary: str) -> list[AgentEvent]:
        """A call; nothing where it was told before."""
        if id in self._called:
            return []
        self._called.add(id, name)
        return [said.tool_call(id, name, summary)]

    def name(self, id: str) -> str:
        """The tool that this call was of; "" for one that is not known."""
        return self._called.word(id)

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
        if denied and len(self.denials) < Recent.LARGEST:
            self.denials.append(name[: Recent.LONGEST])
        self.failed_edits += name in self._edits and not ok and not denied
        return [said.tool_result(id, ok, text, denied)]


def summary(verb: str, given: Object, targets: Sequence[str], root: str = "") -> str:
    """`$ pytest -q`, or the verb and what it works on: the first of `targets` that was given,
    relative to the worktree `root`."""
    if string(given, "command"):
        return said.command(string(given, "command"))
    target = first(given, targets)
    return f"{verb} {said.path(target, root)}" if target else verb

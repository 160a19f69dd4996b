"""What an agent says over the Agent Client Protocol, and what it used: chunks into messages,
plans into lines, totals into Hydra's."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hydra.adapters import said
from hydra.adapters.jsonlines import Object, integer, mapping, number, objects, string
from hydra.events import AgentEvent

_PIECE = 4000
"""Characters of thinking after which it is told: it may go on for longer than the idle limit."""
_LONGEST = said.WHOLE
_ENTRIES = 200
_BOXES = {"completed": "[x]", "in_progress": "[>]"}
_NO_HEADING = re.compile(r"^\*{4}\n")
"""Gemini writes a heading of no words before each piece of thinking that has none."""


class Speech:
    """Chunks joined into messages: a chunk of another message, or of another kind, ends one."""

    def __init__(self) -> None:
        self.last = ""
        """The last message that was told whole."""
        self._kind = ""
        self._id = ""
        self._parts: list[str] = []
        self._length = 0

    def add(self, kind: str, id: str, text: str) -> list[AgentEvent]:
        """A chunk; `kind` is "" or "thinking"."""
        if kind:
            text = _NO_HEADING.sub("", text)
        if not text:
            return []
        new = self._parts and (kind != self._kind or (id and self._id and id != self._id))
        events = self.flush() if new else []
        self._kind, self._id = kind, id or self._id
        self._parts.append(text)
        self._length += len(text)
        full = self._length > (_PIECE if kind else _LONGEST)
        return [*events, *self.flush()] if full else events

    def flush(self) -> list[AgentEvent]:
        """What was said since, as one message."""
        text = "".join(self._parts).strip()
        kind = self._kind
        self._kind = self._id = ""
        self._parts, self._length = [], 0
        if kind:
            return said.message(text, kind)
        self.last = text or self.last
        return said.message(text)


def plan(update: Object) -> str:
    """A plan's entries, a line each."""
    return "\n".join(
        f"- {_BOXES.get(string(entry, 'status'), '[ ]')} {said.one_line(text)}"
        for entry in objects(update, "entries")[:_ENTRIES]
        if (text := string(entry, "content"))
    )


@dataclass(slots=True)
class Spent:
    """What a session used. `told` is where the agent says it: `answer` (the answer to the prompt),
    `quota` (in its `_meta`), `chunks` (with each answer of the model), or "" for nowhere."""

    told: str = "answer"
    input: int = 0
    output: int = 0
    cached: int = 0
    last: Object | None = None

    def chunk(self, update: Object) -> list[AgentEvent]:
        """Totals so far, where they come in pieces."""
        meta = mapping(update, "_meta")
        used = mapping(meta, "usage")
        if self.told != "chunks" or not used or meta == self.last:  # said once more
            return []
        self.last = meta
        totals = _totals(used)
        self.input += totals["input_tokens"] or 0
        self.output += totals["output_tokens"] or 0
        self.cached += totals["cached_tokens"] or 0
        return said.usage(
            input_tokens=self.input, output_tokens=self.output, cached_tokens=self.cached
        )

    def answer(self, result: Object) -> list[AgentEvent]:
        """Totals of the whole prompt."""
        if self.told == "quota":
            count = mapping(mapping(mapping(result, "_meta"), "quota"), "token_count")
            return said.usage(
                input_tokens=integer(count, "input_tokens"),
                output_tokens=integer(count, "output_tokens"),
            )
        return said.usage(**_totals(mapping(result, "usage"))) if self.told == "answer" else []

    def cost(self, update: Object) -> list[AgentEvent]:
        """Dollars so far, from a `usage_update`."""
        cost = mapping(update, "cost")
        amount = number(cost, "amount") if string(cost, "currency") == "USD" else None
        return said.usage(cost_usd=amount)


def _totals(usage: Object) -> dict[str, int | None]:
    """In Hydra's terms: what was read from a cache is part of the input.

    Agents differ in whether it is part of `inputTokens`: the sum tells.
    """
    held, out = integer(usage, "inputTokens"), integer(usage, "outputTokens")
    read, written = integer(usage, "cachedReadTokens"), integer(usage, "cachedWriteTokens") or 0
    total, aside = integer(usage, "totalTokens"), (read or 0) + written
    if held is not None and total is not None and total >= held + (out or 0) + aside:
        held += aside
    return {"input_tokens": held, "output_tokens": out, "cached_tokens": read}
